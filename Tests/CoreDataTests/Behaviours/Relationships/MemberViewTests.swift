import Foundation
import Testing

@testable import CoreData

/// To-manys as accessors return them: as Swift sets, Foundation sets, ordered sets. The result is cached
/// until members change.
@Suite struct MemberViewTests {
  private let _books = ManagedKey<NSSet?>("books")
  private let _typed = ManagedKey<Set<NSManagedObject>>("books")
  private let _chapters = ManagedKey<NSOrderedSet?>("chapters")

  private func _author(in context: NSManagedObjectContext, books: Int) -> NSManagedObject {
    let author = context.insert("Author", ["name": "Jane"])
    for number in 0..<books { context.insert("Book", ["title": "\(number)", "author": author]) }
    return author
  }

  @Test(arguments: Setting.allCases)
  func `a set given before a change does not see it`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let author = _author(in: stack.context, books: 3)
      try stack.context.save()
      let before = try #require(_books[author])
      #expect(_books[author] === before)
      let book = stack.context.insert("Book", ["title": "new"])
      book.setValue(author, forKey: "author")
      let after = try #require(_books[author])
      #expect(before.count == 3)
      #expect(after.count == 4)
      #expect(after.contains(book))
      #expect(_typed[author].count == 4)
    }
  }

  @Test(arguments: Setting.allCases)
  func `every change of the members shows in the next set`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let context = stack.context
      let author = _author(in: context, books: 2)
      try context.save()
      func count() -> [Int] { [_books[author]?.count ?? -1, _typed[author].count] }
      #expect(count() == [2, 2])
      let third = context.insert("Book", ["title": "third"])
      _books.add(third, to: author)
      #expect(count() == [3, 3])
      _books.remove(third, from: author)
      #expect(count() == [2, 2])
      _books[author] = NSSet(object: third)
      #expect(count() == [1, 1])
      context.rollback()
      #expect(count() == [2, 2])
      let gone = try #require(_typed[author].first)
      context.delete(gone)
      context.processPendingChanges()
      #expect(count() == [1, 1])
      try context.save()
      #expect(count() == [1, 1])
      context.refresh(author, mergeChanges: false)
      #expect(count() == [1, 1])
    }
  }

  @Test func `a set made before a merge shows what was merged`() throws {
    let stack = try TestStack(.sqlite)
    let (author, id) = try stack.context.performAndWait {
      let author = _author(in: stack.context, books: 2)
      try stack.context.save()
      #expect(_books[author]?.count == 2)
      return (Held(object: author), author.objectID)
    }
    let other = stack.sibling()
    stack.context.automaticallyMergesChangesFromParent = true
    try other.performAndWait {
      other.insert("Book", ["title": "merged", "author": other.object(with: id)])
      try other.save()
    }
    let arrived = eventually { stack.context.performAndWait { _books[author.object]?.count == 3 } }
    #expect(arrived)
  }

  /// An object carried between blocks of its context's queue.
  private struct Held: @unchecked Sendable {
    // Unchecked: used only in the context's blocks.
    let object: NSManagedObject
  }

  @Test(arguments: Setting.allCases)
  func `an ordered set shows each new order`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let book = stack.context.insert("Book")
      let chapters = (0..<3).map { stack.context.insert("Chapter", ["heading": "\($0)"]) }
      func headings() -> [String?] {
        _chapters[book]?.array.map { ($0 as? NSManagedObject)?.text("heading") } ?? []
      }
      _chapters[book] = NSOrderedSet(array: chapters)
      #expect(headings() == ["0", "1", "2"])
      #expect(_chapters[book] === _chapters[book])
      book.mutableOrderedSetValue(forKey: "chapters").exchangeObject(at: 0, withObjectAt: 2)
      #expect(headings() == ["2", "1", "0"])
      _chapters.remove(at: 1, from: book)
      #expect(headings() == ["2", "0"])
      #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.count == 2)
    }
  }

  @Test func `the class of members is looked at again when they change`() throws {
    let stack = try TestStack(.memory, model: HookedAuthor.model())
    stack.context.performAndWait {
      let author = stack.context.hookedAuthor("Jane")
      let pupils = author.members(author._layout.slot(named: "pupils")!)
      pupils.set(stack.context.hookedAuthor("Anne"), isMember: true)
      #expect(pupils.member(notOf: HookedAuthor.self) == nil)
      #expect(pupils.member(notOf: NSManagedObject.self) == nil)
      let book = stack.context.insert("Book")
      pupils.set(book, isMember: true)
      #expect(pupils.member(notOf: HookedAuthor.self) === book)
      pupils.set(book, isMember: false)
      #expect(pupils.member(notOf: HookedAuthor.self) == nil)
    }
  }
}
