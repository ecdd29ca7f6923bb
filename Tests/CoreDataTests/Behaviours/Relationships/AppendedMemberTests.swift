import CoreData
import Foundation
import Testing

@testable import CoreData

/// Members appended to an ordered to-many are saved without those before them.
@Suite struct AppendedMemberTests {
  private func _book(_ stack: TestStack, _ headings: [String]) throws -> NSManagedObjectID {
    let book = stack.context.performAndWait {
      let book = stack.context.insert("Book", ["title": "B"])
      for heading in headings { _append(heading, to: book, in: stack.context) }
      return book
    }
    try stack.save()
    return stack.context.performAndWait { book.objectID }
  }

  private func _append(_ heading: String, to book: NSManagedObject, in context: NSManagedObjectContext) {
    let chapter = context.insert("Chapter", ["heading": heading])
    book.mutableOrderedSetValue(forKey: "chapters").add(chapter)
  }

  private func _headings(_ book: NSManagedObject) -> [String?] {
    (book.value(forKey: "chapters") as? NSOrderedSet)?.map { ($0 as? NSManagedObject)?.text("heading") } ?? []
  }

  private func _stored(_ stack: TestStack) throws -> [String?] {
    try stack.fresh { context in try _headings(context.all("Book")[0]) }
  }

  @Test(arguments: Setting.allCases)
  func `members keep the order in which they were appended over several saves`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try _book(stack, ["a", "b"])
    for heading in ["c", "d", "e"] {
      stack.context.performAndWait { _append(heading, to: stack.context.object(with: id), in: stack.context) }
      try stack.save()
    }
    #expect(try _stored(stack) == ["a", "b", "c", "d", "e"])
  }

  @Test(arguments: Setting.allCases)
  func `several members are appended at once`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try _book(stack, ["a"])
    stack.context.performAndWait {
      let book = stack.context.object(with: id)
      for heading in ["b", "c", "d"] { _append(heading, to: book, in: stack.context) }
    }
    try stack.save()
    #expect(try _stored(stack) == ["a", "b", "c", "d"])
  }

  @Test(arguments: Setting.allCases)
  func `a member appended after a move keeps its place`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try _book(stack, ["a", "b", "c"])
    stack.context.performAndWait {
      let book = stack.context.object(with: id)
      book.mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [2], to: 0)
      _append("d", to: book, in: stack.context)
    }
    try stack.save()
    #expect(try _stored(stack) == ["c", "a", "b", "d"])
  }

  @Test(arguments: Setting.allCases)
  func `a member appended in place of a removed one follows the others`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try _book(stack, ["a", "b", "c"])
    stack.context.performAndWait {
      let book = stack.context.object(with: id)
      let chapters = book.mutableOrderedSetValue(forKey: "chapters")
      let last = chapters.lastObject as! NSManagedObject
      chapters.remove(last)
      _append("d", to: book, in: stack.context)
      chapters.add(last)
    }
    try stack.save()
    #expect(try _stored(stack) == ["a", "b", "d", "c"])
  }

  @Test func `a child appends to what its parent has moved`() throws {
    let stack = try TestStack(.sqlite)
    let id = try _book(stack, ["a", "b", "c"])
    let child = stack.child(of: stack.root)
    stack.root.performAndWait {
      stack.root.object(with: id).mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [2], to: 0)
    }
    try child.performAndWait {
      _append("d", to: child.object(with: id), in: child)
      try child.save()
    }
    try stack.root.performAndWait { try stack.root.save() }
    #expect(try _stored(stack) == ["c", "a", "b", "d"])
  }

  @Test func `a child appends twice before its parent saves`() throws {
    let stack = try TestStack(.sqlite)
    let id = try _book(stack, ["a"])
    let child = stack.child(of: stack.root)
    for heading in ["b", "c"] {
      try child.performAndWait {
        _append(heading, to: child.object(with: id), in: child)
        try child.save()
      }
    }
    try stack.root.performAndWait { try stack.root.save() }
    #expect(try _stored(stack) == ["a", "b", "c"])
  }

  @Test(arguments: [Setting.sqlite, .memory])
  func `contexts that append at the same time lose no member and keep their own order`(
    _ setting: Setting
  ) throws {
    let stack = try TestStack(setting)
    let id = try _book(stack, ["a"])
    let other = stack.sibling()
    for context in [stack.context, other] {
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      context.performAndWait { #expect(_headings(context.object(with: id)) == ["a"]) }
    }
    for (context, headings) in [(stack.context, ["b", "c"]), (other, ["x", "y"])] {
      try context.performAndWait {
        for heading in headings { _append(heading, to: context.object(with: id), in: context) }
        try context.save()
      }
    }
    let stored = try _stored(stack)
    #expect(stored.first == "a")
    #expect(Set(stored) == ["a", "b", "c", "x", "y"])
    #expect(stored.count == 5)
    #expect(stored.filter { $0 == "b" || $0 == "c" } == ["b", "c"])
    #expect(stored.filter { $0 == "x" || $0 == "y" } == ["x", "y"])
  }
}
