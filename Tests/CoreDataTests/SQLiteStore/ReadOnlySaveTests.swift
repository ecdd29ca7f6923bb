import CoreData
import Foundation
import Testing

/// What is written into a store that was added read-only fails as in Core Data: with 513, whatever is written.
@Suite struct ReadOnlySaveTests {
  private let _stores: BlobStore
  private let _coordinator: NSPersistentStoreCoordinator
  private let _context: NSManagedObjectContext

  init() throws {
    _stores = try BlobStore()
    try _stores.make(notes: 2)
    _coordinator = try _stores.open(options: [NSReadOnlyPersistentStoreOption: true])
    _context = _coordinator.newContext()
  }

  private func _expectRefusal(_ write: () throws -> Void) throws {
    let error = _context.performAndWait { #expect(throws: CocoaError.self) { try write() } }
    #expect(error?.code == .fileWriteNoPermission)
    #expect(error?.errorCode == 513)
    #expect(error?.localizedDescription.contains("Notes.sqlite is read-only") == true)
    let stores = error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
    #expect(stores?.first === _coordinator.persistentStores[0])
    #expect(try BlobStore.count(_coordinator) == 2)
  }

  @Test func `an insertion is refused`() throws {
    try _expectRefusal {
      _context.insert("Note", ["text": "new"])
      try _context.save()
    }
  }

  @Test func `an insertion that was assigned to the store is refused`() throws {
    try _expectRefusal {
      _context.assign(_context.insert("Note", ["text": "new"]), to: _coordinator.persistentStores[0])
      try _context.save()
    }
  }

  @Test func `a change is refused`() throws {
    try _expectRefusal {
      try _context.all("Note")[0].setValue("changed", forKey: "text")
      try _context.save()
    }
  }

  @Test func `a deletion is refused`() throws {
    try _expectRefusal {
      _context.delete(try _context.all("Note")[0])
      try _context.save()
    }
  }

  @Test func `a batch deletion is refused`() throws {
    try _expectRefusal {
      _ = try _context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")))
    }
  }

  @Test func `a batch update is refused`() throws {
    try _expectRefusal {
      let request = NSBatchUpdateRequest(entityName: "Note")
      request.propertiesToUpdate = ["text": "changed"]
      _ = try _context.execute(request)
    }
  }

  @Test func `a batch insertion is refused`() throws {
    try _expectRefusal {
      _ = try _context.execute(NSBatchInsertRequest(entityName: "Note", objects: [["text": "new"]]))
    }
  }

  @Test func `a new object goes to the store that can be written, and is saved`() throws {
    try _coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: _stores.url("Second.sqlite"), options: nil)
    try _context.performAndWait {
      _context.insert("Note", ["text": "new"])
      try _context.save()
    }
    #expect(try BlobStore.count(_coordinator) == 3)
  }
}
