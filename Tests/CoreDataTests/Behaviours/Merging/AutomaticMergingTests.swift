import CoreData
import Foundation
import Synchronization
import Testing

/// Contexts that merge automatically: when, what, and which notifications they post.
@Suite struct AutomaticMergingTests {
  /// Values recorded from any thread.
  private final class Names: Sendable {
    let list = Mutex<[String]>([])
  }

  /// An object carried between blocks of its context's queue.
  private struct Held: @unchecked Sendable {
    // Unchecked: used only in the context's blocks.
    let object: NSManagedObject
  }

  @Test func `a block queued to main by a DidSave observer sees the merge`() async throws {
    let stack = try TestStack(.memory)
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = stack.coordinator
    main.automaticallyMergesChangesFromParent = true
    let root = stack.root
    let tag = Held(object: try stack.stored("Tag", ["name": "0"]))
    let id = tag.object.objectID
    let mine = await MainActor.run {
      let mine = main.object(with: id)
      mine.willAccessValue(forKey: nil)
      return Held(object: mine)
    }
    let seen = Names()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: root, queue: nil
    ) { _ in
      DispatchQueue.main.async {
        let name = mine.object.text("name") ?? ""
        seen.list.withLock { $0.append(name) }
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    // The main queue is blocked while all of them are saved.
    try await MainActor.run {
      for number in 1...3 {
        try root.performAndWait {
          tag.object.setValue("\(number)", forKey: "name")
          try root.save()
        }
      }
    }
    while seen.list.withLock({ $0.count }) < 3 { try await Task.sleep(nanoseconds: 1_000_000) }
    let names = seen.list.withLock { $0 }
    // A later save may have been merged too: a merge takes the newest values.
    #expect(zip(names, 1...3).allSatisfy { Int($0) ?? 0 >= $1 }, "\(names)")
  }

  @Test(arguments: Setting.direct)
  func `a child merges its parent's saves but not a sibling's`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (one, two) = (stack.child(of: stack.root), stack.child(of: stack.root))
    two.automaticallyMergesChangesFromParent = true
    let id = try stack.stored("Author", ["name": "Ada"]).objectID
    let mine = two.performAndWait {
      let mine = two.object(with: id)
      mine.willAccessValue(forKey: nil)
      return mine
    }
    try one.performAndWait {
      one.object(with: id).setValue("Grace", forKey: "name")
      try one.save()
    }
    two.performAndWait {}
    two.performAndWait { #expect(mine.text("name") == "Ada") }
    try stack.root.performAndWait { try stack.root.save() }
    two.performAndWait {}
    two.performAndWait { #expect(mine.text("name") == "Grace") }
  }

  @Test(arguments: Setting.direct)
  func `a merging child announces its own insertion once`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.root)
    child.automaticallyMergesChangesFromParent = true
    let log = NotificationLog(child)
    let own = try child.performAndWait {
      let own = child.insert("Author", ["name": "Ada"])
      try child.save()
      return own
    }
    try stack.root.performAndWait { try stack.root.save() }
    child.performAndWait {}
    #expect(log.changes.filter { $0.contains("inserted") } == ["inserted 1"])
    withExtendedLifetime(own) {}
  }

  @Test(arguments: Setting.direct)
  func `a merge announces no change to a released object`(_ setting: Setting)
    throws
  {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    let ids = try stack.root.performAndWait {
      let authors = (0..<2).map { _ in stack.root.insert("Author") }
      try stack.root.save()
      return authors.map(\.objectID)
    }
    other.performAndWait {
      for id in ids { other.object(with: id).willAccessValue(forKey: nil) }
    }
    let log = NotificationLog(other)
    let notification = try stack.root.saved {
      stack.root.object(with: ids[0]).setValue("Ada", forKey: "name")
      stack.root.delete(stack.root.object(with: ids[1]))
    }
    other.performAndWait {
      other.mergeChanges(fromContextDidSave: notification)
      #expect(!other.hasChanges)
    }
    #expect(log.changes.isEmpty)
  }

  @Test(arguments: Setting.direct)
  func `what a merge has changed is announced under a separate key`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    let id = try stack.stored("Author").objectID
    let mine = other.performAndWait {
      let mine = other.object(with: id)
      mine.willAccessValue(forKey: nil)
      return mine
    }
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: other)
    let notification = try stack.root.saved {
      stack.root.insert("Author")
      stack.root.object(with: id).setValue("Ada", forKey: "name")
    }
    other.performAndWait {
      other.insert("Tag")
      other.mergeChanges(fromContextDidSave: notification)
      #expect(mine.text("name") == "Ada")
    }
    let key = "NSObjectsChangedByMergeChangesKey"
    #expect(posted.userInfos.map { $0[key] != nil } == [false, true])
    #expect(posted.count(key) == 2)
  }

  @Test(arguments: Setting.direct)
  func `an insertion that waits together with its deletion is not announced`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    other.automaticallyMergesChangesFromParent = true
    let posted = Posted(.NSManagedObjectContextObjectsDidChange, by: other)
    try other.performAndWait {
      try stack.root.performAndWait {
        let author = stack.root.insert("Author")
        try stack.root.save()
        stack.root.delete(author)
        try stack.root.save()
      }
    }
    try other.performAndWait {
      let sets = posted.userInfos.map { info in
        [NSInsertedObjectsKey, NSDeletedObjectsKey].map { (info[$0] as? Set<NSManagedObject>)?.count ?? 0 }
      }
      #expect(sets.isEmpty)
      try #expect(other.count("Author") == 0)
    }
  }
}
