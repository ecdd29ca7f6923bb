import Foundation
import Testing

@testable import CoreData

/// Saves that are merged after the receiver has changed or saved.
@Suite struct LateMergeTests {
  /// Returns an author, the saving context, and a child of it.
  private func family(_ stack: TestStack) throws -> (
    id: NSManagedObjectID, parent: NSManagedObjectContext, child: NSManagedObjectContext
  ) {
    (try stack.stored("Author", ["name": "Ada"]).objectID, stack.context, stack.child(of: stack.context))
  }

  /// Versions count saves into the store, so they do not reflect the order of saves between contexts.
  @Test(arguments: Setting.nested)
  func `a child takes its parents save though it has saved often`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (id, parent, child) = try family(stack)
    parent.performAndWait { parent.object(with: id).setValue(2, forKey: "age") }
    try child.performAndWait {
      let ada = child.object(with: id)
      #expect(ada.objects("books").isEmpty)
      for age in 3...5 {
        ada.setValue(age, forKey: "age")
        try child.save()
      }
    }
    let notification = try parent.saved {
      parent.insert("Book", ["title": "B", "author": parent.object(with: id)])
    }
    child.performAndWait {
      let ada = child.object(with: id)
      child.mergeChanges(fromContextDidSave: notification)
      #expect(ada.objects("books").count == 1)
      #expect(ada.value(forKey: "age") as? Int == 5)
    }
  }

  @Test(arguments: Setting.nested)
  func `a child keeps what it saved when an older save comes late`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (id, parent, child) = try family(stack)
    let notification = try parent.saved { parent.object(with: id).setValue("First", forKey: "name") }
    try child.performAndWait {
      child.object(with: id).setValue("Second", forKey: "name")
      try child.save()
      let ada = child.object(with: id)
      ada.willAccessValue(forKey: nil)
      child.mergeChanges(fromContextDidSave: notification)
      #expect(ada.text("name") == "Second")
    }
  }

  @Test(arguments: Setting.nested)
  func `a child hears that its parent took a link back`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (id, parent, child) = try family(stack)
    let bookID = try parent.performAndWait {
      let book = parent.insert("Book", ["title": "B"])
      try parent.save()
      try stack.root.performAndWait { try stack.root.save() }
      return book.objectID
    }
    let book = try child.performAndWait {
      let book = child.object(with: bookID)
      book.setValue(child.object(with: id), forKey: "author")
      try child.save()
      return book
    }
    // Back to the stored value: nothing is written, but it is a change for a context that saw the link.
    let notification = try parent.saved { parent.object(with: bookID).setValue(nil, forKey: "author") }
    child.performAndWait {
      child.mergeChanges(fromContextDidSave: notification)
      #expect(book.object("author") == nil)
      #expect(child.object(with: id).objects("books").isEmpty)
    }
  }

  /// The same for an object that was never stored.
  @Test(arguments: Setting.direct)
  func `a child hears that its parent took a member back`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (id, parent, child) = (try stack.stored("Author").objectID, stack.root, stack.child(of: stack.root))
    let ada = child.performAndWait { child.object(with: id) }
    child.performAndWait { #expect(ada.value(forKey: "age") != nil) }
    let pupil = parent.performAndWait { parent.insert("Author", ["mentor": parent.object(with: id)]) }
    child.performAndWait { #expect(ada.objects("pupils").count == 1) }
    let notification = try parent.saved { parent.delete(pupil) }
    child.performAndWait {
      child.mergeChanges(fromContextDidSave: notification)
      #expect(ada.objects("pupils").isEmpty)
    }
  }

  @Test(arguments: Setting.direct)
  func `a sibling keeps what it saved when an older save comes late`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try stack.stored("Author", ["name": "Ada"]).objectID
    let other = stack.sibling()
    let notification = try stack.root.saved { stack.root.object(with: id).setValue("First", forKey: "name") }
    try other.performAndWait {
      let ada = other.object(with: id)
      ada.setValue("Second", forKey: "name")
      try other.save()
      other.mergeChanges(fromContextDidSave: notification)
      #expect(ada.text("name") == "Second")
    }
  }

  /// A fault may have values that were never read.
  @Test(arguments: Setting.direct)
  func `a fault keeps its fetched values when older saves arrive`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let insertion = try stack.root.saved { stack.root.insert("Author", ["name": "Ada"]) }
    let writer = stack.sibling()
    let update = try writer.saved { try writer.all("Author").first?.setValue("First", forKey: "name") }
    _ = try writer.saved { try writer.all("Author").first?.setValue("Second", forKey: "name") }
    for late in [insertion, update] {
      let reader = stack.sibling()
      try reader.performAndWait {
        let found = try reader.all("Author")
        #expect(found.count == 1 && found[0].isFault)
        reader.mergeChanges(fromContextDidSave: late)
        #expect(found[0].text("name") == "Second")
      }
    }
  }

  /// At the time of the merge the object was not registered, or was a fault.
  @Test(arguments: Setting.direct, [false, true])
  func `a late insertion does not hide a newer row`(
    _ setting: Setting, isKnown: Bool
  ) throws {
    let stack = try TestStack(setting)
    let insertion = try stack.root.saved { stack.root.insert("Author", ["name": "Ada"]) }
    let writer = stack.sibling()
    let update = try writer.saved { try writer.all("Author").first?.setValue("Second", forKey: "name") }
    let id = try #require(try writer.performAndWait { try writer.all("Author").first?.objectID })
    let reader = stack.sibling()
    try reader.performAndWait {
      reader.retainsRegisteredObjects = true
      let fault = isKnown ? reader.object(with: id) : nil
      reader.mergeChanges(fromContextDidSave: update)
      reader.mergeChanges(fromContextDidSave: insertion)
      let author = try fault ?? #require(reader.registeredObject(for: id))
      #expect(author.text("name") == "Second")
      author.setValue("Third", forKey: "name")
      #expect(throws: Never.self, "it has not changed since") { try reader.save() }
    }
  }

  @Test(arguments: Setting.direct)
  func `an object keeps what it shows when its insertion comes late`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let insertion = try stack.root.saved { stack.root.insert("Author", ["name": "Ada"]) }
    let reader = stack.sibling()
    try reader.performAndWait {
      let author = try #require(try reader.all("Author").first)
      author.setValue("Second", forKey: "name")
      try reader.save()
      reader.mergeChanges(fromContextDidSave: insertion)
      #expect(author.text("name") == "Second")
    }
  }

  /// The save reports the object with the row that its context has.
  @Test(arguments: Setting.direct, [false, true])
  func `a child keeps what its parent saved when a save that writes nothing comes late`(
    _ setting: Setting, _ isNested: Bool
  ) throws {
    let stack = try TestStack(setting)
    let (id, parent) = (try stack.stored("Author", ["name": "First", "age": 1]).objectID, stack.sibling())
    let child = stack.child(of: parent)
    let ada = try child.performAndWait { try child.existingObject(with: id) }
    let other = isNested ? stack.child(of: parent) : stack.sibling()
    let known = try other.performAndWait { try other.existingObject(with: id) }
    let rename = try parent.saved { try parent.existingObject(with: id).setValue("Second", forKey: "name") }
    child.performAndWait { child.mergeChanges(fromContextDidSave: rename) }
    // The cache may have let go of the row.
    stack.coordinator.rowCache.removeAll { true }
    let notification = try other.saved { known.setValue(1, forKey: "age") }
    child.performAndWait {
      #expect(ada.text("name") == "Second")
      child.mergeChanges(fromContextDidSave: notification)
      #expect(ada.text("name") == "Second")
    }
  }
}

/// Members that were read before the context rolled back.
@Suite struct RolledBackMembersTests {
  @Test func `an insertion that comes late with a later change shows it though the cache is empty`() throws {
    let stack = try TestStack(.sqlite)
    let (main, other) = (stack.root, stack.coordinator.newContext())
    main.automaticallyMergesChangesFromParent = true
    try main.performAndWait {
      let change = { (name: String) in
        try other.performAndWait {
          let ada = try other.all("Author").first ?? other.insert("Author")
          ada.setValue(name, forKey: "name")
          try other.save()
        }
      }
      try change("Ada")
      try change("Augusta")
      try #expect(main.all("Author").map { $0.text("name") } == ["Augusta"])
      try change("Countess")
      stack.coordinator.rowCache.removeAll()
    }
    try main.performAndWait { try #expect(main.all("Author").map { $0.text("name") } == ["Countess"]) }
  }

  @Test(arguments: Setting.direct)
  func `an object deleted elsewhere is no member after a rollback`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada"])
      let book = context.insert("Book", ["title": "Notes", "author": ada])
      try context.save()
      #expect(ada.objects("books") == [book])
      context.insert("Author")
      context.rollback()
      // As a fault, the book does not say whose member it is.
      context.refresh(book, mergeChanges: false)
      let other = stack.sibling()
      try other.performAndWait {
        other.delete(other.object(with: book.objectID))
        try other.save()
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectsKey: [book.objectID]], into: [context])
      #expect(ada.objects("books").isEmpty)
    }
  }
}

/// Links whose two ends were read at different times.
@Suite struct StaleEndTests {
  /// A book that a context read as one author's before another context moved it to another author.
  private struct Moved {
    let context: NSManagedObjectContext
    let book: NSManagedObject
    let old: NSManagedObjectID
    let new: NSManagedObjectID
  }

  /// Moves the book in the context's parent or in its sibling.
  private func moved(_ stack: TestStack) throws -> Moved {
    let (book, old, new) = try stack.root.performAndWait {
      let old = stack.root.insert("Author", ["name": "old"]),
        new = stack.root.insert("Author", ["name": "new"])
      let book = stack.root.insert("Book", ["title": "B", "author": old])
      try stack.root.save()
      return (book, old, new)
    }
    let context = stack.setting.isNested ? stack.context : stack.sibling()
    let read = context.performAndWait {
      let read = context.object(with: book.objectID)
      read.willAccessValue(forKey: nil)
      return read
    }
    try stack.root.performAndWait {
      book.setValue(new, forKey: "author")
      if !stack.setting.isNested { try stack.root.save() } else { stack.root.processPendingChanges() }
    }
    return Moved(context: context, book: read, old: old.objectID, new: new.objectID)
  }

  @Test(arguments: Setting.allCases)
  func `adding a member that was moved away meanwhile moves it back`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let moved = try moved(stack)
    let (context, book) = (moved.context, moved.book)
    try context.performAndWait {
      // First read now, so without the book. The book itself still refers to the old author.
      let old = context.object(with: moved.old)
      context.refresh(old, mergeChanges: false)
      old.setValue(Set([book]), forKey: "books")
      #expect(book.object("author") === old)
      try context.save()
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    stack.fresh { context in
      #expect(context.object(with: moved.old).objects("books").count == 1)
      #expect(context.object(with: moved.new).objects("books").isEmpty)
    }
  }

  @Test(arguments: Setting.allCases)
  func `removing a member that came meanwhile takes it out`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let moved = try moved(stack)
    let (context, book) = (moved.context, moved.book)
    try context.performAndWait {
      let new = context.object(with: moved.new)
      context.refresh(new, mergeChanges: false)
      #expect(new.objects("books") == [book])
      new.setValue(Set<NSManagedObject>(), forKey: "books")
      #expect(book.object("author") == nil)
      try context.save()
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    stack.fresh { context in #expect(context.object(with: book.objectID).object("author") == nil) }
  }
}
