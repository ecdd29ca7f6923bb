import CoreDataModelFiles
import Foundation

/// Finds model files in bundles.
enum ModelSearch {
  /// File extensions of whole models, the compiled form first.
  private static let _extensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

  /// Returns all models in `bundles`, at most one file per model name and bundle; nil for the main bundle and
  /// the resource bundles beside the program.
  static func models(in bundles: [Bundle]?) -> [URL] {
    _unique((bundles ?? _programBundles()).map(_searchRoot)).flatMap(models(inDirectory:))
  }

  /// Returns the models in a directory, at most one file per name.
  static func models(inDirectory root: URL) -> [URL] { _named(_extensions, in: root) }

  /// Returns the files with these extensions, at most one per name; earlier extensions take precedence.
  private static func _named(_ extensions: [String], in root: URL) -> [URL] {
    var names: Set<String> = []
    return extensions.flatMap { pathExtension in
      _files(in: root).filter { $0.pathExtension == pathExtension }
        .ordered { $0.lastPathComponent < $1.lastPathComponent }
        .filter { names.insert($0.deletingPathExtension().lastPathComponent).inserted }
    }
  }

  /// Returns all mapping models in `bundles`, at most one file per name and bundle; nil as for models.
  static func mappingModels(in bundles: [Bundle]?) -> [URL] {
    _unique((bundles ?? _programBundles()).map(_searchRoot))
      .flatMap { _named(MappingModelFile.extensions, in: $0) }
  }

  /// Returns the model of this name in `bundle`, or in the program's bundles for nil.
  ///
  /// - Parameter module: Module whose bundle is searched before the program's others.
  static func model(named name: String, in bundle: Bundle? = nil, of module: String? = nil) -> URL? {
    if let bundle { return _model(named: name, in: _searchRoot(bundle)) }
    // A container is created at launch, so bundles are opened one by one, only until the model is found.
    if let found = _model(named: name, in: _searchRoot(.main)) { return found }
    for url in _besideBundles(of: module) {
      if let bundle = Bundle(url: url), let found = _model(named: name, in: _searchRoot(bundle)) {
        return found
      }
    }
    return nil
  }

  private static func _model(named name: String, in root: URL) -> URL? {
    guard !name.isEmpty, !name.contains("/") else { return nil }
    // The file system compares the bytes of names, `==` their normal forms: the two agree only for ASCII.
    guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
      return models(inDirectory: root).first { $0.deletingPathExtension().lastPathComponent == name }
    }
    let directory = root.path
    for pathExtension in _extensions {
      let path = "\(directory)/\(name).\(pathExtension)"
      if access(path, F_OK) == 0 { return URL(fileURLWithPath: path) }
    }
    return nil
  }

  /// Describes that no model has this name, and lists the contents of the searched bundles.
  static func absence(of name: String, in bundles: [Bundle]?) -> String {
    let places = _unique((bundles ?? _programBundles()).map(_searchRoot)).map { root in
      let models = _extensions.flatMap { wanted in _files(in: root).filter { $0.pathExtension == wanted } }
        .map(\.lastPathComponent).sorted()
      return "\(root.lastPathComponent) has \(models.isEmpty ? "none" : models.joined(separator: ", "))"
    }
    return "no model '\(name)' (.momd, .mom, .xcdatamodeld or .xcdatamodel) is in the program's bundles: "
      + places.joined(separator: "; ")
      + ". Add the model to the target, with CoreDataModelPlugin or as a resource."
  }

  /// Returns the files of all versions of the model at `url`: the file itself if there is only one.
  static func versions(of url: URL) -> [URL] {
    let wanted: String
    switch url.pathExtension {
    case "momd": wanted = "mom"
    case "xcdatamodeld": wanted = "xcdatamodel"
    default: return [url]
    }
    return _files(in: url).filter { $0.pathExtension == wanted }
      .ordered { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// Returns the main bundle and the resource bundles beside the program, in search order.
  private static func _programBundles() -> [Bundle] {
    [.program].compactMap { $0 } + _besideBundles(of: nil).compactMap { Bundle(url: $0) }
  }

  /// Returns the resource bundles beside the program in search order.
  private static func _besideBundles(of module: String?) -> [URL] {
    guard let directory = Bundle.program?.bundlePath else { return [] }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    let beside = names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }
      .map { URL(fileURLWithPath: "\(directory)/\($0)", isDirectory: true) }
    let order = ResourceBundleOrder(
      preferred: module, program: ProgramModule.name, linked: ClassDirectory.moduleNames)
    return order.sorted(beside)
  }

  private static func _searchRoot(_ bundle: Bundle) -> URL { bundle.resourceURL ?? bundle.bundleURL }

  private static func _unique(_ urls: [URL]) -> [URL] {
    var seen: Set<String> = []
    return urls.filter { seen.insert($0.standardizedFileURL.path).inserted }
  }

  private static func _files(in directory: URL) -> [URL] {
    (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)) ?? []
  }
}
