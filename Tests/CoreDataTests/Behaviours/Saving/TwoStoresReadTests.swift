import CoreData
import Foundation
import TestSupport
import Testing

/// One entity in two stores of a coordinator: what is asked of both comes from both, in one order.
@Suite(.serialized) final class TwoStoresReadTests {
  private let _directory: URL
  private let _coordinator: NSPersistentStoreCoordinator
  private let _context: NSManagedObjectContext
  private var _first: NSPersistentStore { _coordinator.persistentStores[0] }
  private var _second: NSPersistentStore { _coordinator.persistentStores[1] }

  init() throws {
    _directory = try TemporaryPlace.makeDirectory()
    let note = LibraryModel.entity("Note")
    note.properties = [
      LibraryModel.attribute("text", .stringAttributeType),
      LibraryModel.attribute("rank", .integer64AttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [note]
    _coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    for name in ["First", "Second"] {
      let place = TestDatabase.place(_directory.appendingPathComponent("\(name).sqlite"))
      try _coordinator.addPersistentStore(
        ofType: TestDatabase.type, configurationName: nil, at: place, options: TestDatabase.options(nil))
    }
    _context = _coordinator.newContext()
    try _context.performAndWait {
      for rank in 0..<6 {
        let note = _context.insert("Note", ["text": "note \(rank)", "rank": rank])
        _context.assign(note, to: rank % 2 == 0 ? _first : _second)
      }
      try _context.save()
      _context.reset()
    }
  }

  deinit { try? FileManager.default.removeItem(at: _directory) }

  private func _request<Result>(
    _ type: Result.Type, from store: NSPersistentStore? = nil
  ) -> NSFetchRequest<Result> {
    let request = NSFetchRequest<Result>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
    if let store { request.affectedStores = [store] }
    return request
  }

  private func _ranks(_ store: NSPersistentStore? = nil) throws -> [Int] {
    try _context.performAndWait {
      try _context.fetch(_request(NSManagedObject.self, from: store)).map { $0.value(forKey: "rank") as! Int }
    }
  }

  @Test func `objects come from both stores in one order`() throws {
    #expect(try _ranks() == [0, 1, 2, 3, 4, 5])
    #expect(try _ranks(_first) == [0, 2, 4])
    #expect(try _ranks(_second) == [1, 3, 5])
  }

  @Test(arguments: [true, false])
  func `object IDs come from both stores`(isSorted: Bool) throws {
    try _context.performAndWait {
      let request = _request(NSManagedObjectID.self)
      request.resultType = .managedObjectIDResultType
      if !isSorted { request.sortDescriptors = nil }
      let ids = try _context.fetch(request)
      let stores = ids.compactMap { $0.persistentStore?.identifier }
      #expect(ids.count == 6)
      #expect(stores.filter { $0 == _first.identifier }.count == 3)
      #expect(stores.filter { $0 == _second.identifier }.count == 3)
      let ranks = ids.map { _context.object(with: $0).value(forKey: "rank") as! Int }
      #expect(isSorted ? ranks == [0, 1, 2, 3, 4, 5] : Set(ranks) == Set(0..<6))
    }
  }

  @Test func `dictionaries come from both stores`() throws {
    try _context.performAndWait {
      let request = _request(NSDictionary.self)
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["rank"]
      let ranks = try _context.fetch(request).compactMap { $0["rank"] as? Int }
      #expect(ranks == [0, 1, 2, 3, 4, 5])
    }
  }

  @Test func `a count counts both stores, or the affected one`() throws {
    try _context.performAndWait {
      let both = try _context.count(for: _request(NSManagedObject.self))
      let second = try _context.count(for: _request(NSManagedObject.self, from: _second))
      #expect(both == 6)
      #expect(second == 3)
    }
  }

  @Test func `a page is cut from the results of both stores`() throws {
    try _context.performAndWait {
      let request = _request(NSManagedObject.self)
      request.fetchOffset = 1
      request.fetchLimit = 3
      let ranks = try _context.fetch(request).map { $0.value(forKey: "rank") as! Int }
      #expect(ranks == [1, 2, 3])
    }
  }

  @Test func `faults are filled from the store of each object`() throws {
    try _context.performAndWait {
      let ids = try _context.fetch(_request(NSManagedObject.self)).map(\.objectID)
      _context.reset()
      let notes = ids.map { _context.object(with: $0) }
      #expect(notes.map { $0.value(forKey: "text") as? String } == (0..<6).map { "note \($0)" })
    }
  }

  @Test func `changes are saved to the store of each object`() throws {
    try _context.performAndWait {
      for note in try _context.fetch(_request(NSManagedObject.self)) {
        note.setValue((note.value(forKey: "rank") as! Int) + 10, forKey: "rank")
      }
      try _context.save()
      _context.reset()
    }
    #expect(try _ranks(_first) == [10, 12, 14])
    #expect(try _ranks(_second) == [11, 13, 15])
  }

  @Test func `a saved object may be assigned to its own store`() throws {
    try _context.performAndWait {
      let note = try _context.fetch(_request(NSManagedObject.self, from: _second))[0]
      _context.assign(note, to: _second)
      note.setValue("kept", forKey: "text")
      try _context.save()
      #expect(note.objectID.persistentStore === _second)
    }
  }

  @Test(.ofFiles)
  func `a saved object is not assigned to another store`() async {
    await #expect(processExitsWith: .failure) {
      let tests = try TwoStoresReadTests()
      try tests._context.performAndWait {
        let note = try tests._context.fetch(tests._request(NSManagedObject.self, from: tests._second))[0]
        tests._context.assign(note, to: tests._first)
      }
    }
  }

  @Test func `a batch update reaches both stores, or the affected one`() throws {
    let request = NSBatchUpdateRequest(entityName: "Note")
    request.propertiesToUpdate = ["text": "all"]
    request.resultType = .updatedObjectsCountResultType
    let one = NSBatchUpdateRequest(entityName: "Note")
    one.propertiesToUpdate = ["text": "one"]
    one.affectedStores = [_first]
    one.resultType = .updatedObjectsCountResultType
    try _context.performAndWait {
      let inBoth = try _context.execute(request) as? NSBatchUpdateResult
      let inOne = try _context.execute(one) as? NSBatchUpdateResult
      #expect(inBoth?.result as? Int == 6)
      #expect(inOne?.result as? Int == 3)
      _context.reset()
      let texts = try _context.fetch(_request(NSManagedObject.self)).map {
        $0.value(forKey: "text") as? String
      }
      #expect(texts == ["one", "all", "one", "all", "one", "all"])
    }
  }

  @Test func `a batch deletion reaches both stores`() throws {
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
    fetch.predicate = NSPredicate(format: "rank < 2")
    try _context.performAndWait {
      let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
      deletion.resultType = .resultTypeCount
      let result = try _context.execute(deletion) as? NSBatchDeleteResult
      #expect(result?.result as? Int == 2)
    }
    #expect(try _ranks(_first) == [2, 4])
    #expect(try _ranks(_second) == [3, 5])
  }

  @Test func `unsaved objects take their place among those of both stores`() throws {
    try _context.performAndWait {
      _context.insert("Note", ["text": "between", "rank": 2])
      let texts = try _context.fetch(_request(NSManagedObject.self)).map {
        $0.value(forKey: "text") as? String
      }
      #expect(texts.count == 7)
      #expect(Set(texts[2...3]) == ["note 2", "between"])
    }
  }
}
