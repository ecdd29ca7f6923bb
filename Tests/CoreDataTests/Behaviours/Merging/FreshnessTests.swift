import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Rows that another coordinator, which acts like another process, writes while this one has them cached.
@Suite(.ofFiles) struct FreshnessTests {
  private let _stack: TestStack
  private let _other: NSManagedObjectContext
  private let _ada: NSManagedObjectID

  init() throws {
    _stack = try TestStack(.sqlite)
    _ada = try _stack.fresh { context in
      let author = context.insert("Author", ["name": "Ada", "age": 1])
      try context.save()
      return author.objectID
    }
    _other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    _other.persistentStoreCoordinator = try _stack.otherCoordinator()
  }

  private func _writeElsewhere(_ age: Int) throws {
    try _other.performAndWait {
      try #require(try _other.all("Author", by: "name").first).setValue(age, forKey: "age")
      try _other.save()
    }
  }

  private func _deleteElsewhere() throws {
    try _other.performAndWait {
      _other.delete(try #require(try _other.all("Author", by: "name").first))
      try _other.save()
    }
  }

  private func _age(_ context: NSManagedObjectContext) -> Int? {
    context.performAndWait { context.object(with: _ada).value(forKey: "age") as? Int }
  }

  @Test func `a new context reads what another coordinator has written`() throws {
    for age in 2...50 {
      try _writeElsewhere(age)
      #expect(_age(_stack.sibling()) == age)
    }
  }

  @Test func `a change in a new context meets no conflict with what was written before`() throws {
    for age in 2...50 {
      try _writeElsewhere(age)
      let context = _stack.sibling()
      try context.performAndWait {
        context.object(with: _ada).setValue("Ada \(age)", forKey: "name")
        try context.save()
      }
    }
  }

  @Test func `a child's first read is as fresh`() throws {
    _ = _age(_stack.root)
    try _writeElsewhere(2)
    #expect(_age(_stack.child(of: _stack.sibling())) == 2)
  }

  @Test func `a context is as fresh as a new one after a reset`() throws {
    #expect(_age(_stack.root) == 1)
    try _writeElsewhere(2)
    _stack.root.performAndWait { _stack.root.reset() }
    #expect(_age(_stack.root) == 2)
  }

  @Test func `a context is as fresh as a new one after its objects were refreshed`() throws {
    #expect(_age(_stack.root) == 1)
    try _writeElsewhere(2)
    _stack.root.performAndWait { _stack.root.refreshAllObjects() }
    #expect(_age(_stack.root) == 2)
  }

  @Test func `the coordinator's own saves and batch requests leave the rows in the cache`() throws {
    let context = _stack.sibling()
    #expect(_age(context) == 1)
    try context.performAndWait {
      context.insert("Author", ["name": "Eve"])
      try context.save()
      let update = NSBatchUpdateRequest(entityName: "Author")
      update.predicate = NSPredicate(format: "name == 'nobody'")
      update.propertiesToUpdate = ["age": 3]
      _ = try context.execute(update)
    }
    let key = try #require(_ada.key)
    _ = _age(_stack.sibling())
    #expect(_stack.coordinator.rowCache.row(for: key) != nil)
    _stack.coordinator.forgetOvertakenRows()
    #expect(_stack.coordinator.rowCache.row(for: key) != nil)
  }

  @Test func `an existing object whose row another coordinator has deleted is not found`() throws {
    let context = _stack.sibling()
    _ = context.performAndWait { context.object(with: _ada) }
    _ = _age(_stack.sibling())
    try _deleteElsewhere()
    context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try context.existingObject(with: _ada) }
      #expect(error?.code.rawValue == NSManagedObjectReferentialIntegrityError)
    }
  }

  @Test func `an existing object that is loaded is returned as it is`() throws {
    let context = _stack.sibling()
    let loaded = context.performAndWait { context.object(with: _ada) }
    #expect(_age(context) == 1)
    try _deleteElsewhere()
    let found = try context.performAndWait { try context.existingObject(with: _ada) }
    #expect(found === loaded)
    #expect(_age(context) == 1)
  }

  @Test func `a fetched fault whose row a sibling has deleted is not found`() throws {
    let context = _stack.sibling()
    let fault = try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      return try #require(try context.fetch(request).first)
    }
    #expect(context.performAndWait { fault.isFault })
    try _stack.fresh { sibling in
      sibling.delete(try sibling.existingObject(with: _ada))
      try sibling.save()
    }
    #expect(throws: CocoaError.self) {
      try context.performAndWait { _ = try context.existingObject(with: _ada) }
    }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `the journal mode makes no difference`(_ mode: String) throws {
    let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": mode]]
    let stack = try TestStack(.sqlite, options: options)
    let id = try stack.fresh { context in
      let author = context.insert("Author", ["name": "Ada", "age": 1])
      try context.save()
      return author.objectID
    }
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = try stack.otherCoordinator()
    for age in 2...20 {
      try other.performAndWait {
        try #require(try other.all("Author", by: "name").first).setValue(age, forKey: "age")
        try other.save()
      }
      let context = stack.sibling()
      #expect(context.performAndWait { context.object(with: id).value(forKey: "age") as? Int } == age)
    }
  }
}
