import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct ConflictTests {
  @Test func `a save over what another one has changed is a conflict`() throws {
    let stack = try ServerStack()
    let (mine, theirs) = (stack.context(), try ServerStack(at: stack.url).context())
    try mine.performAndWait {
      mine.make("Company", ["name": "old"])
      try mine.save()
    }
    let changed = try theirs.performAndWait { try #require(theirs.all("Company").first).objectID }
    try mine.performAndWait {
      try #require(mine.all("Company").first).setValue("mine", forKey: "name")
    }
    try theirs.performAndWait {
      theirs.object(with: changed).setValue("theirs", forKey: "name")
      try theirs.save()
    }
    try mine.performAndWait {
      let error = #expect(throws: CocoaError.self) { try mine.save() }
      #expect(error?.code.rawValue == NSManagedObjectMergeError)
      mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try mine.save()
    }
    let fresh = try ServerStack(at: stack.url).context()
    try fresh.performAndWait { try #expect(fresh.texts("Company", "name") == ["mine"]) }
  }

  @Test func `a second object with a unique value is refused`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      context.make("Tag", ["name": "one"])
      try context.save()
      context.make("Tag", ["name": "one"])
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code.rawValue == NSManagedObjectConstraintMergeError)
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
      try #expect(context.texts("Tag", "name") == ["one"])
    }
  }

  @Test func `rows may exchange unique values`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      let (one, two) = (context.make("Tag", ["name": "one"]), context.make("Tag", ["name": "two"]))
      try context.save()
      one.setValue("two", forKey: "name")
      two.setValue("one", forKey: "name")
      try context.save()
      try #expect(context.texts("Tag", "name") == ["one", "two"])
    }
  }

  @Test func `many savers at once lose nothing`() throws {
    let stack = try ServerStack()
    let first = stack.context()
    try first.performAndWait {
      first.make("Person", ["firstName": "counter", "total": 0])
      try first.save()
    }
    let (savers, saves) = (4, 25)
    DispatchQueue.concurrentPerform(iterations: savers) { _ in
      do {
        let context = try ServerStack(at: stack.url, options: [NSPersistentStoreConnectionPoolMaxSizeKey: 2])
          .context()
        try context.performAndWait {
          for _ in 0..<saves {
            while true {
              let counter = try #require(context.all("Person").first)
              let total = (counter.value(forKey: "total") as! NSNumber).int64Value
              counter.setValue(NSNumber(value: total + 1), forKey: "total")
              do {
                try context.save()
                break
              } catch let error as CocoaError where error.code.rawValue == NSManagedObjectMergeError {
                context.reset()
              }
            }
          }
        }
      } catch {
        Issue.record(error)
      }
    }
    let fresh = try ServerStack(at: stack.url).context()
    try fresh.performAndWait {
      let counter = try #require(fresh.all("Person").first)
      #expect((counter.value(forKey: "total") as? NSNumber)?.intValue == savers * saves)
    }
  }
}
