import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

/// Finds mapping models in bundles and builds mappings from their files.
struct MappingSearch {
  private let _bundles: [Bundle]?

  /// - Parameter bundles: The bundles to search; nil for the main bundle and the resource bundles beside the
  ///   program.
  init(_ bundles: [Bundle]?) { _bundles = bundles }

  /// Returns the mappings of the first mapping model for these two versions.
  func mappings(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> [NSEntityMapping]?
  {
    for url in ModelSearch.mappingModels(in: _bundles) {
      do {
        let schema = try MappingModelFile.load(path: url.path)
        schema.remarks.forEach { Console.warnOnce(about: "\(url.path) \($0)", "\(url.path): \($0).") }
        if let versions = schema.versions {
          guard try _isVersion(versions.source, source, beside: url),
            try _isVersion(versions.destination, destination, beside: url)
          else { continue }
          return try MappingBuilding(schema, source, destination).mappings()
        }
        guard Self._fits(schema, source, destination) else { continue }
        return try MappingBuilding(schema).mappings()
      } catch {
        Console.warn("a mapping model is passed over, for it cannot be read: \(error)")
      }
    }
    return nil
  }

  /// Reads the mappings in a file.
  ///
  /// - Throws: `ModelFileError`.
  func mappings(at url: URL) throws -> [NSEntityMapping] {
    let schema = try MappingModelFile.load(path: url.path)
    schema.remarks.forEach { Console.warnOnce(about: "\(url.path) \($0)", "\(url.path): \($0).") }
    guard let versions = schema.versions else { return try MappingBuilding(schema).mappings() }
    let found = try [versions.source, versions.destination].map { version in
      if let model = _versions(beside: url).first(where: { Self._name(of: $0) == version.name }) {
        return try NSManagedObjectModel.load(contentsOf: model)
      }
      return try _renamed(version, beside: url)
    }
    return try MappingBuilding(schema, found[0], found[1]).mappings()
  }

  /// Whether the mapping's entities are those of the two versions.
  private static func _fits(
    _ schema: MappingModelSchema, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel
  ) -> Bool {
    return !schema.entities.isEmpty
      && schema.entities.allSatisfy { entity in
        func agrees(_ name: String?, _ hash: [UInt8]?, _ model: NSManagedObjectModel) -> Bool {
          guard let name else { return true }
          return hash.map { model.recognizes(Data($0), of: name) } ?? false
        }
        return agrees(entity.sourceName, entity.sourceHash, source)
          && agrees(entity.destinationName, entity.destinationHash, destination)
      }
  }

  /// Whether a version of a mapping in the editable form is this model.
  private func _isVersion(
    _ version: MappingModelSchema.Version, _ model: NSManagedObjectModel, beside url: URL
  ) throws -> Bool {
    let hashes = model.entityVersionHashesByName
    let named = _versions(beside: url).filter { Self._name(of: $0) == version.name }
    guard named.isEmpty else {
      return named.contains { NSManagedObjectModel(contentsOf: $0)?.entityVersionHashesByName == hashes }
    }
    // A mapping of another model says nothing about this one.
    guard version.properties.keys.allSatisfy({ hashes[$0] != nil }) else { return false }
    return try _renamed(version, beside: url).entityVersionHashesByName == hashes
  }

  /// Returns the model of a version that was renamed since: the only one that has its entities and
  /// properties.
  ///
  /// - Throws: `ModelFileError` with the candidates, if there are several, or none.
  private func _renamed(
    _ version: MappingModelSchema.Version, beside url: URL
  ) throws -> NSManagedObjectModel {
    let models = _versions(beside: url).compactMap { file in
      (try? NSManagedObjectModel.load(contentsOf: file)).map { (file: file, model: $0) }
    }
    switch version.search(models.map { (($0.file, $0.model), ModelSchema($0.model)) }) {
    case .one(let found, _): return found.1
    case .notOne(let candidates):
      throw ModelFileError(
        path: url.path,
        reason:
          "is for the model version '\(version.name)', which is neither in the program's bundles nor beside it"
          + (candidates.isEmpty
            ? ""
            : "; its entities and properties are in \(candidates.map(\.0.path).joined(separator: ", ")): rename the right one, "
              + "or choose it in Xcode's editor of the mapping model"))
    }
  }

  private static func _name(of version: URL) -> String {
    version.deletingPathExtension().lastPathComponent
  }

  /// Returns the files of all versions, in the bundles and in the mapping's directory.
  private func _versions(beside url: URL) -> [URL] {
    let models =
      ModelSearch.models(in: _bundles) + ModelSearch.models(inDirectory: url.deletingLastPathComponent())
    return models.flatMap(ModelSearch.versions)
  }
}

/// Builds mappings from a file's plain values.
private struct MappingBuilding {
  private let _schema: MappingModelSchema
  private let _source: NSManagedObjectModel?
  private let _hashes: (source: [String: Data], destination: [String: Data])

  /// - Parameters:
  ///   - schema: The contents of the file.
  ///   - source: The source version; required if the file has no hashes and omits expressions.
  ///   - destination: The destination version.
  init(
    _ schema: MappingModelSchema, _ source: NSManagedObjectModel? = nil,
    _ destination: NSManagedObjectModel? = nil
  ) {
    _schema = schema
    _source = source
    _hashes = (source?.entityVersionHashesByName ?? [:], destination?.entityVersionHashesByName ?? [:])
  }

  func mappings() throws -> [NSEntityMapping] { try _schema.entities.map(_mapping) }

  private func _mapping(_ schema: MappingModelSchema.Entity) throws -> NSEntityMapping {
    let mapping = NSEntityMapping()
    let source = schema.sourceName.flatMap { _source?.entitiesByName[$0] }
    mapping.name = schema.name
    mapping.sourceEntityName = schema.sourceName
    mapping.sourceEntityVersionHash =
      schema.sourceHash.map { Data($0) }
      ?? schema.sourceName.flatMap { _hashes.source[$0] }
    mapping.destinationEntityName = schema.destinationName
    mapping.destinationEntityVersionHash =
      schema.destinationHash.map { Data($0) }
      ?? schema.destinationName.flatMap { _hashes.destination[$0] }
    mapping.entityMigrationPolicyClassName = schema.policyClassName
    mapping.mappingType =
      NSEntityMappingType(rawValue: UInt(clamping: schema.type)) ?? .undefinedEntityMappingType
    if mapping.mappingType == .undefinedEntityMappingType { mapping.mappingType = Self._type(of: mapping) }
    mapping.sourceExpression =
      try schema.sourceExpression.map { try NSExpression(parsing: $0) }
      ?? schema.sourceName.map(MappingExpressions.objects)
    mapping.attributeMappings = try schema.attributes.map { property in
      try _property(property) {
        source?.attributesByName[$0] == nil ? nil : MappingExpressions.value(of: $0)
      }
    }
    mapping.relationshipMappings = try schema.relationships.map { property in
      try _property(property) {
        source?.relationshipsByName[$0] == nil ? nil : MappingExpressions.members(of: $0)
      }
    }
    if !schema.userInfo.isEmpty { mapping.userInfo = schema.userInfo }
    return mapping
  }

  private static func _type(of mapping: NSEntityMapping) -> NSEntityMappingType {
    if mapping.entityMigrationPolicyClassName != nil { return .customEntityMappingType }
    if mapping.sourceEntityName == nil { return .addEntityMappingType }
    if mapping.destinationEntityName == nil { return .removeEntityMappingType }
    return mapping.sourceEntityVersionHash == mapping.destinationEntityVersionHash
      ? .copyEntityMappingType : .transformEntityMappingType
  }

  private func _property(
    _ schema: MappingModelSchema.Property, sameName: (String) -> NSExpression?
  ) throws -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    mapping.name = schema.name
    switch schema.source {
    case .none: break
    case .expression(let text): mapping.valueExpression = try NSExpression(parsing: text)
    case .sameName: mapping.valueExpression = sameName(schema.name)
    }
    if !schema.userInfo.isEmpty { mapping.userInfo = schema.userInfo }
    return mapping
  }
}
