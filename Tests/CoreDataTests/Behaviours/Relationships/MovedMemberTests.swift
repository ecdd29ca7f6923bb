import CoreData
import Foundation
import Testing

/// A to-many that is read again after this context has moved one of its members elsewhere, and another
/// context has moved it back.
@Suite struct MovedMemberTests {
  /// Returns a book that this context has taken from Ada again, before a sibling gives it to her.
  private func taken(
    _ stack: TestStack, readingFirst: Bool, _ body: (NSManagedObject, NSManagedObject) throws -> Void
  ) throws {
    let context = stack.context
    try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada"])
      let bob = context.insert("Author", ["name": "Bob"])
      let book = context.insert("Book", ["title": "Notes", "author": bob])
      try context.save()
      context.refreshAllObjects()
      if readingFirst {
        // Ada's books are read while the book is one of them, and the book's author when it is not.
        try move(book, to: ada, stack)
        context.refresh(ada, mergeChanges: false)
        #expect(ada.objects("books") == [book])
        try move(book, to: bob, stack)
        context.refresh(book, mergeChanges: false)
        #expect(book.object("author") === bob)
      }
      book.setValue(ada, forKey: "author")
      book.setValue(nil, forKey: "author")
      context.processPendingChanges()
      try move(book, to: ada, stack)
      context.refresh(ada, mergeChanges: true)
      try body(ada, book)
    }
  }

  private func move(_ book: NSManagedObject, to author: NSManagedObject, _ stack: TestStack) throws {
    let sibling = stack.sibling()
    try sibling.performAndWait {
      sibling.object(with: book.objectID).setValue(sibling.object(with: author.objectID), forKey: "author")
      try sibling.save()
    }
  }

  @Test(arguments: Setting.direct, [false, true])
  func `what was taken out here is a member once that is rolled back`(
    _ setting: Setting, _ readingFirst: Bool
  ) throws {
    let stack = try TestStack(setting)
    try taken(stack, readingFirst: readingFirst) { ada, book in
      #expect(ada.objects("books").isEmpty)
      stack.context.rollback()
      #expect(ada.objects("books") == [book])
    }
  }

  @Test(arguments: Setting.direct, [false, true])
  func `an object removed here is no member though others added it`(
    _ setting: Setting, _ readingFirst: Bool
  ) throws {
    let stack = try TestStack(setting)
    try taken(stack, readingFirst: readingFirst) { ada, book in
      #expect(book.object("author") == nil)
      #expect(ada.objects("books").isEmpty)
    }
  }

  @Test(arguments: Setting.direct)
  func `what was taken out here is no member when prefetched`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try taken(stack, readingFirst: false) { ada, _ in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.relationshipKeyPathsForPrefetching = ["books"]
      _ = try stack.context.fetch(request)
      #expect(ada.objects("books").isEmpty)
    }
  }

  @Test(arguments: Setting.direct)
  func `a member saved with its owner leaves it when others move it`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    let book = try stack.stored("Book", ["title": "Notes"])
    try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada"])
      book.setValue(ada, forKey: "author")
      #expect(ada.objects("books") == [book])
      try context.save()
      let sibling = stack.sibling()
      let saved = try sibling.saved { sibling.object(with: book.objectID).setValue(nil, forKey: "author") }
      context.mergeChanges(fromContextDidSave: saved)
      #expect(book.object("author") == nil)
      #expect(ada.objects("books").isEmpty)
    }
  }

  @Test func `a removed member stays removed when its link is merged`() throws {
    let stack = try TestStack(.sqlite)
    let ids = try ["Ada", "Bob"].map { try stack.stored("Author", ["name": $0]).objectID }
    let context = stack.sibling()
    let other = try stack.otherCoordinator().newContext()
    try context.performAndWait {
      let (ada, bob) = (context.object(with: ids[0]), context.object(with: ids[1]))
      #expect(bob.object("mentor") == nil)
      let saved = try other.performAndWait {
        let authors = try other.all("Author", by: "name")
        authors[1].setValue(authors[0], forKey: "mentor")
        try other.save()
        return authors.map(\.objectID)
      }
      // Read after that save, the members refer to Bob; Bob was read before it.
      #expect(ada.objects("pupils") == [bob])
      ada.setValue(Set<NSManagedObject>(), forKey: "pupils")
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectsKey: saved], into: [context])
      #expect(ada.objects("pupils") == [])
      #expect(bob.object("mentor") == nil)
      try context.save()
    }
    try stack.fresh { fresh in
      let authors = try fresh.all("Author")
      #expect(authors.allSatisfy { $0.object("mentor") == nil })
    }
  }
}
