import CoreData

/// The model of the import: one entity, four attributes, an index on the identifier.
enum StopModel {
  static let entityName = "Stop"

  /// A new model; each coordinator may have its own.
  static func make() -> NSManagedObjectModel {
    let identifier = NSAttributeDescription(mandatory: "identifier", .stringAttributeType)
    let entity = NSEntityDescription()
    entity.name = entityName
    entity.managedObjectClassName = "NSManagedObject"
    entity.properties = [
      identifier, NSAttributeDescription(mandatory: "name", .stringAttributeType),
      NSAttributeDescription(mandatory: "latitude", .doubleAttributeType),
      NSAttributeDescription(mandatory: "longitude", .doubleAttributeType),
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
}

extension NSAttributeDescription {
  /// Creates a mandatory attribute.
  package convenience init(mandatory name: String, _ type: NSAttributeType, default value: Any? = nil) {
    self.init()
    self.name = name
    attributeType = type
    isOptional = false
    defaultValue = value
  }
}
