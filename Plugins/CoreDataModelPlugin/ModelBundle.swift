import Foundation

/// A data model among a target's files.
struct ModelBundle {
  let url: URL
  /// All files in it, which the build watches.
  let files: [URL]

  var name: String { url.deletingPathExtension().lastPathComponent }

  /// The models under a directory, each name once, in a stable order.
  static func all(in directory: URL) -> [ModelBundle] {
    var names: Set<String> = []
    return _bundles(in: directory).sorted { $0.path < $1.path }
      .filter { names.insert($0.deletingPathExtension().lastPathComponent).inserted }
      .map { ModelBundle(url: $0, files: _files(in: $0)) }
  }

  private static func _bundles(in directory: URL) -> [URL] {
    _entries(of: directory).flatMap { entry -> [URL] in
      switch entry.pathExtension {
      case "xcdatamodeld", "xcdatamodel": [entry]
      default: entry.hasDirectoryPath && !entry.lastPathComponent.hasPrefix(".") ? _bundles(in: entry) : []
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
