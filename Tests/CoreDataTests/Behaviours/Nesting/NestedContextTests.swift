import CoreData
import Foundation
import Testing

@Suite struct NestedContextTests {
  @Test(arguments: Setting.direct)
  func `a childs changes are invisible to the parent until it saves`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      child.insert("Author", ["name": "Ada"])
      try #expect(stack.root.performAndWait { try stack.root.count("Author") } == 0)
      try child.save()
      #expect(!child.hasChanges)
    }
    try stack.root.performAndWait {
      #expect(stack.root.hasChanges)
      #expect(stack.root.insertedObjects.count == 1)
      try #expect(stack.root.all("Author").map { $0.text("name") } == ["Ada"])
    }
    try #expect(stack.fresh { try $0.count("Author") } == 0)
    try stack.root.performAndWait { try stack.root.save() }
    try #expect(stack.fresh { try $0.count("Author") } == 1)
  }

  @Test(arguments: Setting.direct)
  func `a child sees what its parent has not saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.root)
    stack.root.performAndWait { _ = stack.root.insert("Author", ["name": "Ada"]) }
    try child.performAndWait {
      let ada = try #require(try child.all("Author").first)
      #expect(ada.text("name") == "Ada")
      #expect(ada.objectID.isTemporaryID)
      try #expect(child.count("Author") == 1)
    }
  }

  @Test(arguments: Setting.direct)
  func `unsaved changes of an ancestor decide what a child finds`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.root.performAndWait {
      for name in ["A", "B", "C"] { stack.root.insert("Author", ["name": name]) }
      try stack.root.save()
      let authors = try stack.root.all("Author").reduce(into: [:]) { $0[$1.text("name")!] = $1 }
      authors["A"]!.setValue("Z", forKey: "name")
      stack.root.delete(authors["B"]!)
    }
    let middle = stack.child(of: stack.root)
    let child = stack.child(of: middle)
    try child.performAndWait {
      try #expect(Set(child.all("Author").compactMap { $0.text("name") }) == ["C", "Z"])
      try #expect(child.count("Author") == 2)
    }
  }

  @Test(arguments: Setting.direct)
  func `saves climb one level at a time`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let middle = stack.child(of: stack.root)
    let worker = stack.child(of: middle)
    try worker.performAndWait {
      for index in 0..<10 { worker.insert("Author", ["name": "\(index)"]) }
      try worker.save()
    }
    #expect(middle.performAndWait { middle.hasChanges })
    #expect(!stack.root.performAndWait { stack.root.hasChanges })
    try middle.performAndWait { try middle.save() }
    #expect(!middle.performAndWait { middle.hasChanges })
    #expect(stack.root.performAndWait { stack.root.hasChanges })
    try stack.root.performAndWait { try stack.root.save() }
    try #expect(stack.fresh { try $0.count("Author") } == 10)
    try #expect(worker.performAndWait { try worker.count("Author") } == 10)
  }

  @Test(arguments: Setting.direct)
  func `the last child to save wins property`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    _ = try stack.stored("Author", ["name": "Ada", "age": 1])
    let one = stack.child(of: stack.root)
    let two = stack.child(of: stack.root)
    let first = try one.performAndWait { try #require(try one.all("Author").first) }
    let second = try two.performAndWait { try #require(try two.all("Author").first) }
    one.performAndWait { first.setValue("One", forKey: "name") }
    two.performAndWait { second.setValue(2, forKey: "age") }
    try one.performAndWait { try one.save() }
    try two.performAndWait { try two.save() }
    try stack.root.performAndWait { try stack.root.save() }
    try stack.fresh { context in
      let ada = try #require(try context.all("Author").first)
      #expect(ada.text("name") == "One")
      #expect(ada.value(forKey: "age") as? Int == 2)
    }
  }

  @Test(arguments: Setting.direct)
  func `a childs save reaches objects the parent holds`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let held = try stack.stored("Author", ["name": "Ada"])
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      try child.all("Author").first?.setValue("Grace", forKey: "name")
      try child.save()
    }
    stack.root.performAndWait {
      #expect(held.text("name") == "Grace")
      #expect(held.isUpdated)
      #expect(held.committedValues(forKeys: ["name"])["name"] as? String == "Ada")
    }
  }

  @Test(arguments: Setting.direct)
  func `relationships climb with their objects`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada"])
      stack.root.insert("Book", ["title": "old", "author": ada])
      try stack.root.save()
      #expect(ada.objects("books").count == 1)
      return ada
    }
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      let own = child.object(with: ada.objectID)
      child.insert("Book", ["title": "new", "author": own])
      try child.save()
    }
    stack.root.performAndWait {
      #expect(Set(ada.objects("books").compactMap { $0.text("title") }) == ["old", "new"])
    }
    let other = stack.child(of: stack.root)
    other.performAndWait {
      let own = other.object(with: ada.objectID)
      #expect(Set(own.objects("books").compactMap { $0.text("title") }) == ["old", "new"])
    }
    try stack.root.performAndWait { try stack.root.save() }
    try stack.fresh { try #expect($0.all("Author").first?.objects("books").count == 2) }
  }

  @Test(arguments: Setting.direct)
  func `a delete climbs`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    _ = try stack.stored("Author", ["name": "Ada"])
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      child.delete(try #require(try child.all("Author").first))
      try child.save()
      try #expect(child.count("Author") == 0)
    }
    try stack.root.performAndWait {
      #expect(stack.root.deletedObjects.count == 1)
      try #expect(stack.root.count("Author") == 0)
      try stack.root.save()
    }
    try #expect(stack.fresh { try $0.count("Author") } == 0)
  }

  @Test(arguments: Setting.direct)
  func `inserting and deleting over two saves of a child is a no-op`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      let ada = child.insert("Author")
      try child.save()
      child.delete(ada)
      try child.save()
    }
    try stack.root.performAndWait {
      try #expect(stack.root.count("Author") == 0)
      try stack.root.save()
    }
    try #expect(stack.fresh { try $0.count("Author") } == 0)
  }

  @Test(arguments: Setting.direct)
  func `transient values go up to the parent`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = try stack.stored("Book")
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      child.object(with: book.objectID).setValue("marked", forKey: "mark")
      try child.save()
    }
    try stack.root.performAndWait {
      #expect(book.text("mark") == "marked")
      #expect(!book.hasPersistentChangedValues)
      book.setValue("title", forKey: "title")
      try stack.root.save()
      book.setValue("title 2", forKey: "title")
      try stack.root.save()
    }
  }

  @Test(arguments: Setting.direct)
  func `the parent announces each child save`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.root)
    let log = NotificationLog(stack.root)
    try child.performAndWait {
      let one = child.insert("Author")
      child.insert("Author")
      try child.save()
      one.setValue("x", forKey: "name")
      try child.save()
      child.delete(one)
      try child.save()
    }
    #expect(log.changes == ["inserted 2", "updated 1", "deleted 1"])
    try stack.root.performAndWait { try stack.root.save() }
    #expect(log.saves == ["inserted 1"])
  }

  @Test(arguments: Setting.direct)
  func `rolling back a child's deletion restores relationships`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let ada = try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada"])
      stack.root.insert("Book", ["author": ada])
      try stack.root.save()
      #expect(ada.objects("books").count == 1)
      return ada
    }
    let child = stack.child(of: stack.root)
    try child.performAndWait {
      child.delete(child.object(with: ada.objectID))
      try child.save()
    }
    stack.root.performAndWait {
      #expect(ada.isDeleted)
      stack.root.rollback()
      #expect(!ada.isDeleted)
      #expect(ada.objects("books").count == 1)
      #expect(ada.objects("books").first?.object("author") === ada)
    }
  }

  @Test func `merges from the parent come by themselves when asked for`() throws {
    let stack = try TestStack(.sqlite)
    let child = stack.child(of: stack.root)
    child.automaticallyMergesChangesFromParent = true
    let ada = try stack.stored("Author", ["name": "Ada"])
    let own = child.performAndWait {
      let own = child.object(with: ada.objectID)
      #expect(own.text("name") == "Ada")
      return own
    }
    try stack.root.performAndWait {
      ada.setValue("Grace", forKey: "name")
      try stack.root.save()
    }
    child.performAndWait {}
    child.performAndWait { #expect(own.text("name") == "Grace") }
  }
}

/// Records a context's notifications as text.
final class NotificationLog: @unchecked Sendable {
  // Unchecked: written on the observed context's queue, read after its work is done.
  private(set) var changes: [String] = []
  private(set) var saves: [String] = []
  private var _tokens: [any NSObjectProtocol] = []

  init(_ context: NSManagedObjectContext) {
    _tokens.append(
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { [unowned self] in changes.append(Self.words($0)) })
    _tokens.append(
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { [unowned self] in saves.append(Self.words($0)) })
  }

  deinit { for token in _tokens { NotificationCenter.default.removeObserver(token) } }

  private static func words(_ notification: Notification) -> String {
    [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey].compactMap {
      key in
      guard let objects = notification.userInfo?[key] as? Set<NSManagedObject>, !objects.isEmpty else {
        return nil
      }
      return "\(key) \(objects.count)"
    }.joined(separator: ", ")
  }
}
