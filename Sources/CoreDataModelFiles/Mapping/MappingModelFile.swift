import Foundation

/// Reads mapping models: compiled (`.cdm`), and editable (`.xcmappingmodel`, or its `xcmapping.xml`).
package enum MappingModelFile {
  /// File extensions of mapping models, the compiled form first.
  package static let extensions = ["cdm", "xcmappingmodel"]

  /// Reads the mapping model at `path`.
  ///
  /// - Throws: `ModelFileError`.
  package static func load(path: String) throws -> MappingModelSchema {
    var path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw ModelFileError(path: path, reason: "there is no such file")
    }
    if isDirectory.boolValue { path += "/xcmapping.xml" }
    return try read(try ModelFile.bytes(ofFile: path), path: path)
  }

  /// Reads the mapping model in `data`; `path` is used only in messages.
  ///
  /// - Throws: `ModelFileError`.
  package static func read(_ data: Data, path: String) throws -> MappingModelSchema {
    data.starts(with: Data("bplist".utf8))
      ? try CompiledMappingReader.read(data, path: path) : try MappingDocumentReader.read(data, path: path)
  }
}
