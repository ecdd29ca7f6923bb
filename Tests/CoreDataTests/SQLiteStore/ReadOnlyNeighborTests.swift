import CoreData
import Foundation
import TestSupport
import Testing

/// A read-only store and a writable one on the same file, in one process.
@Suite struct ReadOnlyNeighborTests {
  private static func _add(_ url: URL, readOnly: Bool) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: readOnly ? [NSReadOnlyPersistentStoreOption: true] : nil)
    return coordinator
  }

  private static func _names(_ context: NSManagedObjectContext) throws -> Set<String> {
    try context.performAndWait {
      context.reset()
      return Set(try context.all("Author").compactMap { $0.value(forKey: "name") as? String })
    }
  }

  @Test(arguments: KilledStore.allCases, [true, false])
  func `the writable one saves and the other sees it, whichever is added first`(
    _ state: KilledStore, readOnlyFirst: Bool
  ) throws {
    let place = try TemporaryPlace.makeDirectory()
    defer { try? FileManager.default.removeItem(at: place) }
    let url = place.appendingPathComponent("Store.sqlite")
    try state.make(at: url)
    let first = try Self._add(url, readOnly: readOnlyFirst)
    let firstNames = try Self._names(first.newContext())
    #expect(firstNames == Set(KilledStore.names))
    let second = try Self._add(url, readOnly: !readOnlyFirst)
    let (reader, writer) = readOnlyFirst ? (first, second) : (second, first)
    let reading = reader.newContext()
    _ = try Self._names(reading)
    let writing = writer.newContext()
    try writing.performAndWait {
      writing.insert("Author", ["name": "Woolf"])
      try writing.save()
    }
    #expect(try Self._names(reading) == Set(KilledStore.names + ["Woolf"]))
  }
}
