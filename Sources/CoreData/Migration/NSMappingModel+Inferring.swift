import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The hashes of the two versions between which a mapping was inferred.
struct MappingInference: Equatable {
  let source: [String: Data]
  let destination: [String: Data]
}

extension NSMappingModel {
  /// Infers the mapping between two model versions, as reported by `coredata model diff`.
  ///
  /// Mappings are named after the kind of change and the entity: `IEM_Copy_Book`, `IEM_Transform_Book`,
  /// `IEM_Add_Book`, `IEM_Remove_Book`.
  ///
  /// ```swift
  /// do {
  ///   let mapping = try NSMappingModel.inferredMappingModel(
  ///     forSourceModel: oldModel, destinationModel: newModel)
  ///   print(mapping.entityMappings.map(\.name!))
  /// } catch let error as CocoaError where error.code == .inferredMappingModel {
  ///   print(error.userInfo[NSLocalizedFailureReasonErrorKey] ?? error)
  /// }
  /// ```
  ///
  /// - Throws: A Cocoa error with code 134190, whose `NSLocalizedFailureReasonErrorKey` lists every obstacle;
  ///   `entity` and `property` in its user info name the first.
  public class func inferredMappingModel(
    forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
  ) throws -> NSMappingModel {
    let (old, new) = (ModelSchema(sourceModel), ModelSchema(destinationModel))
    try InferenceCheck.check(from: old, to: new)
    let builder = MappingInferrer(old, new)
    let model = NSMappingModel()
    model.entityMappings = builder.mappings()
    for mapping in model.entityMappings {
      mapping.isAsInferred = true
      for property in (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []) {
        property.isAsInferred = true
      }
    }
    model.inference = MappingInference(
      source: sourceModel.entityVersionHashesByName, destination: destinationModel.entityVersionHashesByName)
    return model
  }

  /// Whether this mapping was inferred between two versions and is unchanged since.
  final func isInferred(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> Bool {
    let versions = MappingInference(
      source: source.entityVersionHashesByName, destination: destination.entityVersionHashesByName)
    return inference == versions
      && entityMappings.allSatisfy { mapping in
        mapping.isAsInferred
          && ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])).allSatisfy(
            \.isAsInferred)
      }
  }
}

/// Checks whether the mapping between two model versions can be inferred.
package enum InferenceCheck {
  /// - Throws: A Cocoa error with code 134190 that names the obstacles.
  package static func check(from source: ModelSchema, to destination: ModelSchema) throws {
    let blocked = SchemaDiff(from: source, to: destination).changes.filter { $0.verdict == .blocked }
    guard !blocked.isEmpty else { return }
    let reasons = blocked.map { "\($0.subject): \($0.what), \($0.why)" }.joined(separator: "; ")
    var info: [String: Any] = [
      NSLocalizedFailureReasonErrorKey: reasons, "reason": reasons, "entity": blocked[0].entity,
    ]
    info["property"] = blocked[0].property
    throw CocoaError.coreData(
      NSInferredMappingModelError, "No mapping can be inferred: \(reasons).", info)
  }
}

/// Builds the mappings implied by a comparison of two versions.
private struct MappingInferrer {
  private let _matching: SchemaMatching
  private let _hashes: (old: [String: [UInt8]], new: [String: [UInt8]])

  init(_ old: ModelSchema, _ new: ModelSchema) {
    _matching = SchemaMatching(from: old, to: new)
    _hashes = (old.entityVersionHashes(), new.entityVersionHashes())
  }

  func mappings() -> [NSEntityMapping] {
    let removed = _matching.old.names.filter { _matching.target(of: $0) == nil }
    return _matching.new.names.map(_mapping(to:)) + removed.map(_removal)
  }

  private func _mapping(to name: String) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.destinationEntityName = name
    mapping.destinationEntityVersionHash = _hashes.new[name].map { Data($0) }
    let source = _matching.source(of: name)
    if let source {
      mapping.sourceEntityName = source
      mapping.sourceEntityVersionHash = _hashes.old[source].map { Data($0) }
      let isSame = _hashes.old[source] == _hashes.new[name]
      mapping.mappingType = isSame ? .copyEntityMappingType : .transformEntityMappingType
      mapping.name = "IEM_\(isSame ? "Copy" : "Transform")_\(name)"
      mapping.sourceExpression = MappingExpressions.objects(of: source)
    } else {
      mapping.mappingType = .addEntityMappingType
      mapping.name = "IEM_Add_\(name)"
    }
    let attributes = _matching.attributeSources(of: name).mapValues(\.property.name)
    let relationships = _matching.relationshipSources(of: name).mapValues(\.property.name)
    let names = (
      attributes: _matching.new.attributes(name).map(\.property.name).sorted(),
      relationships: _matching.new.relationships(name).map(\.property.name).sorted()
    )
    mapping.attributeMappings = names.attributes.map { name in
      _property(name, attributes[name].map(MappingExpressions.value))
    }
    mapping.relationshipMappings = names.relationships.map { name in
      _property(name, relationships[name].map(MappingExpressions.members))
    }
    mapping.userInfo = _userInfo(
      source: source, all: names.attributes + names.relationships,
      from: attributes.merging(relationships) { first, _ in first })
    return mapping
  }

  /// Returns the names of the mapped, added and removed properties, as sets of strings under Core Data's
  /// keys. A renamed property counts as mapped, under its new name.
  private func _userInfo(source: String?, all: [String], from sources: [String: String]) -> [AnyHashable: Any]
  {
    let old = source.map { source in
      _matching.old.attributes(source).map(\.property.name)
        + _matching.old.relationships(source).map(\.property.name)
    }
    return [
      "mappedProperties": Set(sources.keys),
      "addedProperties": Set(all).subtracting(sources.keys),
      "removedProperties": Set(old ?? []).subtracting(sources.values),
    ]
  }

  private func _property(_ name: String, _ value: NSExpression?) -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    mapping.name = name
    mapping.valueExpression = value
    return mapping
  }

  private func _removal(of name: String) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.sourceEntityName = name
    mapping.sourceEntityVersionHash = _hashes.old[name].map { Data($0) }
    mapping.mappingType = .removeEntityMappingType
    mapping.name = "IEM_Remove_\(name)"
    mapping.userInfo = _userInfo(source: name, all: [], from: [:])
    return mapping
  }
}

/// Standard mapping expressions, in Xcode's form.
enum MappingExpressions {
  /// All objects of an entity, excluding subentities.
  static func objects(of entity: String) -> NSExpression {
    NSExpression.face(of: MappingExpressionTree.objects(of: entity))
  }

  /// The value of an attribute of the source object.
  static func value(of attribute: String) -> NSExpression {
    NSExpression(tree: MappingExpressionTree.value(of: attribute))
  }

  /// The destination objects of the source object's related objects.
  static func members(of relationship: String) -> NSExpression {
    NSExpression(tree: MappingExpressionTree.members(of: relationship))
  }
}
