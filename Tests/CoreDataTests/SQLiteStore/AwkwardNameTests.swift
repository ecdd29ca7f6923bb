import CoreData
import Foundation
import Testing

/// Properties whose columns would have the names of the store's own: they get others, and keep their values.
@Suite struct AwkwardNameTests {
  private static func model() -> NSManagedObjectModel {
    let item = LibraryModel.entity("Item")
    item.properties = ["_pk", "_ent", "_opt", "pk", "ent", "opt", "PK"].map {
      LibraryModel.attribute($0, .stringAttributeType)
    }
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }

  @Test func `attributes named like the store's columns keep their values`() throws {
    let stores = try BlobStore()
    let url = stores.url("Awkward.sqlite")
    let names = Self.model().entities[0].attributesByName.keys.sorted()
    for pass in 0..<2 {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
      try coordinator.addPersistentStore(type: .sqlite, at: url)
      let context = coordinator.newContext()
      try context.performAndWait {
        if pass == 0 {
          let item = context.insert("Item")
          for name in names { item.setValue("value of \(name)", forKey: name) }
          try context.save()
        }
        context.reset()
        let item = try #require(try context.all("Item").first)
        for name in names { #expect(item.value(forKey: name) as? String == "value of \(name)", "\(name)") }
        let found = try context.all("Item", where: NSPredicate(format: "_pk == 'value of _pk'"))
        #expect(found.map(\.objectID) == [item.objectID])
        #expect(found.first?.objectID.uriRepresentation().lastPathComponent == "p1")
      }
      try BlobStore.close(coordinator)
    }
  }
}
