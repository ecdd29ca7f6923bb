import CoreData
import Foundation
import ModelMaking

/// The versions of the trials' model.
///
/// Each save inserts a `Batch` with its items, deletes an old one, and increments the counter in the writer's
/// `Ledger`: the contents of a store show which saves reached it, and that they are complete.
package enum TrialModel: String, Sendable, CaseIterable {
  case first
  /// The first one with another attribute and another entity, to which a mapping is inferred.
  case extended
  /// The first one with a renamed attribute, which requires a mapping model.
  case mapped

  /// Name of the items' text.
  package var textName: String { self == .mapped ? "body" : "text" }

  // Unchecked: created before the first fork, and models in use by stores are immutable.
  nonisolated(unsafe) private static let _models = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0, $0._make()) })

  /// The model of this version.
  package func model() -> NSManagedObjectModel { Self._models[self]! }

  private func _make() -> NSManagedObjectModel {
    let ledger = NSEntityDescription(
      "Ledger", [("writer", .integer64AttributeType), ("last", .integer64AttributeType)])
    let batch = NSEntityDescription(
      "Batch",
      [
        ("writer", .integer64AttributeType), ("number", .integer64AttributeType),
        ("count", .integer64AttributeType), ("isBig", .booleanAttributeType),
      ])
    let item = NSEntityDescription(
      "Item", [("position", .integer64AttributeType), (textName, .stringAttributeType)])
    item.properties.append(NSAttributeDescription.externalBytes("payload"))
    batch.relate(.many("items", .cascadeDeleteRule), to: item, .one("batch"))
    var entities = [ledger, batch, item]
    if self == .extended {
      item.properties.append(NSAttributeDescription("note", .stringAttributeType))
      entities.append(NSEntityDescription("Tag", [("title", .stringAttributeType)]))
    }
    return NSManagedObjectModel(entities)
  }

  // MARK: The mapping model

  /// From the first version to the mapped one.
  package static func mapping() -> NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = [
      _mapping("Ledger", ["writer": "writer", "last": "last"]),
      _mapping(
        "Batch", ["writer": "writer", "number": "number", "count": "count", "isBig": "isBig"],
        [("items", "Item")]),
      _mapping("Item", ["position": "position", "body": "text", "payload": "payload"], [("batch", "Batch")]),
    ]
    return model
  }

  private static func _mapping(
    _ entity: String, _ attributes: [String: String], _ relationships: [(name: String, entity: String)] = []
  ) -> NSEntityMapping {
    let mapping = NSEntityMapping()
    mapping.name = entity
    mapping.sourceEntityName = entity
    mapping.destinationEntityName = entity
    mapping.mappingType = .transformEntityMappingType
    mapping.attributeMappings = attributes.sorted { $0.key < $1.key }.map { name, source in
      _property(name, "$source.\(source)")
    }
    mapping.relationshipMappings = relationships.map { name, destination in
      _property(
        name,
        "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "
          + "'\(destination)', $source.\(name))"
      )
    }
    return mapping
  }

  private static func _property(_ name: String, _ expression: String) -> NSPropertyMapping {
    let property = NSPropertyMapping()
    property.name = name
    property.valueExpression = NSExpression(format: expression)
    return property
  }
}
