import Foundation

/// Reads compiled mapping models: keyed archives of the mapping objects, with expressions in them.
struct CompiledMappingReader {
  private let _archive: KeyedArchive
  private let _path: String

  /// Reads the archive in `data`; `path` is used only in messages.
  ///
  /// - Throws: `ModelFileError`.
  static func read(_ data: Data, path: String) throws -> MappingModelSchema {
    try CompiledMappingReader(_archive: _read(data, path), _path: path)._model()
  }

  /// Returns the text of the single expression archived in `data`.
  ///
  /// - Throws: `ModelFileError`.
  static func expression(_ data: Data, path: String) throws -> String {
    let archive = try _read(data, path)
    guard let root = archive.root else {
      throw ModelFileError(path: path, reason: "an expression is missing")
    }
    return try ArchivedPredicateText(archive, path: path).expression(.uid(root.index))
  }

  private static func _read(_ data: Data, _ path: String) throws -> KeyedArchive {
    do {
      return try KeyedArchive(data)
    } catch let error as BinaryPlistError {
      throw ModelFileError(path: path, reason: "no compiled mapping model: \(error.reason)")
    }
  }

  private func _model() throws -> MappingModelSchema {
    guard let root = _archive.root, root.className == "NSMappingModel" else {
      throw _error("its root object is '\(_archive.root?.className ?? "nothing")', not a mapping model")
    }
    let mappings = try (_archive.array(root.fields["NSEntityMappings"]) ?? []).map { value in
      guard let object = _archive.object(value) else { throw _error("an entity mapping is missing") }
      return try _entity(object)
    }
    return MappingModelSchema(entities: mappings)
  }

  private func _entity(_ object: KeyedArchive.Object) throws -> MappingModelSchema.Entity {
    let fields = object.fields
    guard let name = _archive.string(fields["NSMappingName"]) else {
      throw _error("an entity mapping has no name")
    }
    var entity = MappingModelSchema.Entity(name: name)
    entity.type = _archive.integer(fields["NSMappingType"]) ?? 0
    entity.sourceName = _archive.string(fields["NSSourceEntityName"])
    entity.sourceHash = _bytes(fields["NSSourceEntityVersionHash"])
    entity.destinationName = _archive.string(fields["NSDestinationEntityName"])
    entity.destinationHash = _bytes(fields["NSDestinationEntityVersionHash"])
    entity.policyClassName = _archive.string(fields["NSEntityMigrationPolicyClassName"])
    entity.sourceExpression = try _expression(fields["NSSourceExpression"])
    entity.attributes = try _properties(fields["NSAttributeMappings"])
    entity.relationships = try _properties(fields["NSRelationshipMappings"])
    entity.userInfo = _userInfo(fields["NSUserInfo"])
    return entity
  }

  private func _properties(_ value: PlistValue?) throws -> [MappingModelSchema.Property] {
    try (_archive.array(value) ?? []).map { value in
      guard let object = _archive.object(value),
        let name = _archive.string(object.fields["NSDestinationPropertyName"])
      else { throw _error("a property mapping has no name") }
      var property = MappingModelSchema.Property(
        name: name,
        source: try _expression(object.fields["NSValueExpression"]).map { .expression($0) } ?? .none)
      property.userInfo = _userInfo(object.fields["NSUserInfo"])
      return property
    }
  }

  private func _expression(_ value: PlistValue?) throws -> String? {
    guard _archive.object(value) != nil else { return nil }
    return try ArchivedPredicateText(_archive, path: _path).expression(value)
  }

  private func _bytes(_ value: PlistValue?) -> [UInt8]? {
    if case .data(let bytes)? = ArchivedLiteral(_archive).literal(value) { bytes } else { nil }
  }

  private func _userInfo(_ value: PlistValue?) -> [String: String] {
    var info: [String: String] = [:]
    for (key, value) in _archive.dictionary(value) ?? [] { info[key] = _archive.string(value) }
    return info
  }

  private func _error(_ reason: String) -> ModelFileError { ModelFileError(path: _path, reason: reason) }
}
