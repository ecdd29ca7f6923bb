import CoreData
import Foundation
import Testing

/// To-manys as Foundation's mutable collections, which read and write through.
@Suite struct LiveCollectionTests {
  /// Runs `body` with a book of three chapters and its members in order, read through a live set.
  private func withChapters(
    _ body: (NSManagedObjectContext, NSManagedObject, NSMutableOrderedSet, [NSManagedObject]) throws -> Void
  ) throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book")
      let chapters = (0..<3).map { stack.context.insert("Chapter", ["heading": "\($0)"]) }
      book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
      try body(stack.context, book, book.mutableOrderedSetValue(forKey: "chapters"), chapters)
    }
  }

  /// Runs `body` with an author of three books, read through a live set.
  private func withBooks(
    _ body: (NSManagedObjectContext, NSManagedObject, NSMutableSet, [NSManagedObject]) throws -> Void
  ) throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author")
      let books = (0..<3).map { stack.context.insert("Book", ["title": "\($0)", "author": author]) }
      try body(stack.context, author, author.mutableSetValue(forKey: "books"), books)
    }
  }

  private func headings(_ objects: any Sequence) -> [String] {
    objects.map { ($0 as? NSManagedObject)?.text("heading") ?? "?" }
  }

  @Test func `setting a to-many to its own live set keeps the members`() throws {
    try withBooks { _, author, live, books in
      author.setValue(live, forKey: "books")
      #expect(author.objects("books") == Set(books))
    }
    try withChapters { _, book, live, chapters in
      book.setValue(live, forKey: "chapters")
      #expect(live.count == 3 && (live[0] as AnyObject) === chapters[0])
    }
  }

  @Test func `an object takes the members of another's live set`() throws {
    try withBooks { context, author, live, books in
      let other = context.insert("Author")
      other.setValue(live, forKey: "books")
      #expect(other.objects("books") == Set(books))
      #expect(author.objects("books").isEmpty)
    }
  }

  @Test func `a live set answers every reading member of NSSet`() throws {
    try withBooks { context, author, live, books in
      let stranger = context.insert("Book")
      #expect(live.count == 3)
      #expect(Set(live.allObjects as! [NSManagedObject]) == Set(books))
      #expect(live.member(books[0]) as? NSManagedObject === books[0])
      #expect(live.member(stranger) == nil)
      #expect(live.contains(books[1]) && !live.contains(stranger))
      #expect(books.contains { $0 === live.anyObject() as? NSManagedObject })
      #expect(live.map { $0 }.count == 3)
      #expect(live.objectEnumerator().allObjects.count == 3)
      #expect(live.isEqual(to: Set<AnyHashable>(books)))
      #expect(live.isEqual(NSSet(array: books)) && NSSet(array: books).isEqual(live))
      #expect(live.isEqual(author.mutableSetValue(forKey: "books")))
      #expect(live.isSubset(of: Set<AnyHashable>(books + [stranger])))
      #expect(live.intersects([books[0]]) && !live.intersects([stranger]))
      #expect(live.adding(stranger).count == 4)
      #expect(live.addingObjects(from: [stranger]).count == 4)
      #expect(live.addingObjects(from: Set<AnyHashable>([stranger])).count == 4)
      #expect(live.objects { object, _ in object as AnyObject === books[0] }.count == 1)
      var seen = 0
      live.enumerateObjects { _, _ in seen += 1 }
      #expect(seen == 3)
      #expect(NSSet(set: live).count == 3)
      #expect((live.copy() as? NSSet)?.count == 3)
      #expect((live.mutableCopy() as? NSMutableSet)?.count == 3)
      #expect(live.description.contains("Book"))
    }
  }

  @Test func `a live set writes through every NSMutableSet mutation`() throws {
    try withBooks { context, author, live, books in
      let (one, two) = (context.insert("Book"), context.insert("Book"))
      live.add(one)
      #expect(one.object("author") === author)
      live.remove(one)
      #expect(one.object("author") == nil)
      live.addObjects(from: [one, two])
      #expect(live.count == 5)
      live.minus([one])
      #expect(live.count == 4)
      live.union([one])
      #expect(live.count == 5)
      live.intersect([one, two])
      #expect(author.objects("books") == [one, two])
      live.setSet([books[0]])
      #expect(author.objects("books") == [books[0]])
      live.removeAllObjects()
      #expect(author.objects("books").isEmpty)
    }
  }

  @Test func `the ordered members that are read know their positions`() throws {
    try withChapters { context, book, live, chapters in
      let stranger = context.insert("Chapter")
      let key = ManagedKey<NSOrderedSet>("chapters")
      let read = key[book]
      #expect(chapters.map { read.index(of: $0) } == [0, 1, 2])
      #expect(read.index(of: stranger) == NSNotFound && read.index(of: "0") == NSNotFound)
      #expect(read.copy() as AnyObject === read)
      #expect(read.isEqual(to: NSOrderedSet(array: chapters)))
      #expect(headings(read.array) == ["0", "1", "2"] && read.set == Set<AnyHashable>(chapters))
      let changed = try #require(read.mutableCopy() as? NSMutableOrderedSet)
      changed.add(stranger)
      #expect(headings(read) == ["0", "1", "2"])
      #expect(changed.index(of: stranger) == 3 && read.count == 3)
      live.moveObjects(at: [2], to: 0)
      #expect(chapters.map { key[book].index(of: $0) } == [1, 2, 0])
      #expect(chapters.map { read.index(of: $0) } == [0, 1, 2])
    }
  }

  @Test func `a live ordered set supports every NSOrderedSet read`() throws {
    try withChapters { context, book, live, chapters in
      let stranger = context.insert("Chapter")
      #expect(live.count == 3)
      #expect(headings(live.array) == ["0", "1", "2"])
      #expect(live.set == Set<AnyHashable>(chapters))
      #expect(headings(live) == ["0", "1", "2"])
      #expect(live.firstObject as? NSManagedObject === chapters[0])
      #expect(live.lastObject as? NSManagedObject === chapters[2])
      #expect(headings(live.reversed) == ["2", "1", "0"])
      #expect(headings(live.objectEnumerator()) == ["0", "1", "2"])
      #expect(headings(live.reverseObjectEnumerator()) == ["2", "1", "0"])
      #expect(live.object(at: 1) as? NSManagedObject === chapters[1])
      #expect(live[2] as? NSManagedObject === chapters[2])
      #expect(headings(live.objects(at: [0, 2])) == ["0", "2"])
      #expect(live.index(of: chapters[1]) == 1 && live.index(of: stranger) == NSNotFound)
      #expect(live.contains(chapters[1]) && !live.contains(stranger))
      #expect(live.isEqual(to: NSOrderedSet(array: chapters)))
      #expect(NSOrderedSet(array: chapters).isEqual(to: live))
      #expect(live.isSubset(of: NSOrderedSet(array: chapters)))
      #expect(live.isSubset(of: Set<AnyHashable>(chapters)))
      #expect(live.intersects(NSOrderedSet(array: [chapters[0]])) && live.intersectsSet([chapters[0]]))
      #expect(live.index { object, _, _ in object as AnyObject === chapters[2] } == 2)
      #expect(live.indexes { _, index, _ in index > 0 } == [1, 2])
      var seen: [Int] = []
      live.enumerateObjects { _, index, _ in seen.append(index) }
      live.enumerateObjects(options: .reverse) { _, index, _ in seen.append(index) }
      #expect(seen == [0, 1, 2, 2, 1, 0])
      let backwards = live.sortedArray { left, right in
        headings([right])[0] < headings([left])[0] ? .orderedAscending : .orderedDescending
      }
      #expect(headings(backwards) == ["2", "1", "0"])
      #expect(headings(NSOrderedSet(orderedSet: live)) == ["0", "1", "2"])
      #expect(headings(NSMutableOrderedSet(orderedSet: live)) == ["0", "1", "2"])
      #expect(headings(live.copy() as! NSOrderedSet) == ["0", "1", "2"])
      #expect(headings(live.mutableCopy() as! NSMutableOrderedSet) == ["0", "1", "2"])
      #expect(live.description.contains("Chapter"))
    }
  }

  @Test func `a live ordered set writes through every mutating method`() throws {
    try withChapters { context, book, live, chapters in
      let (a, b) = (context.insert("Chapter", ["heading": "a"]), context.insert("Chapter", ["heading": "b"]))
      /// Returns the members, which Foundation's own storage must agree with.
      func now() -> [String] {
        let stored = headings(live.array)
        #expect(headings(NSOrderedSet(array: (0..<live.count).map { live.object(at: $0) })) == stored)
        return stored
      }
      live.add(a)
      #expect(now() == ["0", "1", "2", "a"] && a.object("book") === book)
      live.insert(b, at: 0)
      #expect(now() == ["b", "0", "1", "2", "a"])
      live.removeObject(at: 0)
      live.remove(a)
      #expect(now() == ["0", "1", "2"] && a.object("book") == nil)
      live.addObjects(from: [a, b])
      #expect(now() == ["0", "1", "2", "a", "b"])
      live.removeObjects(in: [a, b])
      live.insert([a, b], at: [1, 2])
      #expect(now() == ["0", "a", "b", "1", "2"])
      live.removeObjects(at: [1, 2])
      #expect(now() == ["0", "1", "2"])
      live.replaceObject(at: 1, with: a)
      #expect(now() == ["0", "a", "2"])
      live[1] = b
      live.setObject(a, at: 3)
      #expect(now() == ["0", "b", "2", "a"])
      live.replaceObjects(at: [1, 3], with: [a, b])
      #expect(now() == ["0", "a", "2", "b"])
      live.exchangeObject(at: 0, withObjectAt: 3)
      #expect(now() == ["b", "a", "2", "0"])
      live.moveObjects(at: [0], to: 3)
      #expect(now() == ["a", "2", "0", "b"])
      live.removeObjects(in: NSRange(location: 1, length: 1))
      #expect(now() == ["a", "0", "b"])
      live.sort { left, right in
        headings([left])[0] < headings([right])[0] ? .orderedAscending : .orderedDescending
      }
      #expect(now() == ["0", "a", "b"])
      live.sort(
        options: [],
        usingComparator: { left, right in
          headings([left])[0] > headings([right])[0] ? .orderedAscending : .orderedDescending
        })
      #expect(now() == ["b", "a", "0"])
      live.sortRange(NSRange(location: 1, length: 2), options: []) { left, right in
        headings([left])[0] < headings([right])[0] ? .orderedAscending : .orderedDescending
      }
      #expect(now() == ["b", "0", "a"])
      live.minus(NSOrderedSet(array: [b]))
      live.union(NSOrderedSet(array: [b]))
      #expect(now() == ["0", "a", "b"])
      live.minusSet([a])
      live.unionSet([a])
      #expect(now() == ["0", "b", "a"])
      live.intersect(NSOrderedSet(array: [a, b]))
      #expect(now() == ["b", "a"])
      live.intersectSet([a])
      #expect(now() == ["a"])
      live.removeAllObjects()
      #expect(now() == [] && (book.value(forKey: "chapters") as? NSOrderedSet)?.count == 0)
    }
  }

  @Test func `a kept live ordered set shows what is written elsewhere`() throws {
    try withChapters { context, book, live, chapters in
      chapters[1].setValue(nil, forKey: "book")
      #expect(headings(live.array) == ["0", "2"])
      try context.save()
      context.refresh(book, mergeChanges: false)
      chapters[0].setValue(nil, forKey: "book")
      #expect(live.count == 1)
      #expect(headings(live) == ["2"])
    }
  }

  @Test func `value(forKey:) of a to-many casts to Set and NSSet`() throws {
    try withBooks { _, author, _, books in
      #expect(author.value(forKey: "books") as? Set<NSManagedObject> == Set(books))
      #expect((author.value(forKey: "books") as? NSSet)?.count == 3)
      #expect((author.value(forKeyPath: "books") as? NSSet)?.count == 3)
    }
  }

  @Test func `value(forKey:) of an ordered to-many writes through`() throws {
    try withChapters { context, book, _, chapters in
      let set = try #require(book.value(forKey: "chapters") as? NSMutableOrderedSet)
      let added = context.insert("Chapter", ["heading": "new"])
      set.insert(added, at: 0)
      #expect(added.object("book") === book)
      #expect(headings(book.value(forKey: "chapters") as! NSOrderedSet) == ["new", "0", "1", "2"])
      #expect((book.value(forKeyPath: "chapters") as? NSMutableOrderedSet)?.count == 4)
    }
  }

  private static let _books = ManagedKey<NSMutableSet?>("books")
  private static let _chapters = ManagedKey<NSMutableOrderedSet?>("chapters")

  @Test func `accessors declared as mutable sets write through`() throws {
    try withBooks { context, author, _, _ in
      let added = context.insert("Book")
      Self._books[author]?.add(added)
      #expect(added.object("author") === author)
    }
    try withChapters { context, book, _, _ in
      let added = context.insert("Chapter")
      Self._chapters[book]?.insert(added, at: 0)
      #expect(added.object("book") === book)
    }
  }
}
