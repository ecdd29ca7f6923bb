import CoreData
import Foundation
import Testing

@Suite struct RelationshipTests {
  @Test(arguments: Setting.allCases)
  func `setting a to-one maintains the inverse at once`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let eve = stack.context.insert("Author", ["name": "Eve"])
      let book = stack.context.insert("Book", ["author": ada])
      #expect(ada.objects("books") == [book])
      book.setValue(eve, forKey: "author")
      #expect(ada.objects("books").isEmpty)
      #expect(eve.objects("books") == [book])
      book.setValue(nil, forKey: "author")
      #expect(eve.objects("books").isEmpty)
    }
  }

  @Test(arguments: Setting.allCases)
  func `assigning a to-many is diffed`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      let one = stack.context.insert("Book", ["author": ada])
      let two = stack.context.insert("Book")
      ada.setValue([two] as Set<NSManagedObject>, forKey: "books")
      #expect(one.object("author") == nil)
      #expect(two.object("author") === ada)
    }
  }

  @Test(arguments: Setting.allCases)
  func `relationships survive a save`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let tags = ["x", "y"].map { stack.context.insert("Tag", ["name": $0]) }
      for title in ["A", "B", "C"] {
        stack.context.insert("Book", ["title": title, "author": ada, "tags": Set(tags)])
      }
    }
    try stack.save()
    try stack.fresh { context in
      let ada = try #require(try context.all("Author").first)
      #expect(Set(ada.objects("books").compactMap { $0.text("title") }) == ["A", "B", "C"])
      for book in ada.objects("books") {
        #expect(book.object("author") === ada)
        #expect(Set(book.objects("tags").compactMap { $0.text("name") }) == ["x", "y"])
      }
      let tag = try #require(try context.all("Tag").first)
      #expect(tag.objects("books").count == 3)
    }
  }

  @Test(arguments: Setting.allCases)
  func `many-to-many members can be removed`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (book, tag) = stack.context.performAndWait {
      let tags = ["x", "y"].map { stack.context.insert("Tag", ["name": $0]) }
      return (stack.context.insert("Book", ["tags": Set(tags)]), tags[0])
    }
    try stack.save()
    stack.context.performAndWait { tag.setValue(Set<NSManagedObject>(), forKey: "books") }
    try stack.save()
    stack.context.performAndWait { #expect(book.objects("tags").count == 1) }
    try stack.fresh { context in
      try #expect(context.all("Book").first?.objects("tags").compactMap { $0.text("name") } == ["y"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `ordered relationship keeps its order`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = stack.context.performAndWait {
      let chapters = ["c", "a", "b"].map { stack.context.insert("Chapter", ["heading": $0]) }
      return stack.context.insert("Book", ["chapters": NSOrderedSet(array: chapters)])
    }
    func headings(_ book: NSManagedObject?) -> [String] {
      (book?.value(forKey: "chapters") as? NSOrderedSet)?.compactMap {
        ($0 as? NSManagedObject)?.text("heading")
      } ?? []
    }
    try stack.save()
    try stack.fresh { try #expect(headings($0.all("Book").first) == ["c", "a", "b"]) }
    stack.context.performAndWait {
      let ordered = book.mutableOrderedSetValue(forKey: "chapters")
      let first = ordered.object(at: 0)
      ordered.removeObject(at: 0)
      ordered.insert(first, at: 2)
      ordered.insert(stack.context.insert("Chapter", ["heading": "d"]), at: 0)
      #expect(headings(book) == ["d", "a", "b", "c"])
    }
    try stack.save()
    try stack.fresh { try #expect(headings($0.all("Book").first) == ["d", "a", "b", "c"]) }
  }

  @Test(arguments: Setting.allCases)
  func `cascade deletes and nullify clears`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let pupil = stack.context.insert("Author", ["name": "Pupil", "mentor": ada])
      _ = pupil
      let book = stack.context.insert("Book", ["author": ada])
      stack.context.insert("Chapter", ["book": book])
      return ada
    }
    try stack.save()
    stack.context.performAndWait {
      stack.context.delete(ada)
      #expect(ada.isDeleted)
    }
    try stack.save()
    try stack.fresh { context in
      try #expect(context.count("Book") == 0)
      try #expect(context.count("Chapter") == 0)
      let left = try context.all("Author")
      #expect(left.map { $0.text("name") } == ["Pupil"])
      #expect(left.first?.object("mentor") == nil)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a link change marks both ends updated`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (ada, book) = stack.context.performAndWait {
      (stack.context.insert("Author"), stack.context.insert("Book"))
    }
    try stack.save()
    stack.context.performAndWait {
      book.setValue(ada, forKey: "author")
      #expect(stack.context.updatedObjects == [ada, book])
    }
  }

  @Test(arguments: Setting.allCases)
  func `setting the inverse does not read the other ends members`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      stack.context.insert("Book", ["author": ada])
    }
    try stack.save()
    try stack.fresh { context in
      let ada = try #require(try context.all("Author").first)
      context.insert("Book", ["author": ada])
      #expect(ada.hasFault(forRelationshipNamed: "books"))
      #expect(ada.objects("books").count == 2)
      try context.save()
      #expect(ada.objects("books").count == 2)
    }
    try stack.fresh { try #expect($0.all("Author").first?.objects("books").count == 2) }
  }

  @Test(arguments: Setting.allCases)
  func `object IDs of a relationship are given without objects`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      for _ in 0..<3 { stack.context.insert("Book", ["author": ada]) }
    }
    try stack.save()
    try stack.fresh { context in
      let ada = try #require(try context.all("Author").first)
      #expect(ada.objectIDs(forRelationshipNamed: "books").count == 3)
      #expect(ada.hasFault(forRelationshipNamed: "books"))
      #expect(context.registeredObjects == [ada])
    }
  }
}
