import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Objects keep their identity while other threads link their temporary IDs to permanent ones.
@Suite struct LinkedIDTests {
  private let _stack: TestStack

  init() throws { _stack = try TestStack(.sqlite) }

  /// Returns a temporary ID, and the permanent ID that it is linked to when asked.
  private func _author() throws -> (temporary: NSManagedObjectID, permanent: NSManagedObjectID) {
    let temporary = _stack.root.performAndWait { _stack.root.insert("Author", [:]).objectID }
    let space = try _stack.fresh { context in
      let author = context.insert("Author", ["name": "Ada"])
      try context.save()
      return author.objectID.space
    }
    return (temporary, NSManagedObjectID(ObjectKey(space: space, reference: 1_000)))
  }

  @Test func `a set knows an object that is linked after it was inserted`() throws {
    let (temporary, permanent) = try _author()
    var objects = IdentitySet([temporary])
    temporary.link(to: permanent)
    #expect(objects.contains(temporary))
    let isNew = objects.insert(temporary)
    #expect(!isNew)
  }

  @Test func `a set knows an object that was linked before, by both IDs`() throws {
    let (temporary, permanent) = try _author()
    temporary.link(to: permanent)
    var objects = IdentitySet([temporary])
    #expect(objects.contains(temporary))
    #expect(objects.contains(permanent))
    let key = try #require(permanent.key)
    #expect(objects.contains(key))
    let wasThere = objects.remove(permanent)
    #expect(wasThere)
    #expect(!objects.contains(permanent))
  }

  @Test func `IDs mean the same object before and after they are linked`() throws {
    let (temporary, permanent) = try _author()
    #expect(temporary.isSameObject(as: temporary))
    #expect(!temporary.isSameObject(as: permanent))
    temporary.link(to: permanent)
    #expect(temporary.isSameObject(as: permanent))
    #expect(permanent.isSameObject(as: temporary))
    #expect(Value.pending(temporary).refers(to: permanent))
    #expect(Value.pending(temporary).refers(to: temporary))
  }

  @Test func `a mark is behind after a link, and up to date once it has advanced`() throws {
    let (temporary, permanent) = try _author()
    var mark = LinkedIDs.Mark()
    _ = mark.advance()
    temporary.link(to: permanent)
    let isBehind = mark.advance()
    #expect(isBehind)
  }

  @Test func `a to-many change keeps members that are linked while it is composed`() throws {
    let (temporary, permanent) = try _author()
    let added = ToManyDelta(added: [temporary], removed: [], order: nil)
    let removed = ToManyDelta(added: [], removed: [temporary], order: nil)
    temporary.link(to: permanent)
    let later = ToManyDelta(added: [], removed: [permanent], order: nil)
    #expect(added.followed(by: later).added.isEmpty)
    #expect(ToManyDelta.composed([added, removed]).added == [temporary])
    #expect(ToManyDelta.composed([later, added]).removed == [permanent])
  }

  @Test func `links are found by the owner's ID of before and of after it was linked`() throws {
    let child = _stack.child(of: _stack.root)
    let (book, author) = try child.performAndWait {
      let author = child.insert("Author", ["name": "Ada"])
      let book = child.insert("Book", ["title": "Notes"])
      book.setValue(author, forKey: "author")
      try child.save()
      return (book.objectID, author.objectID)
    }
    let layers = _stack.root.overlay.layers
    let layout = author.space.layout
    let slot = try #require(layout.slots.firstIndex { $0.name == "books" })
    let ends = try #require(LinkEnds(toMany: slot, of: layout))
    #expect(layers.members(ends, of: author) == [book])
    let permanent = try _author().permanent
    author.link(to: permanent)
    #expect(layers.members(ends, of: author) == [book])
    #expect(layers.members(ends, of: permanent) == [book])
  }

  /// Inserts an author that a child reads under its temporary ID, changes it under its permanent one, and
  /// returns the names that the child then fetches; the same names must be saved.
  private func names(_ setting: Setting, changing change: (NSManagedObject) -> Void) throws -> [String?] {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.context)
    let names = try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      // Reading publishes the unsaved changes, under the temporary ID.
      try #expect(child.performAndWait { try child.count("Author") } == 1)
      try stack.context.obtainPermanentIDs(for: [ada])
      change(ada)
      return try child.performAndWait { try child.all("Author").map { $0.text("name") } }
    }
    try stack.save()
    try stack.fresh { try #expect($0.all("Author").map { $0.text("name") } == names) }
    return names
  }

  @Test(arguments: Setting.allCases)
  func `an object deleted after it got its ID is not saved`(_ setting: Setting) throws {
    try #expect(names(setting) { $0.managedObjectContext?.delete($0) } == [])
  }

  @Test(arguments: Setting.allCases)
  func `an object changed after it got its ID is there once`(_ setting: Setting) throws {
    try #expect(names(setting) { $0.setValue("Grace", forKey: "name") } == ["Grace"])
  }
}
