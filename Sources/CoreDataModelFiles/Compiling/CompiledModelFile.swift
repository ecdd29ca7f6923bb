import CoreDataModelSchema
import Foundation

/// A compiled model or mapping model file: its path within the output, and its contents.
package struct CompiledFile: Sendable {
  /// `Book.mom`, `Book.momd/VersionInfo.plist`.
  package let name: String
  package let data: Data
}

/// Compiles models like Xcode: an `.xcdatamodeld` to a `.momd` with one `.mom` per version, an `.xcdatamodel`
/// to a `.mom`.
package enum CompiledModelFile {
  /// Returns the compiled files of the model at `path`. Reads all formats that `ModelFile` reads.
  ///
  /// - Parameters:
  ///   - name: The name of the result without extension; nil for the model's.
  ///   - module: The module that has the classes which the model says are of its own; nil to leave them
  ///     without one.
  /// - Throws: `ModelFileError` if a version is unreadable, or has a predicate without a compiled form.
  package static func files(
    of path: String, name: String? = nil, module: String? = nil
  ) throws -> [CompiledFile] {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let name = name ?? (file as NSString).deletingPathExtension
    guard ["xcdatamodeld", "momd"].contains((file as NSString).pathExtension) else {
      let schema = try ModelFile.load(path: path)._compiled(for: module)
      return [CompiledFile(name: name + ".mom", data: try archive(schema, path: path))]
    }
    let versions = try ModelVersions(path: path)
    var info = VersionInfo(current: versions.current.name)
    var files: [CompiledFile] = []
    for version in versions.versions {
      let schema = try ModelFile.load(path: version.path)._compiled(for: module)
      files.append(
        CompiledFile(name: "\(name).momd/\(version.name).mom", data: try archive(schema, path: version.path)))
      info.add(schema, named: version.name)
    }
    files.append(CompiledFile(name: "\(name).momd/VersionInfo.plist", data: try info.data()))
    return files
  }

  /// Returns the `.mom` of a model; `path` is used only in messages.
  ///
  /// - Throws: `ModelFileError` for a predicate without a compiled form.
  package static func archive(_ schema: ModelSchema, path: String) throws -> Data {
    try _expectForms(of: schema, path: path)
    return CompiledModelWriter.write(schema, for: .file)
  }

  private static func _expectForms(of schema: ModelSchema, path: String) throws {
    let archive = PredicateArchive(reader: .thisLibrary)
    func expect(_ text: String?, _ owner: String, _ form: (String) -> KeyedObject?) throws {
      guard let text, !text.isEmpty, form(text) == nil else { return }
      throw ModelFileError(
        path: path, reason: "\(owner) '\(text)' has no compiled form; use the model's source")
    }
    for request in schema.fetchRequests {
      try expect(request.predicate, "the predicate of fetch request '\(request.name)'", archive.predicate)
    }
    for entity in schema.entities {
      for fetched in entity.fetchedProperties {
        let name = "\(entity.name).\(fetched.traits.name)"
        try expect(
          fetched.request.predicate, "the predicate of fetched property '\(name)'", archive.predicate)
      }
      for index in entity.indexes {
        let name = "index '\(entity.name).\(index.name)'"
        try expect(index.partialIndexPredicate, "the predicate of \(name)", archive.predicate)
        for element in index.elements {
          try expect(element.expression, "an expression of \(name)", archive.expression)
        }
      }
      for attribute in entity.attributes {
        let name = "attribute '\(entity.name).\(attribute.name)'"
        try expect(
          attribute.derivationExpression.map(DerivationText.canonical), "the derivation of \(name)",
          archive.expression)
        for validation in attribute.validations {
          try expect(validation.predicate, "a validation of \(name)", archive.predicate)
        }
      }
    }
  }
}

extension ModelSchema {
  /// The model of a module; unchanged for nil.
  fileprivate func _compiled(for module: String?) -> ModelSchema {
    guard let module else { return self }
    var schema = self
    for index in schema.entities.indices { schema.entities[index].module = module }
    return schema
  }
}

/// The `VersionInfo.plist` of a `.momd`: the current version, and the hashes of all versions.
struct VersionInfo {
  private let _current: String
  private var _hashes: [String: [String: Data]] = [:]
  private var _checksums: [String: String] = [:]

  init(current: String) { _current = current }

  mutating func add(_ schema: ModelSchema, named name: String) {
    let hashes = schema.entityVersionHashes()
    _hashes[name] = hashes.mapValues { Data($0) }
    _checksums[name] = Data(VersionHash.checksum(hashes)).base64EncodedString()
  }

  func data() throws -> Data {
    try PropertyListSerialization.data(
      fromPropertyList: [
        "NSManagedObjectModel_CurrentVersionName": _current,
        "NSManagedObjectModel_VersionHashes": _hashes,
        "NSManagedObjectModel_VersionChecksums": _checksums,
      ] as [String: Any], format: .binary, options: 0)
  }
}
