import CoreData

/// The data that savers write: a new entry in each save, and a counter that all of them increment.
enum TortureModel {
  static func make() -> NSManagedObjectModel {
    let entry = NSEntityDescription(), counter = NSEntityDescription()
    entry.name = "Entry"
    counter.name = "Counter"
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .stringAttributeType
    let number = NSAttributeDescription()
    number.name = "number"
    number.attributeType = .integer64AttributeType
    number.defaultValue = 0
    entry.properties = [text]
    counter.properties = [number]
    let model = NSManagedObjectModel()
    model.entities = [entry, counter]
    return model
  }
}
