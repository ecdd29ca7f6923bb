import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Compiles mapping models like Xcode: an `.xcmappingmodel` to a `.cdm`, completed with the version hashes
/// and expressions that the editor omits.
package enum CompiledMappingFile {
  /// Returns the compiled file of the mapping model at `path`.
  ///
  /// - Parameters:
  ///   - models: `.xcdatamodeld` and other models that include the mapping's versions.
  ///   - name: The name of the result without extension; nil for the mapping model's.
  /// - Throws: `ModelFileError`, also if a version is not found.
  package static func file(
    of path: String, models: [String], name: String? = nil
  ) throws -> CompiledFile {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    let mapping = try MappingModelFile.load(path: path)
    let last = path.split(separator: "/").last.map(String.init) ?? path
    let fileName = (name ?? (last as NSString).deletingPathExtension) + ".cdm"
    guard let versions = mapping.versions else {
      // Already compiled: unchanged.
      return CompiledFile(name: fileName, data: try CompiledMappingWriter(path: path).archive(mapping))
    }
    let source = try _version(versions.source, mapping.entities.compactMap(\.sourceName), models, path)
    let destination = try _version(
      versions.destination, mapping.entities.compactMap(\.destinationName), models, path)
    let complete = CompiledMappingWriter(path: path, source: source, destination: destination)
    return CompiledFile(name: fileName, data: try complete.archive(mapping))
  }

  /// Returns the models in the mapping model's directory and its parent.
  package static func models(beside path: String) -> [String] {
    var directory = URL(fileURLWithPath: path).deletingLastPathComponent()
    var found: [String] = []
    for _ in 0..<2 {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
      found += names.filter { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".xcdatamodel") }.sorted()
        .map { "\(directory.path)/\($0)" }
      directory.deleteLastPathComponent()
    }
    return found
  }

  private static func _version(
    _ version: MappingModelSchema.Version, _ entities: [String], _ models: [String], _ path: String
  ) throws -> ModelSchema {
    let files = try models.flatMap { model in
      let file = model.split(separator: "/").last.map(String.init) ?? model
      return try ["xcdatamodeld", "momd"].contains((file as NSString).pathExtension)
        ? ModelVersions(path: model).versions.map { (name: $0.name, path: $0.path) }
        : [(name: (file as NSString).deletingPathExtension, path: model)]
    }
    for file in files where file.name == version.name {
      let schema = try ModelFile.load(path: file.path)
      // Models of different names often have versions of the same name.
      if Set(schema.entities.map(\.name)).isSuperset(of: entities) { return schema }
    }
    // The version may have been renamed since.
    let found = version.search(
      files.compactMap { file in (try? ModelFile.load(path: file.path)).map { (file.path, $0) } })
    switch found {
    case .one(_, let schema): return schema
    case .notOne(let candidates):
      let searched = models.isEmpty ? "no model was given" : "it is not in \(models.joined(separator: ", "))"
      throw ModelFileError(
        path: path,
        reason: "is for the model version '\(version.name)', and "
          + (candidates.isEmpty
            ? "\(searched); name its model"
            : "only versions of other names have its entities and properties: \(candidates.joined(separator: ", ")). "
              + "Choose the version in Xcode's editor of the mapping model, or rename it"))
    }
  }
}

/// Writes the keyed archive of a mapping model.
struct CompiledMappingWriter {
  private let _path: String
  private let _source: [String: EntitySchema]
  private let _destination: [String: EntitySchema]
  private let _hashes: (source: [String: [UInt8]], destination: [String: [UInt8]])
  private let _archive = PredicateArchive(reader: .thisLibrary)

  /// - Parameters:
  ///   - path: Path of the mapping model, for messages.
  ///   - source: The source version; required if the mapping omits hashes and expressions.
  ///   - destination: The destination version.
  init(path: String, source: ModelSchema? = nil, destination: ModelSchema? = nil) {
    _path = path
    func byName(_ model: ModelSchema?) -> [String: EntitySchema] {
      Dictionary((model?.entities ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    _source = byName(source)
    _destination = byName(destination)
    _hashes = (source?.entityVersionHashes() ?? [:], destination?.entityVersionHashes() ?? [:])
  }

  /// Returns the archive.
  ///
  /// - Throws: `ModelFileError` for an expression without a compiled form.
  func archive(_ mapping: MappingModelSchema) throws -> Data {
    let entities = try mapping.entities.map { ($0.name, KeyedValue.object(try _entity($0, in: mapping))) }
    return KeyedArchiveWriter.archive(
      KeyedObject(
        ["NSMappingModel", "NSObject"],
        [
          ("NSEntityMappings", _array(entities.map(\.1))),
          ("NSEntityMappingsByName", .object(.dictionary(entities))),
        ]))
  }

  private func _entity(
    _ entity: MappingModelSchema.Entity, in mapping: MappingModelSchema
  ) throws -> KeyedObject {
    let sourceHash = entity.sourceHash ?? entity.sourceName.flatMap { _hashes.source[$0] }
    let destinationHash = entity.destinationHash ?? entity.destinationName.flatMap { _hashes.destination[$0] }
    let type = entity.type != 0 ? entity.type : _type(of: entity)
    let expression =
      if let text = entity.sourceExpression { try _expression(text) } else {
        entity.sourceName.flatMap { _archive.form(MappingExpressionTree.objects(of: $0)) }
      }
    return KeyedObject(
      ["NSEntityMapping", "NSObject"],
      [
        ("NSMappingName", .text(entity.name)), ("NSMappingType", .plain(.integer(Int64(type)))),
        ("NSSourceEntityName", .text(entity.sourceName)),
        ("NSSourceEntityVersionHash", sourceHash.map { .boxed(.data($0)) } ?? .null),
        ("NSDestinationEntityName", .text(entity.destinationName)),
        ("NSDestinationEntityVersionHash", destinationHash.map { .boxed(.data($0)) } ?? .null),
        ("NSSourceExpression", _value(expression)),
        ("NSEntityMigrationPolicyClassName", .text(entity.policyClassName)),
        (
          "NSAttributeMappings",
          _array(
            try entity.attributes.map {
              try _property($0) { name in
                _attributes(of: entity.sourceName, in: _source)[name].map { _ in
                  MappingExpressionTree.value(of: name)
                }
              }
            })
        ),
        (
          "NSRelationshipMappings",
          _array(
            try entity.relationships.map {
              try _property($0) { _members(of: $0, from: entity.sourceName, mapping) }
            })
        ),
        ("NSUserInfo", _userInfo(entity.userInfo)),
      ])
  }

  /// The raw value of `NSEntityMappingType` if the file omits it. Xcode considers an entity with equal
  /// attributes copied, regardless of its relationships.
  private func _type(of entity: MappingModelSchema.Entity) -> Int {
    if entity.policyClassName != nil { return 1 }
    guard let source = entity.sourceName else { return 2 }
    guard let destination = entity.destinationName else { return 3 }
    return _attributes(of: source, in: _source) == _attributes(of: destination, in: _destination) ? 4 : 5
  }

  private func _property(
    _ property: MappingModelSchema.Property, _ sameName: (String) -> ExpressionTree?
  ) throws -> KeyedValue {
    let expression: KeyedObject? =
      switch property.source {
      case .none: nil
      case .expression(let text): try _expression(text)
      case .sameName: sameName(property.name).flatMap { _archive.form($0) }
      }
    return .object(
      KeyedObject(
        ["NSPropertyMapping", "NSObject"],
        [
          ("NSDestinationPropertyName", .text(property.name)), ("NSValueExpression", _value(expression)),
          ("NSPropertyTransforms", .null), ("NSUserInfo", _userInfo(property.userInfo)),
        ]))
  }

  /// Returns an entity and its ancestors, from the entity upwards.
  private func _lineage(of name: String?, in entities: [String: EntitySchema]) -> [EntitySchema] {
    var lineage: [EntitySchema] = []
    var seen: Set<String> = []
    var next = name
    while let current = next, seen.insert(current).inserted, let entity = entities[current] {
      lineage.append(entity)
      next = entity.parent
    }
    return lineage
  }

  private func _attributes(of name: String?, in entities: [String: EntitySchema]) -> [String: AttributeType] {
    let attributes = _lineage(of: name, in: entities).flatMap(\.attributes).map { ($0.name, $0.type) }
    return Dictionary(attributes, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the destination objects of a relationship of the same name; nil if the source has no such
  /// relationship. As in Xcode: through the single mapping that maps all members, otherwise through the
  /// mapping of each member.
  private func _members(
    of name: String, from entity: String?, _ mapping: MappingModelSchema
  ) -> ExpressionTree? {
    let relationships = _lineage(of: entity, in: _source).flatMap(\.relationships)
    guard let destination = relationships.first(where: { $0.name == name })?.destination else { return nil }
    let takers = mapping.entities.filter { $0.sourceName == destination }
    let isWhole = !_source.values.contains { $0.parent == destination }
    guard isWhole, takers.count == 1 else { return MappingExpressionTree.members(of: name) }
    return MappingExpressionTree.members(of: name, mappedBy: takers[0].name)
  }

  private func _expression(_ text: String) throws -> KeyedObject {
    guard let form = _archive.expression(text) else {
      throw ModelFileError(
        path: _path, reason: "the expression '\(text)' has no compiled form; use the source")
    }
    return form
  }

  private func _value(_ object: KeyedObject?) -> KeyedValue { object.map { .object($0) } ?? .null }

  private func _array(_ members: [KeyedValue]) -> KeyedValue { .object(.array(members)) }

  private func _userInfo(_ info: [String: String]) -> KeyedValue {
    info.isEmpty ? .null : .object(.texts(info))
  }
}
