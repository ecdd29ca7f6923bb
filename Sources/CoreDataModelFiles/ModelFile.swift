import CoreDataModelSchema
import Foundation

/// Reads model files of every kind: `.xcdatamodeld`, `.xcdatamodel`, its `contents`, `.momd`, `.mom`, and
/// `.omo` through the `.mom` beside it.
package enum ModelFile {
  /// Reads the model at `path`; from a directory with several versions, the current one.
  ///
  /// - Throws: `ModelFileError`.
  package static func load(path: String) throws -> ModelSchema {
    var remarks: [ModelRemark] = []
    return try _load(path: path, reviews: false, &remarks).schema
  }

  /// Reads the model at `path`, and says what of its XML is skipped; of a directory with several versions,
  /// only the current one.
  ///
  /// - Parameter reviews: Whether to look for unknown elements and attributes as well, and not only for
  ///   unreadable values.
  /// - Returns: The model, the remarks, and the path of the file that was read.
  /// - Throws: `ModelFileError`.
  package static func review(
    path: String, reviews: Bool = true
  ) throws -> (schema: ModelSchema, remarks: [ModelRemark], path: String) {
    var remarks: [ModelRemark] = []
    let (schema, file) = try _load(path: path, reviews: reviews, &remarks)
    return (schema, remarks, file)
  }

  /// Reads the model at `path`; from a directory with several versions, the current one. A file that this
  /// process has read before and that has not changed since is not read again.
  ///
  /// - Throws: `ModelFileError`.
  package static func read(path: String) throws -> ReadModelFile {
    let file = try _file(of: path)
    func read() throws -> ReadModelFile {
      var remarks: [ModelRemark] = []
      let schema = try _parse(bytes(ofFile: file), path: file, false, &remarks)
      return ReadModelFile(schema: schema, remarks: remarks, path: file)
    }
    // What an optimized copy shows is the contents of another file.
    guard !file.hasSuffix(".omo"), let version = ModelFileCache.Version(settledFileAt: file) else {
      return try read()
    }
    return try ModelFileCache.shared.file(version, orRead: read)
  }

  private static func _load(
    path: String, reviews: Bool, _ remarks: inout [ModelRemark]
  ) throws -> (schema: ModelSchema, path: String) {
    let file = try _file(of: path)
    return (try _parse(bytes(ofFile: file), path: file, reviews, &remarks), file)
  }

  /// Returns the file with the model at `path`: from a directory with several versions, the current one's.
  private static func _file(of path: String) throws -> String {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw ModelFileError(path: path, reason: "there is no such file")
    }
    guard isDirectory.boolValue else { return path }
    let contents = path + "/contents"
    if FileManager.default.fileExists(atPath: contents) { return contents }
    if FileManager.default.fileExists(atPath: path + "/elements") {
      throw ModelFileError(
        path: path, reason: "in the binary format of Xcode 3; open and save it with Xcode 4 or later")
    }
    return try _file(of: ModelVersions(path: path).current.path)
  }

  private static func _parse(
    _ data: Data, path: String, _ reviews: Bool, _ remarks: inout [ModelRemark]
  ) throws -> ModelSchema {
    if data.starts(with: Data("bplist".utf8)) { return try CompiledModelReader.read(data, path: path) }
    if data.starts(with: Data("momv2$".utf8)) { return try _twin(ofOptimized: path) }
    if data.starts(with: Data("SQLite format 3".utf8)) {
      throw ModelFileError(
        path: path, reason: "a SQLite file, not a model; a store's model is shown by 'coredata model'")
    }
    return try ModelContentsReader.read(data, path: path, reviews: reviews, remarks: &remarks)
  }

  /// Reads the `.mom` beside an `.omo`, which is an optimized copy in a format private to the system that
  /// created it.
  private static func _twin(ofOptimized path: String) throws -> ModelSchema {
    let twin = (path as NSString).deletingPathExtension + ".mom"
    guard path.hasSuffix(".omo"), FileManager.default.fileExists(atPath: twin) else {
      throw ModelFileError(
        path: path,
        reason:
          "an optimised copy of a compiled model; load the .mom of the same name, or the .momd directory")
    }
    let data = try bytes(ofFile: twin)
    guard data.starts(with: Data("bplist".utf8)) else {
      throw ModelFileError(path: twin, reason: "no compiled model")
    }
    return try CompiledModelReader.read(data, path: twin)
  }

  /// Returns the file from which the model at `path` is read: in a directory with several versions, the
  /// current one's `contents`.
  ///
  /// - Throws: `ModelFileError`.
  static func contentsPath(of path: String) throws -> String {
    var path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    if path.hasSuffix(".xcdatamodeld") { path = try ModelVersions(path: path).current.path }
    return FileManager.default.fileExists(atPath: path + "/contents") ? path + "/contents" : path
  }

  /// Returns the XML of the model at `path`; nil for a model in another format.
  ///
  /// - Throws: `ModelFileError`.
  package static func text(path: String) throws -> String? {
    let path = try contentsPath(of: path)
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue
    else { return nil }
    let data = try bytes(ofFile: path)
    return ["bplist", "momv2$", "SQLite"].contains { data.starts(with: Data($0.utf8)) }
      ? nil : String(decoding: data, as: UTF8.self)
  }

  /// Returns the contents of a file, unless it is too large for a model.
  static func bytes(ofFile path: String) throws -> Data {
    do {
      var facts = stat()
      guard stat(path, &facts) != 0 || facts.st_size <= XMLTreeReader.sizeLimit else {
        throw ModelFileError(
          path: path, reason: "\(facts.st_size) bytes is more than any model has; not read")
      }
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch let error as ModelFileError {
      throw error
    } catch {
      let reason = error.localizedDescription
      throw ModelFileError(
        path: path, reason: "can't be read: \(reason.hasSuffix(".") ? String(reason.dropLast()) : reason)")
    }
  }
}
