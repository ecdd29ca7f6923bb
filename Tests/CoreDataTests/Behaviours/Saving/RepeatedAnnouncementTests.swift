import CoreData
import Foundation
import Testing

/// The notifications that a context posts for a save, and their thread.
@Suite struct RepeatedAnnouncementTests {
  @Test(arguments: Setting.allCases)
  func `a deleted object is found by ID while it is announced`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    try context.performAndWait {
      let author = context.insert("Author", ["name": "Ada"])
      try context.save()
      let id = author.objectID
      nonisolated(unsafe) var found: [Bool] = []
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { notification in
        let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>
        found.append(context.object(with: id) === deleted?.first)
        found.append(context.registeredObject(for: id) === deleted?.first)
      }
      defer { NotificationCenter.default.removeObserver(token) }
      context.delete(author)
      try context.save()
      #expect(found == [true, true])
      #expect(context.registeredObject(for: id) == nil)
      #expect(author.managedObjectContext == nil)
    }
  }

  @Test func `a save tells of its own deletions, not of discarded ones`() throws {
    let stack = try TestStack(.sqlite)
    let mine = try stack.stored("Author").objectID
    let child = stack.child(of: stack.root)
    nonisolated(unsafe) var told: [[NSManagedObjectID]] = []
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: child, queue: nil
    ) { notification in
      let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject>
      told.append((deleted ?? []).map(\.objectID))
    }
    defer { NotificationCenter.default.removeObserver(token) }
    let draft = stack.root.performAndWait { stack.root.insert("Author").objectID }
    let shown = try child.performAndWait { try child.existingObject(with: draft) }
    try child.performAndWait {
      child.delete(try child.existingObject(with: mine))
      child.processPendingChanges()
    }
    stack.root.performAndWait { stack.root.rollback() }
    try child.performAndWait {
      child.processPendingChanges()
      try child.save()
    }
    withExtendedLifetime(shown) {}
    #expect(told == [[mine]])
  }

  @Test(arguments: Setting.allCases)
  func `inserting an object again announces it again`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let log = NotificationLog(stack.context)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author")
      stack.context.processPendingChanges()
      stack.context.insert(author)
      stack.context.processPendingChanges()
      #expect(log.changes == ["inserted 1", "inserted 1"])
      try stack.context.save()
      stack.context.insert(author)
      try stack.context.save()
      #expect(log.changes == ["inserted 1", "inserted 1", "inserted 1"])
      #expect(log.saves == ["inserted 1", "inserted 1"])
    }
    try stack.save()
    try stack.fresh { try #expect($0.count("Author") == 1) }
  }

  @Test func `an idle parent announces a child's save on the main thread`() async throws {
    let stack = try TestStack(.sqlite)
    let child = stack.child(of: stack.root)
    nonisolated(unsafe) var threads: [Thread] = []
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.root) {
      threads.append(Thread.current)
    }
    try await MainActor.run {
      try child.performAndWait {
        child.insert("Author")
        try child.save()
      }
      #expect(threads == [Thread.current])
      #expect(posted.count(NSInsertedObjectsKey) == 1)
    }
  }

  @Test func `the main thread does not wait for a parent at work`() async throws {
    let stack = try TestStack(.sqlite)
    let child = stack.child(of: stack.root)
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: stack.root)
    let (begun, saved) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // In a synchronous function, `perform` is the overload that returns immediately.
    func occupyParent() {
      stack.root.perform {
        begun.signal()
        // Ends only after the child has saved.
        saved.wait()
      }
      begun.wait()
    }
    occupyParent()
    try await MainActor.run {
      try child.performAndWait {
        child.insert("Author")
        try child.save()
      }
      #expect(posted.userInfos.isEmpty)
    }
    saved.signal()
    stack.root.performAndWait {}
    #expect(posted.count(NSInsertedObjectsKey) == 1)
  }

  @Test func `blocks for a parent wait while it uses the main thread`() async throws {
    let stack = try TestStack(.sqlite)
    let child = stack.child(of: stack.root)
    nonisolated(unsafe) var order: [String] = []
    let root = stack.root
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: root) {
      root.perform { order.append("block") }
      order.append("announced")
    }
    try await MainActor.run {
      try child.performAndWait {
        child.insert("Author")
        try child.save()
      }
    }
    root.performAndWait { #expect(order == ["announced", "block"]) }
    withExtendedLifetime(posted) {}
  }
}
