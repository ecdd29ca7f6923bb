import CoreData
import Foundation

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
    let (ledger, batch, item) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (ledger.name, batch.name, item.name) = ("Ledger", "Batch", "Item")
    let items = Self._relationship("items", to: item, maxCount: 0, deleteRule: .cascadeDeleteRule)
    let owner = Self._relationship("batch", to: batch, maxCount: 1, deleteRule: .nullifyDeleteRule)
    (items.inverseRelationship, owner.inverseRelationship) = (owner, items)
    let payload = Self._attribute("payload", .binaryDataAttributeType)
    payload.allowsExternalBinaryDataStorage = true
    ledger.properties = [
      Self._attribute("writer", .integer64AttributeType), Self._attribute("last", .integer64AttributeType),
    ]
    batch.properties = [
      Self._attribute("writer", .integer64AttributeType), Self._attribute("number", .integer64AttributeType),
      Self._attribute("count", .integer64AttributeType), Self._attribute("isBig", .booleanAttributeType),
      items,
    ]
    item.properties = [
      Self._attribute("position", .integer64AttributeType), Self._attribute(textName, .stringAttributeType),
      payload, owner,
    ]
    let model = NSManagedObjectModel()
    model.entities = [ledger, batch, item]
    if self == .extended {
      let tag = NSEntityDescription()
      tag.name = "Tag"
      tag.properties = [Self._attribute("title", .stringAttributeType)]
      item.properties.append(Self._attribute("note", .stringAttributeType))
      model.entities.append(tag)
    }
    return model
  }

  private static func _attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  private static func _relationship(
    _ name: String, to destination: NSEntityDescription, maxCount: Int, deleteRule: NSDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = maxCount
    relationship.isOptional = true
    relationship.deleteRule = deleteRule
    return relationship
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
