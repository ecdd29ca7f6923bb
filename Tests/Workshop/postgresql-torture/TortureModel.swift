import CoreData
import ModelMaking

/// The data that savers write: a new entry in each save, and a counter that all of them increment.
enum TortureModel {
  static func make() -> NSManagedObjectModel {
    let counter = NSEntityDescription("Counter", [("number", .integer64AttributeType)])
    counter.attributesByName["number"]?.defaultValue = 0
    return NSManagedObjectModel([NSEntityDescription("Entry", [("text", .stringAttributeType)]), counter])
  }
}
