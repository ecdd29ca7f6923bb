import CoreData
import Foundation
import Testing

/// Predicates from Swift closures: stores other than SQLite evaluate them, as Core Data's do.
@Suite struct ClosurePredicateTests {
  private static let _memory: [Setting] = [.memory, .nestedOverMemory]

  private func _stack(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for (name, age) in [("Ada", 36), ("Bob", 17), ("Cyd", 52), ("Dot", 8)] {
        stack.context.insert("Author", ["name": name, "age": age])
      }
    }
    try stack.save()
    return stack
  }

  private func _isGrown() -> NSPredicate {
    NSPredicate { object, _ in ((object as? NSManagedObject)?.value(forKey: "age") as? Int ?? 0) >= 18 }
  }

  @Test(arguments: _memory) func `a fetch finds what the closure says`(_ setting: Setting) throws {
    let stack = try _stack(setting)
    try stack.context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.predicate = _isGrown()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
      try #expect(stack.context.fetch(request).map { $0.text("name") } == ["Cyd", "Ada"])
      try #expect(stack.context.count(for: request) == 2)
      request.fetchOffset = 1
      request.fetchLimit = 1
      try #expect(stack.context.fetch(request).map { $0.text("name") } == ["Ada"])
    }
  }

  @Test(arguments: _memory) func `a closure goes with other conditions`(_ setting: Setting) throws {
    let stack = try _stack(setting)
    try stack.context.performAndWait {
      let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
        NSPredicate(format: "name != 'Ada'"), NSCompoundPredicate(notPredicateWithSubpredicate: _isGrown()),
      ])
      try #expect(
        stack.context.all("Author", by: "name", where: predicate).map { $0.text("name") } == ["Bob", "Dot"])
    }
  }

  @Test(arguments: _memory) func `a closure sees unsaved values only of unsaved objects`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting)
    try stack.context.performAndWait {
      try stack.context.all("Author", where: NSPredicate(format: "name == 'Bob'"))[0].setValue(
        18, forKey: "age")
      stack.context.insert("Author", ["name": "Eve", "age": 20])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.predicate = _isGrown()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      try #expect(stack.context.fetch(request).map { $0.text("name") } == ["Ada", "Bob", "Cyd", "Eve"])
      request.includesPendingChanges = false
      try #expect(stack.context.fetch(request).map { $0.text("name") } == ["Ada", "Cyd"])
    }
  }

  @Test(arguments: _memory) func `a closure may follow relationships`(_ setting: Setting) throws {
    let stack = try _stack(setting)
    try stack.context.performAndWait {
      let ada = try stack.context.all("Author", where: NSPredicate(format: "name == 'Ada'"))[0]
      stack.context.insert("Book", ["title": "Notes", "author": ada])
    }
    try stack.save()
    try stack.fresh { context in
      let hasBooks = NSPredicate { object, _ in !(object as! NSManagedObject).objects("books").isEmpty }
      try #expect(context.all("Author", where: hasBooks).map { $0.text("name") } == ["Ada"])
    }
  }

  @Test func `dictionaries are of what the closure says`() throws {
    let stack = try _stack(.memory)
    let request = NSFetchRequest<NSDictionary>(entityName: "Author")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name"]
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.predicate = _isGrown()
    try stack.context.performAndWait {
      try #expect(stack.context.fetch(request).map { $0["name"] as? String } == ["Ada", "Cyd"])
    }
  }

  @Test func `an SQLite store refuses a closure`() throws {
    let stack = try _stack(.sqlite)
    stack.context.performAndWait {
      _ = #expect(throws: CocoaError.self) { try stack.context.all("Author", where: _isGrown()) }
    }
  }
}
