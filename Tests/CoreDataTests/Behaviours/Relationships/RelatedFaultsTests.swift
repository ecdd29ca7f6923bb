import Foundation
import Testing

@testable import CoreData

@Suite struct RelatedFaultsTests {
  /// Returns authors with as many books each.
  private func _library(_ setting: Setting, authors: Int, books: Int) throws -> TestStack {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      for number in 0..<authors {
        let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: stack.context)
        author.setValue("Author \(number)", forKey: "name")
        for place in 0..<books {
          let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: stack.context)
          book.setValue("Book \(number)/\(place)", forKey: "title")
          book.setValue(author, forKey: "author")
        }
      }
      try stack.context.save()
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    stack.coordinator.rowCache.removeAll()
    return stack
  }

  @Test(arguments: Setting.direct)
  func `one read fills the members of a relationship`(_ setting: Setting) throws {
    let stack = try _library(setting, authors: 5, books: 100)
    try stack.fresh { context in
      for author in try context.all("Author") {
        let before = stack.coordinator.rowReads.load(ordering: .relaxed)
        for book in author.objects("books") { #expect(book.text("title")?.hasPrefix("Book") == true) }
        // At most the author's own values and those of all of its books.
        #expect(stack.coordinator.rowReads.load(ordering: .relaxed) - before <= 2)
      }
    }
  }

  @Test(arguments: Setting.direct)
  func `a hundred faults take one read`(_ setting: Setting) throws {
    let stack = try _library(setting, authors: 1, books: 1000)
    try stack.fresh { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.includesPropertyValues = false
      let books = try context.fetch(request)
      let before = stack.coordinator.rowReads.load(ordering: .relaxed)
      for book in books { _ = book.text("title") }
      #expect(stack.coordinator.rowReads.load(ordering: .relaxed) - before <= 10)
    }
  }

  @Test(arguments: Setting.allCases)
  func `going through members and looking them up agree`(_ setting: Setting) throws {
    let stack = try _library(setting, authors: 1, books: 20)
    try stack.fresh { context in
      let author = try #require(try context.all("Author").first)
      let set = author.mutableSetValue(forKey: "books")
      let gone = try #require(author.objects("books").first)
      let members = author.objects("books")
      #expect(members.count == 20)
      #expect(members.allSatisfy { set.contains($0) })
      set.remove(gone)
      #expect(author.objects("books") == members.subtracting([gone]))
      context.rollback()
      #expect(author.objects("books") == members)
    }
  }

  @Test func `a set of members answers as foundations does`() throws {
    let stack = try _library(.memory, authors: 1, books: 3)
    try stack.fresh { context in
      let author = try #require(try context.all("Author").first)
      let books = Array(author.objects("books"))
      let other = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
      let key = ManagedKey<NSSet?>("books")
      let set = try #require(key[author])
      #expect(set.count == 3)
      #expect(set.contains(books[1]))
      #expect(!set.contains(other))
      // Typical first uses: as a Swift set, compared, printed.
      #expect(set as? Set<NSManagedObject> == Set(books))
      #expect(set == NSSet(array: books))
      #expect(set.description.contains("Book"))
      #expect(author.mutableSetValue(forKey: "books").description.contains("Book"))
      #expect(set.allObjects.count == 3)
      #expect(set.isEqual(to: Set<AnyHashable>(books)))
      #expect((set.mutableCopy() as? NSMutableSet)?.count == 3)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a fetch gives one object for each row however often`(_ setting: Setting) throws {
    let stack = try _library(setting, authors: 1, books: 700)
    try stack.fresh { context in
      let first = try context.all("Book", by: "title")
      let again = try context.all("Book", by: "title")
      #expect(first.count == 700)
      #expect(first == again)
      #expect(context.registeredObjects.isSuperset(of: first))
    }
  }
}
