import CoreData
import SwiftData
import TestSupport
import Testing

/// One file, opened by SwiftData and by Core Data.
struct StoreFormatTests {
  private let _place: URL

  init() throws { _place = try TemporaryPlace.makeDirectory().appendingPathComponent("shelves.store") }

  /// The store's own model has entities equal to those of `Shelf`, `Volume` and `Topic`.
  private func _stack() throws -> NSManagedObjectContext {
    let model = try NSManagedObjectModel.load(fromStoreAt: _place)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: _place,
      options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `a Core Data stack reads and writes the container's store`() throws {
    let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: _place)))
    let shelf = Shelf(code: "A", room: "hall")
    let volume = Volume(title: "One", pages: 3)
    volume.tags = ["x", "y"]
    shelf.volumes = [volume]
    context.author = "swiftdata"
    context.insert(shelf)
    try context.save()
    let stack = try _stack()
    try stack.performAndWait {
      stack.transactionAuthor = "coredata"
      let found = try #require(
        try stack.fetch(NSFetchRequest<NSManagedObject>(entityName: "Volume")).first)
      #expect(found.value(forKey: "title") as? String == "One")
      #expect((found.value(forKey: "shelf") as? NSManagedObject)?.value(forKey: "room") as? String == "hall")
      #expect((found.value(forKey: "kind") as? [String: Any])?["kind"] as? String == "novel")
      #expect(
        (found.value(forKey: "tags") as? Data).map { String(decoding: $0, as: UTF8.self) } == "[\"x\",\"y\"]")
      found.setValue(7, forKey: "pages")
      try stack.save()
    }
    let again = ModelContext(context.container)
    #expect(try again.fetch(FetchDescriptor<Volume>()).map(\.pages) == [7])
    let authors = try again.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map(\.author)
    #expect(authors == ["swiftdata", "coredata"])
  }

  @Test func `the store holds a plain model with the schema's version`() throws {
    try withExtendedLifetime(ModelContainer(for: Shelf.self, configurations: .init("default", url: _place))) {
    }
    let model = try NSManagedObjectModel.load(fromStoreAt: _place)
    #expect(model.versionIdentifiers == ["1.0.0"] && model.configurations == ["default"])
    let volume = try #require(model.entitiesByName["Volume"])
    #expect(volume.managedObjectClassName == "NSManagedObject")
    #expect(
      volume.indexes.map(\.name).sorted() == [
        "SwiftDataIndexOnBinarytitle", "SwiftDataIndexOnBinarytitlepages",
      ])
    #expect(volume.attributesByName["tags"]?.valueTransformerName == "NSSecureUnarchiveFromData")
    #expect(volume.attributesByName["tags"]?.attributeValueClassName == "Array<String>")
    #expect(volume.attributesByName["marks"]?.attributeType == .binaryDataAttributeType)
    #expect(volume.attributesByName["byte"]?.attributeType == .integer16AttributeType)
  }
}
