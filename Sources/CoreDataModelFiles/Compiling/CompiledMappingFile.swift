import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Compiles mapping models as Xcode's build does: an `.xcmappingmodel` to a `.cdm`, complete with the version
/// hashes and the expressions that the editor leaves open.
package enum CompiledMappingFile {
  /// The file of the mapping model at `path`.
  ///
  /// - Parameters:
  ///   - models: `.xcdatamodeld` and other models among whose versions those are that the mapping is for.
  ///   - name: the name of the result without extension; that of the mapping model if nil.
  /// - Throws: `ModelFileError`, also if a version is not found.
  package static func file(
    of path: String, models: [String], name: String? = nil
  ) throws -> CompiledFile {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    let mapping = try MappingModelFile.load(path: path)
    let last = path.split(separator: "/").last.map(String.init) ?? path
    let fileName = (name ?? (last as NSString).deletingPathExtension) + ".cdm"
    guard let versions = mapping.versions else {
      // Compiled already: as it is.
      return CompiledFile(name: fileName, data: try CompiledMappingWriter(path: path).archive(mapping))
    }
    let (old, new) = (mapping.entities.compactMap(\.sourceName), mapping.entities.compactMap(\.destinationName))
    let source = try _version(versions.source, having: old, models, path)
    let destination = try _version(versions.destination, having: new, models, path)
    let complete = CompiledMappingWriter(path: path, source: source, destination: destination)
    return CompiledFile(name: fileName, data: try complete.archive(mapping))
  }

  /// The models in the directory of a mapping model, and in the one above.
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
    _ name: String, having entities: [String], _ models: [String], _ path: String
  ) throws -> ModelSchema {
    for model in models {
      let file = model.split(separator: "/").last.map(String.init) ?? model
      let versions = try ["xcdatamodeld", "momd"].contains((file as NSString).pathExtension)
        ? ModelVersions(path: model).versions.filter { $0.name == name }.map(\.path)
        : (file as NSString).deletingPathExtension == name ? [model] : []
      for version in versions {
        let schema = try ModelFile.load(path: version)
        // Models of different names often have versions of the same name.
        if Set(schema.entities.map(\.name)).isSuperset(of: entities) { return schema }
      }
    }
    let searched = models.isEmpty ? "no model was given" : "it is not in \(models.joined(separator: ", "))"
    throw ModelFileError(
      path: path, reason: "is for the model version '\(name)', and \(searched); name its model")
  }
}

/// Writes the keyed archive of a mapping model.
struct CompiledMappingWriter {
  private let _path: String
  private let _source: [String: EntitySchema]
  private let _hashes: (source: [String: [UInt8]], destination: [String: [UInt8]])
  private let _archive = PredicateArchive(reader: .thisLibrary)

  /// - Parameters:
  ///   - path: of the mapping model, for messages.
  ///   - source: the version mapped from; needed where the mapping leaves hashes and expressions open.
  ///   - destination: the version mapped to.
  init(path: String, source: ModelSchema? = nil, destination: ModelSchema? = nil) {
    _path = path
    _source = Dictionary(
      (source?.entities ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    _hashes = (source?.entityVersionHashes() ?? [:], destination?.entityVersionHashes() ?? [:])
  }

  /// The archive.
  ///
  /// - Throws: `ModelFileError` for an expression that has no compiled form.
  func archive(_ mapping: MappingModelSchema) throws -> Data {
    let entities = try mapping.entities.map { ($0.name, KeyedValue.object(try _entity($0))) }
    let byName = KeyedObject(
      ["NSMutableDictionary", "NSDictionary", "NSObject"],
      [
        ("NS.keys", .members(entities.map { .text($0.0) })), ("NS.objects", .members(entities.map(\.1))),
      ])
    return KeyedArchiveWriter.archive(
      KeyedObject(
        ["NSMappingModel", "NSObject"],
        [("NSEntityMappings", _array(entities.map(\.1))), ("NSEntityMappingsByName", .object(byName))]))
  }

  private func _entity(_ entity: MappingModelSchema.Entity) throws -> KeyedObject {
    let sourceHash = entity.sourceHash ?? entity.sourceName.flatMap { _hashes.source[$0] }
    let destinationHash = entity.destinationHash ?? entity.destinationName.flatMap { _hashes.destination[$0] }
    let type = entity.type != 0 ? entity.type : _type(of: entity, isSame: sourceHash == destinationHash)
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
              try _property($0, _has($0.name, entity, \.attributeNames), MappingExpressionTree.value)
            })
        ),
        (
          "NSRelationshipMappings",
          _array(
            try entity.relationships.map {
              try _property($0, _has($0.name, entity, \.relationshipNames), MappingExpressionTree.members)
            })
        ),
        ("NSUserInfo", _userInfo(entity.userInfo)),
      ])
  }

  /// The raw value of `NSEntityMappingType` where the file leaves it open.
  private func _type(of entity: MappingModelSchema.Entity, isSame: Bool) -> Int {
    if entity.policyClassName != nil { return 1 }
    if entity.sourceName == nil { return 2 }
    if entity.destinationName == nil { return 3 }
    return isSame ? 4 : 5
  }

  private func _property(
    _ property: MappingModelSchema.Property, _ sourceHasIt: Bool, _ sameName: (String) -> ExpressionTree
  ) throws -> KeyedValue {
    let expression: KeyedObject? =
      switch property.source {
      case .none: nil
      case .expression(let text): try _expression(text)
      case .sameName: sourceHasIt ? _archive.form(sameName(property.name)) : nil
      }
    return .object(
      KeyedObject(
        ["NSPropertyMapping", "NSObject"],
        [
          ("NSDestinationPropertyName", .text(property.name)), ("NSValueExpression", _value(expression)),
          ("NSPropertyTransforms", .null), ("NSUserInfo", _userInfo(property.userInfo)),
        ]))
  }

  /// Whether the entity that is mapped, or an ancestor of it, has the property.
  private func _has(
    _ name: String, _ entity: MappingModelSchema.Entity, _ names: (EntitySchema) -> [String]
  ) -> Bool {
    var seen: Set<String> = []
    var next = entity.sourceName
    while let current = next, seen.insert(current).inserted, let found = _source[current] {
      if names(found).contains(name) { return true }
      next = found.parent
    }
    return false
  }

  private func _expression(_ text: String) throws -> KeyedObject {
    guard let form = _archive.expression(text) else {
      throw ModelFileError(path: _path, reason: "the expression '\(text)' has no compiled form; use the source")
    }
    return form
  }

  private func _value(_ object: KeyedObject?) -> KeyedValue { object.map { .object($0) } ?? .null }

  private func _array(_ members: [KeyedValue]) -> KeyedValue {
    .object(KeyedObject(["NSArray", "NSObject"], [("NS.objects", .members(members))]))
  }

  private func _userInfo(_ info: [String: String]) -> KeyedValue {
    guard !info.isEmpty else { return .null }
    let entries = info.sorted { $0.key < $1.key }
    return .object(
      KeyedObject(
        ["NSDictionary", "NSObject"],
        [
          ("NS.keys", .members(entries.map { .text($0.key) })),
          ("NS.objects", .members(entries.map { .text($0.value) })),
        ]))
  }
}

extension EntitySchema {
  fileprivate var attributeNames: [String] { attributes.map(\.name) }
  fileprivate var relationshipNames: [String] { relationships.map(\.name) }
}
