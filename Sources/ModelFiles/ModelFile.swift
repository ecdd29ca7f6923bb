import Foundation
import ModelSchema

/// Reads model files of every kind: `.xcdatamodeld`, `.xcdatamodel`, its `contents`, `.momd`, `.mom`.
package enum ModelFile {
  /// Reads the model at `path`: of a directory with several versions, the current one.
  ///
  /// - Throws: `ModelFileError`.
  package static func load(path: String) throws -> ModelSchema {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw ModelFileError(path: path, reason: "there is no such file")
    }
    guard isDirectory.boolValue else { return try _parse(bytes(ofFile: path), path: path) }
    let contents = path + "/contents"
    if FileManager.default.fileExists(atPath: contents) {
      return try _parse(bytes(ofFile: contents), path: contents)
    }
    if FileManager.default.fileExists(atPath: path + "/elements") {
      throw ModelFileError(
        path: path, reason: "in the binary format of Xcode 3; open and save it with Xcode 4 or later")
    }
    return try load(path: ModelVersions(path: path).current.path)
  }

  private static func _parse(_ data: Data, path: String) throws -> ModelSchema {
    data.starts(with: Data("bplist".utf8))
      ? try CompiledModelReader.read(data, path: path) : try ModelContentsReader.read(data, path: path)
  }

  /// The bytes of a file, unless there are too many for a model.
  static func bytes(ofFile path: String) throws -> Data {
    do {
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
      guard (size?.intValue ?? 0) <= XMLTreeReader.sizeLimit else {
        throw ModelFileError(path: path, reason: "\(size!) bytes is more than any model has; not read")
      }
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(path: path, reason: "can't be read: \(error.localizedDescription)")
    }
  }
}
