import Foundation
import Observation
import Synchronization
import Testing

@testable import CoreData

@Suite("Observation of managed objects")
struct ObservationTests {
  /// Counts callbacks.
  private final class Calls: Sendable {
    let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    func track(_ read: () -> Void) {
      withObservationTracking(read) { self.count.wrappingAdd(1, ordering: .relaxed) }
    }
  }

  private func _context(_ stack: TestStack) -> NSManagedObjectContext {
    let context = stack.sibling()
    context.tracksObservation = true
    return context
  }

  @Test func `Only a change of a property that was read is observed`() throws {
    let stack = try TestStack(.sqlite)
    let context = _context(stack)
    context.performAndWait {
      let author = context.insert("Author", ["name": "Ada", "age": 36])
      let calls = Calls()
      calls.track { _ = author.value(forKey: "name") }
      author.setValue(37, forKey: "age")
      #expect(calls.value == 0)
      author.setValue("Augusta", forKey: "name")
      author.setValue("Lovelace", forKey: "name")
      #expect(calls.value == 1)
    }
  }

  @Test func `A relationship changed from its other end is told`() throws {
    let stack = try TestStack(.sqlite)
    let context = _context(stack)
    context.performAndWait {
      let author = context.insert("Author")
      let book = context.insert("Book")
      let calls = Calls()
      calls.track { _ = author.value(forKey: "books") }
      book.setValue(author, forKey: "author")
      #expect(calls.value == 1)
    }
  }

  @Test func `Merged values and rollbacks are observed`() throws {
    let stack = try TestStack(.sqlite)
    let (context, other) = (_context(stack), stack.sibling())
    try context.performAndWait {
      let author = context.insert("Author", ["name": "Ada"])
      try context.save()
      let calls = Calls()
      calls.track { _ = author.value(forKey: "name") }
      try other.performAndWait {
        try other.all("Author")[0].setValue("Grace", forKey: "name")
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: [author.objectID]], into: [context])
      #expect(calls.value == 1)
      author.setValue("Edith", forKey: "name")
      calls.track { _ = author.value(forKey: "name") }
      context.rollback()
      #expect(calls.value == 2)
    }
  }

  @Test func `Main-queue objects are observed automatically`() throws {
    let stack = try TestStack(.sqlite)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.coordinator
    #expect(context.tracksObservation)
    #expect(!stack.context.tracksObservation)
    stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Ada"])
      withObservationTracking {
        _ = author.value(forKey: "name")
      } onChange: {
      }
      #expect(!author._flags.contains(.observed))
    }
  }

  @Test func `a merge or refresh reports the properties it changed`() throws {
    let stack = try TestStack(.sqlite)
    let context = _context(stack)
    try context.performAndWait {
      let author = context.insert("Author", ["name": "Ada", "age": 36])
      context.insert("Book", ["author": author])
      try context.save()
      let (names, ages, books) = (Calls(), Calls(), Calls())
      names.track { _ = author.value(forKey: "name") }
      ages.track { _ = author.value(forKey: "age") }
      books.track { _ = author.value(forKey: "books") }
      let id = author.objectID
      let notification = try stack.root.saved {
        stack.root.object(with: id).setValue("Grace", forKey: "name")
      }
      context.mergeChanges(fromContextDidSave: notification)
      #expect(names.value == 1)
      #expect(ages.value == 0)
      #expect(books.value == 0)
      author.setValue(37, forKey: "age")
      #expect(ages.value == 1)
    }
  }
}
