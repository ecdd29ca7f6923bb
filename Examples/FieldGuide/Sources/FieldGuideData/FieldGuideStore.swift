public import CoreData
import Foundation

/// The guide's container, with its store in memory.
public enum FieldGuideStore {
  public static func open() throws -> NSPersistentContainer {
    guard let url = Bundle.module.url(forResource: "FieldGuide", withExtension: "momd"),
      let model = NSManagedObjectModel(contentsOf: url)
    else { throw CocoaError(.fileReadNoSuchFile) }
    let container = NSPersistentContainer(name: "FieldGuide", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }
}
