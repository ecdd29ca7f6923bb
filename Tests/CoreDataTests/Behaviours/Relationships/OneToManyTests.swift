import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The members of a one-to-many follow from the members' to-ones, wherever a change waits: in the context, in a child's
/// save, in an ancestor. `LAYER_CASES` sets the number of generated cases.
@Suite struct OneToManyTests {
  private static let _cases = ProcessInfo.processInfo.environment["LAYER_CASES"].flatMap { Int($0) } ?? 2_000

  // MARK: Layers

  /// Generated saves of four books, each pointing to one of three authors or none; some objects are unsaved.
  private struct Library {
    let authors: [NSManagedObject]
    let books: [NSManagedObject]
    let ends: LinkEnds
    private let _stack: TestStack

    init() throws {
      let stack = try TestStack(.memory)
      let context = stack.context
      (authors, books) = try context.performAndWait {
        let stored = (context.insert("Author", ["name": "Ada"]), context.insert("Book", ["title": "Notes"]))
        try context.save()
        let authors = [stored.0] + (0..<2).map { context.insert("Author", ["name": "new \($0)"]) }
        return (authors, [stored.1] + (0..<3).map { context.insert("Book", ["title": "new \($0)"]) })
      }
      let slot = try #require(authors[0]._layout.slot(named: "books"))
      ends = try #require(LinkEnds(toMany: slot, of: authors[0]._layout))
      _stack = stack
    }

    func entry(of book: NSManagedObject, _ random: inout SeededRandom, mayInsert: Bool) -> ChangeLayer.Entry {
      var row = Row(count: book._layout.slots.count, version: 1)
      let kind: ChangeLayer.Kind =
        random.chance(10) ? .deleted : mayInsert && random.chance(40) ? .inserted : .updated
      let changed = random.chance(60) ? SlotSet([ends.toOne]) : SlotSet()
      if let author = random.chance(20) ? nil : authors[random.below(3)] {
        row.set(author._key.map(Value.reference) ?? .pending(author._objectID), at: ends.toOne)
      }
      return ChangeLayer.Entry(
        kind: kind, id: book._objectID, base: nil, row: kind == .deleted ? nil : row, changed: changed,
        isWhole: random.chance(20))
    }

    func layers(_ random: inout SeededRandom) -> [ChangeLayer] {
      var known = Set<NSManagedObject>()
      return (0..<random.below(5)).map { _ in
        ChangeLayer(
          books.filter { _ in random.chance(60) }.map {
            entry(of: $0, &random, mayInsert: known.insert($0).inserted)
          })
      }
    }
  }

  private func _forEachCase(_ body: (inout SeededRandom, Library) throws -> Void) throws {
    let library = try Library()
    for seed in 0..<Self._cases {
      var random = SeededRandom(seed: UInt64(seed))
      try body(&random, library)
    }
  }

  @Test func `an object is a member where its to-one points`() throws {
    try _forEachCase { random, library in
      let layers = library.layers(&random)
      for author in library.authors {
        let id = author._objectID
        let found = layers.members(library.ends, of: id)
        #expect(Set(found).count == found.count)
        for book in library.books {
          let pointsHere =
            switch layers.change(of: library.ends, of: IdentityKey(book._objectID)) {
            case .target(let value): value.refers(to: id)
            case .unchanged, .gone: false
            }
          #expect(found.contains(book._objectID) == pointsHere)
        }
      }
    }
  }

  @Test func `merging layers changes no member`() throws {
    try _forEachCase { random, library in
      let layers = library.layers(&random)
      guard let first = layers.first else { return }
      let merged = [layers.dropFirst().reduce(first) { ChangeLayer.merged($0, $1) }]
      for author in library.authors {
        let id = author._objectID
        #expect(Set(merged.members(library.ends, of: id)) == Set(layers.members(library.ends, of: id)))
      }
    }
  }

  @Test func `links are found under the ID that a save gives`() throws {
    let stack = try TestStack(.memory)
    let context = stack.context
    try context.performAndWait {
      let author = context.insert("Author", ["name": "Ada"])
      let book = context.insert("Book", ["title": "Notes"])
      let slot = try #require(author._layout.slot(named: "books"))
      let ends = try #require(LinkEnds(toMany: slot, of: author._layout))
      var row = Row(count: book._layout.slots.count, version: 1)
      row.set(.pending(author._objectID), at: ends.toOne)
      let layers = [
        ChangeLayer([
          ChangeLayer.Entry(
            kind: .inserted, id: book._objectID, base: nil, row: row, changed: SlotSet([ends.toOne]),
            isWhole: false)
        ])
      ]
      let temporary = author._objectID
      #expect(layers.members(ends, of: temporary).count == 1)
      try context.save()
      #expect(author._objectID !== temporary)
      #expect(layers.members(ends, of: author._objectID).count == 1)
      #expect(layers.members(ends, of: temporary).count == 1)
    }
  }

  // MARK: Contexts

  /// A parent with Ada, Bob and a book of Bob's that its child has given to Ada and saved.
  private struct Moved {
    let stack: TestStack
    let parent: NSManagedObjectContext
    let ada: NSManagedObject
    let bob: NSManagedObject
    let book: NSManagedObject

    init(_ setting: Setting, readingFirst isReadFirst: Bool) throws {
      stack = try TestStack(setting)
      let parent = stack.context
      (ada, bob, book) = parent.performAndWait {
        let bob = parent.insert("Author", ["name": "Bob"])
        return (
          parent.insert("Author", ["name": "Ada"]), bob,
          parent.insert("Book", ["title": "Notes", "author": bob])
        )
      }
      try stack.save()
      self.parent = parent
      parent.performAndWait {
        parent.refreshAllObjects()
        if isReadFirst { _ = (ada.objects("books").count, bob.objects("books").count) }
      }
      let child = stack.child(of: parent)
      try child.performAndWait {
        child.object(with: book.objectID).setValue(child.object(with: ada.objectID), forKey: "author")
        try child.save()
      }
    }
  }

  @Test(arguments: Setting.allCases, [false, true])
  func `a parent sees a child's move at both owners`(_ setting: Setting, _ readingFirst: Bool) throws {
    let moved = try Moved(setting, readingFirst: readingFirst)
    moved.parent.performAndWait {
      #expect(moved.ada.objects("books") == [moved.book])
      #expect(moved.bob.objects("books").isEmpty)
      #expect(moved.ada.objectIDs(forRelationshipNamed: "books") == [moved.book.objectID])
      #expect(moved.bob.objectIDs(forRelationshipNamed: "books").isEmpty)
    }
  }

  @Test(arguments: Setting.allCases, [false, true])
  func `both owners count as changed until they are saved`(_ setting: Setting, _ readingFirst: Bool) throws {
    let moved = try Moved(setting, readingFirst: readingFirst)
    try moved.parent.performAndWait {
      #expect(moved.ada.changedValues()["books"] as? Set<NSManagedObject> == [moved.book])
      #expect(moved.bob.changedValues()["books"] as? Set<NSManagedObject> == [])
      #expect(moved.bob.committedValues(forKeys: ["books"])["books"] as? Set<NSManagedObject> == [moved.book])
      try moved.parent.save()
      #expect(!moved.ada.hasChanges && !moved.bob.hasChanges)
      #expect(moved.ada.committedValues(forKeys: ["books"])["books"] as? Set<NSManagedObject> == [moved.book])
    }
  }

  @Test(arguments: Setting.allCases, [false, true])
  func `a rollback returns a moved member to its owner`(_ setting: Setting, _ readingFirst: Bool) throws {
    let moved = try Moved(setting, readingFirst: readingFirst)
    moved.parent.performAndWait {
      _ = (moved.ada.objects("books"), moved.bob.objects("books"))
      moved.parent.rollback()
      #expect(moved.ada.objects("books").isEmpty)
      #expect(moved.bob.objects("books") == [moved.book])
    }
  }

  @Test(arguments: Setting.allCases, [false, true])
  func `a member that a child moved in can be taken out`(_ setting: Setting, _ readingFirst: Bool) throws {
    let moved = try Moved(setting, readingFirst: readingFirst)
    try moved.parent.performAndWait {
      moved.ada.mutableSetValue(forKey: "books").remove(moved.book)
      #expect(moved.book.object("author") == nil)
      try moved.parent.save()
      #expect(moved.ada.objects("books").isEmpty && moved.bob.objects("books").isEmpty)
    }
  }

  @Test(arguments: Setting.allCases)
  func `deleting an owner reaches what a child has moved to it`(_ setting: Setting) throws {
    let moved = try Moved(setting, readingFirst: false)
    try moved.parent.performAndWait {
      moved.parent.delete(moved.ada)
      try moved.parent.save()
      #expect(moved.book.object("author") == nil)
    }
  }

  @Test func `a child's save leaves no members with its parent`() throws {
    let stack = try TestStack(.memory)
    let child = stack.child(of: stack.context)
    try child.performAndWait {
      let ada = child.insert("Author", ["name": "Ada"])
      for number in 0..<3 { child.insert("Book", ["title": "\(number)", "author": ada]) }
      try child.save()
    }
    try stack.context.performAndWait {
      let ada = try #require(try stack.context.all("Author", by: "name").first)
      let slot = try #require(ada._layout.slot(named: "books"))
      let state = try #require(ada._relations?.members(slot))
      #expect(!state.isRealised && state.changes.isEmpty && state.hasChanges)
      #expect(ada.objects("books").count == 3)
    }
  }

  @Test(arguments: Setting.direct)
  func `members that others save follow an order that a child saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let parent = stack.context
    let (book, mine, theirs) = try parent.performAndWait {
      let book = parent.insert("Book", ["title": "Notes"])
      let chapters = (0..<2).map { parent.insert("Chapter", ["heading": "\($0)"]) }
      try parent.save()
      #expect((book.value(forKey: "chapters") as? NSOrderedSet)?.count == 0)
      return (book, chapters[0], chapters[1])
    }
    let child = stack.child(of: parent)
    try child.performAndWait {
      child.object(with: mine.objectID).setValue(child.object(with: book.objectID), forKey: "book")
      try child.save()
    }
    let other = stack.sibling()
    let saved = try other.saved {
      other.object(with: theirs.objectID).setValue(other.object(with: book.objectID), forKey: "book")
    }
    try parent.performAndWait {
      parent.mergeChanges(fromContextDidSave: saved)
      #expect(
        (book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == [mine, theirs])
      try parent.save()
      parent.refreshAllObjects()
      #expect(
        (book.value(forKey: "chapters") as? NSOrderedSet)?.array as? [NSManagedObject] == [mine, theirs])
    }
  }

  @Test(arguments: Setting.direct, [0, 1, 2])
  func `a merged insertion joins its owner's members in memory`(_ setting: Setting, _ undos: Int) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    context.undoManager = UndoManager()
    context.undoManager?.groupsByEvent = false
    let ada = try stack.stored("Author", ["name": "Ada"])
    let other = stack.sibling()
    let theirs = other.performAndWait {
      let theirs = other.object(with: ada.objectID)
      #expect(theirs.objects("books").isEmpty)
      return theirs
    }
    let saved = try context.saved {
      let book = context.insert("Book", ["title": "Notes"])
      context.processPendingChanges()
      book.setValue(ada, forKey: "author")
      context.processPendingChanges()
      for _ in 0..<undos { context.undo() }
      for _ in 0..<undos { context.redo() }
      #expect(ada.objects("books").count == 1)
    }
    other.performAndWait {
      other.mergeChanges(fromContextDidSave: saved)
      #expect(theirs.objects("books").count == 1)
    }
  }

  @Test(arguments: Setting.direct, [false, true])
  func `a merged to-one reaches its owner's members by itself`(_ setting: Setting, _ isKnown: Bool) throws {
    let stack = try TestStack(setting)
    let ada = try stack.stored("Author", ["name": "Ada"])
    let other = stack.sibling()
    let theirs = other.performAndWait {
      let theirs = other.object(with: ada.objectID)
      #expect(theirs.objects("books").isEmpty)
      return theirs
    }
    let context = stack.context
    let book = try context.performAndWait {
      let book = context.insert("Book", ["title": "Notes", "author": ada])
      try context.save()
      return book
    }
    other.performAndWait {
      let fault = isKnown ? other.object(with: book.objectID) : nil
      // A late merge may tell of the book and not of its author.
      let entry = ChangeLayer.Entry(
        kind: .inserted, id: book._objectID, base: nil, row: book._row, changed: SlotSet(), isWhole: false)
      MergePass(other).merge(SavedChanges([entry], isStored: true, context: context))
      #expect(theirs.objects("books").count == 1)
      #expect(fault.map { theirs.objects("books") == [$0] } ?? true)
    }
  }

  @Test(arguments: Setting.direct)
  func `a child's move of a deleted object adds no member`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let parent = stack.context
    let ada = try stack.stored("Author", ["name": "Ada"])
    let book = try stack.stored("Book", ["title": "Notes"])
    let child = stack.child(of: parent)
    child.performAndWait {
      child.object(with: book.objectID).setValue(child.object(with: ada.objectID), forKey: "author")
    }
    parent.performAndWait {
      #expect(ada.objects("books").isEmpty)
      parent.delete(book)
      parent.processPendingChanges()
    }
    try child.performAndWait { try child.save() }
    parent.performAndWait { #expect(ada.objects("books").isEmpty) }
  }

  @Test(arguments: Setting.allCases, [false, true])
  func `an unsaved owner keeps what a child has moved to it`(_ setting: Setting, _ isCut: Bool) throws {
    let stack = try TestStack(setting)
    let parent = stack.context
    let books = parent.performAndWait {
      ["one", "two", "three"].map { parent.insert("Book", ["title": $0]) }
    }
    try stack.save()
    let author = parent.performAndWait { parent.insert("Author", ["name": "Ada"]) }
    let child = stack.child(of: parent)
    try child.performAndWait {
      for book in books[...1] {
        child.object(with: book.objectID).setValue(child.object(with: author.objectID), forKey: "author")
      }
      try child.save()
    }
    parent.performAndWait {
      // From the members' end, before anybody has read the author's books.
      if isCut {
        books[0].setValue(nil, forKey: "author")
      } else {
        books[2].setValue(author, forKey: "author")
      }
      #expect(author.objects("books") == (isCut ? [books[1]] : Set(books)))
    }
    try stack.save()
    parent.performAndWait { #expect(author.objects("books") == (isCut ? [books[1]] : Set(books))) }
  }
}
