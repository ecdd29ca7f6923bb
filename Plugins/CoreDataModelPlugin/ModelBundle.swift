import Foundation

/// A data model or a mapping model among a target's files.
struct ModelBundle {
  let url: URL
  /// All files in it, which the build watches.
  let files: [URL]

  var name: String { url.deletingPathExtension().lastPathComponent }

  /// Name of the compiled model, with its extension.
  var compiledName: String { name + (url.pathExtension == "xcdatamodeld" ? ".momd" : ".mom") }

  /// The models under a directory, each name once, in a stable order.
  static func all(in directory: URL) -> [ModelBundle] {
    _all(["xcdatamodeld", "xcdatamodel"], in: directory)
  }

  /// The mapping models under a directory, each name once, in a stable order.
  static func mappings(in directory: URL) -> [ModelBundle] { _all(["xcmappingmodel"], in: directory) }

  private static func _all(_ extensions: Set<String>, in directory: URL) -> [ModelBundle] {
    var names: Set<String> = []
    return _bundles(extensions, in: directory).sorted { $0.path < $1.path }
      .filter { names.insert($0.deletingPathExtension().lastPathComponent).inserted }
      .map { ModelBundle(url: $0, files: _files(in: $0)) }
  }

  private static func _bundles(_ extensions: Set<String>, in directory: URL) -> [URL] {
    _entries(of: directory).flatMap { entry -> [URL] in
      switch entry.pathExtension {
      case let found where extensions.contains(found): [entry]
      // The versions in it are not separate models.
      case "xcdatamodeld": []
      default:
        entry.hasDirectoryPath && !entry.lastPathComponent.hasPrefix(".")
          ? _bundles(extensions, in: entry) : []
      }
    }
  }

  private static func _files(in directory: URL) -> [URL] {
    _entries(of: directory).flatMap { $0.hasDirectoryPath ? _files(in: $0) : [$0] }.sorted {
      $0.path < $1.path
    }
  }

  private static func _entries(of directory: URL) -> [URL] {
    (try? FileManager.default.contentsOfDirectory(
      at: directory, includingPropertiesForKeys: [.isDirectoryKey])) ?? []
  }
}
