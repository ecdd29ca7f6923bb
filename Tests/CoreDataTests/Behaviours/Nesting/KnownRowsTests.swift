import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// The rows that a context knows for objects that a child has changed, while others keep saving.
@Suite struct KnownRowsTests {
  @Test(arguments: Setting.direct)
  func `a row is the same for as long as a layer is taken over`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.stored("Author", ["name": "Ada", "age": 1])
    let base = try #require(ada._row)
    let entry = ChangeLayer.Entry(
      kind: .updated, id: ada._objectID, base: base, row: base, changed: SlotSet(), isWhole: false)
    let parent = stack.sibling()
    let known = KnownRows(in: parent)
    let first = try #require(known.row(for: entry, nil))
    try stack.root.performAndWait {
      ada.setValue(2, forKey: "age")
      try stack.root.save()
    }
    let again = try #require(known.row(for: entry, nil))
    #expect(again === first)
    let later = try #require(KnownRows(in: parent).row(for: entry, nil))
    #expect(later.version > first.version)
  }

  /// Another context has saved since, and the row has left the cache: only the store knows whether it exists.
  @Test(arguments: Setting.direct)
  func `a late insertion is read where no context has it`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let writer = stack.root, reader = stack.sibling()
    let insertion = try writer.saved { writer.insert("Author", ["name": "Ada"]) }
    _ = try writer.saved { writer.insert("Author", ["name": "Bob"]) }
    stack.coordinator.rowCache.removeAll()
    let reads = stack.coordinator.rowReads.load(ordering: .relaxed)
    reader.performAndWait {
      reader.retainsRegisteredObjects = true
      reader.mergeChanges(fromContextDidSave: insertion)
      #expect(reader.registeredObjects.map { $0.text("name") } == ["Ada"])
    }
    #expect(stack.coordinator.rowReads.load(ordering: .relaxed) == reads + 1)
  }

  /// The child read the object before the change that its parent inserted it with: both have version 1.
  @Test(arguments: Setting.direct)
  func `a rollback restores what was saved, not what a child read`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root, child = stack.child(of: root)
    let mentors = try ["Old", "New"].map { try stack.stored("Author", ["name": $0]).objectID }
    let pupil = root.performAndWait { root.insert("Author", ["name": "Pupil"]) }
    let read = try child.performAndWait {
      try #require(try child.all("Author").first { $0.text("name") == "Pupil" })
    }
    child.performAndWait { #expect(read.object("mentor") == nil) }
    let id = try root.performAndWait {
      pupil.setValue(root.object(with: mentors[0]), forKey: "mentor")
      try root.save()
      let id = pupil.objectID
      root.reset()
      return id
    }
    try child.performAndWait {
      read.setValue(child.object(with: mentors[1]), forKey: "mentor")
      try child.save()
    }
    root.performAndWait {
      let pupil = root.object(with: id)
      #expect(pupil.object("mentor")?.objectID == mentors[1])
      root.rollback()
      #expect(pupil.object("mentor")?.objectID == mentors[0])
      #expect(root.object(with: mentors[0]).objects("pupils") == [pupil])
    }
  }

  /// The parent knows the object only because it loses a link; its own saves are not a conflict.
  @Test(arguments: Setting.direct)
  func `a childs change to what loses a link is of the newest row`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let root = stack.root, child = stack.child(of: root)
    let ids = try ["Old", "New", "Pupil"].map { try stack.stored("Author", ["name": $0]).objectID }
    let read = child.performAndWait { ids.map { child.object(with: $0) } }
    child.performAndWait { #expect(read.compactMap { $0.text("name") }.count == 3) }
    try root.performAndWait {
      root.object(with: ids[2]).setValue(root.object(with: ids[0]), forKey: "mentor")
      try root.save()
      root.reset()
    }
    try child.performAndWait {
      read[0].setValue(5, forKey: "age")
      read[2].setValue(read[1], forKey: "mentor")
      try child.save()
    }
    try root.performAndWait { try root.save() }
    stack.fresh { context in
      #expect(context.object(with: ids[0]).value(forKey: "age") as? Int == 5)
      #expect(context.object(with: ids[2]).object("mentor")?.objectID == ids[1])
    }
  }
}
