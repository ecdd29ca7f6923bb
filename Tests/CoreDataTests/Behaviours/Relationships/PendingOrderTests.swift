import CoreData
import Foundation
import Testing

/// The unsaved order of an ordered relationship, when its members are read again.
@Suite struct PendingOrderTests {
  private func book(_ stack: TestStack) throws -> NSManagedObject {
    let context = stack.context
    let book = context.performAndWait {
      let book = context.insert("Book", ["title": "B"])
      book.setValue(
        NSOrderedSet(array: ["a", "b", "c"].map { context.insert("Chapter", ["heading": $0]) }),
        forKey: "chapters")
      return book
    }
    try stack.save()
    return book
  }

  private func headings(_ book: NSManagedObject) -> [String?] {
    (book.value(forKey: "chapters") as? NSOrderedSet)?.map { ($0 as? NSManagedObject)?.text("heading") } ?? []
  }

  @Test(arguments: Setting.allCases)
  func `refreshing keeps it`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = try book(stack)
    let context = stack.context
    context.performAndWait {
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      chapters.moveObjects(at: IndexSet(integer: 2), to: 0)
      context.refresh(book, mergeChanges: true)
      #expect(headings(book) == ["c", "a", "b"])
    }
    try stack.save()
    try stack.fresh { context in try #expect(headings(context.all("Book")[0]) == ["c", "a", "b"]) }
  }

  @Test(arguments: Setting.allCases)
  func `refreshing keeps the places of new members`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = try book(stack)
    let context = stack.context
    context.performAndWait {
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      for heading in ["x", "y", "z"] {
        chapters.insert(context.insert("Chapter", ["heading": heading]), at: 1)
      }
      context.refresh(book, mergeChanges: true)
      #expect(headings(book) == ["a", "z", "y", "x", "b", "c"])
      context.refresh(book, mergeChanges: true)
    }
    // Saved without being accessed again.
    try stack.save()
    try stack.fresh { context in
      try #expect(headings(context.all("Book")[0]) == ["a", "z", "y", "x", "b", "c"])
    }
  }

  @Test(arguments: Setting.direct)
  func `what others add meanwhile stands behind it`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = try book(stack)
    let context = stack.context
    let other = stack.sibling()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    context.performAndWait {
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      chapters.moveObjects(at: IndexSet(integer: 2), to: 0)
    }
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: other, queue: nil
    ) { context.mergeChanges(fromContextDidSave: $0) }
    defer { NotificationCenter.default.removeObserver(token) }
    try other.performAndWait {
      other.insert("Chapter", ["heading": "d", "book": other.object(with: book.objectID)])
      try other.save()
    }
    context.performAndWait { #expect(headings(book) == ["c", "a", "b", "d"]) }
  }
}
