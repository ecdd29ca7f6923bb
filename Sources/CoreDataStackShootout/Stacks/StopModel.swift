import CoreData

/// The model of the import: one entity, four attributes, an index on the identifier.
enum StopModel {
  static let entityName = "Stop"

  /// A new model; each coordinator may have its own.
  static func make() -> NSManagedObjectModel {
    let identifier = _attribute("identifier", .stringAttributeType)
    let entity = NSEntityDescription()
    entity.name = entityName
    entity.managedObjectClassName = "NSManagedObject"
    entity.properties = [
      identifier, _attribute("name", .stringAttributeType), _attribute("latitude", .doubleAttributeType),
      _attribute("longitude", .doubleAttributeType),
    ]
    entity.indexes = [
      NSFetchIndexDescription(
        name: "byIdentifier",
        elements: [NSFetchIndexElementDescription(property: identifier, collationType: .binary)])
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private static func _attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = false
    return attribute
  }
}
