import CoreData
import Foundation
import Testing

/// Objects that others have deleted, in a context that never saves.
@Suite struct OthersDeletionTests {
  /// A context that shows authors, another one deletes them, a hundred at a time, and it merges that.
  ///
  /// - Parameter keeps: Whether the program still references those that are deleted.
  /// - Returns: The number of deleted objects in the context, and what the program references.
  private func _deleted(
    _ setting: Setting, _ count: Int, keeping keeps: Bool,
    merging merge: (NSManagedObjectContext, Notification) -> Void = {
      $0.mergeChanges(fromContextDidSave: $1)
    }
  ) throws -> (count: Int, kept: [NSManagedObject]) {
    let stack = try TestStack(setting)
    let (context, other) = (stack.root, stack.sibling())
    _ = try other.saved { for number in 0..<count { other.insert("Author", ["name": "\(number)"]) } }
    return try context.performAndWait {
      var shown = try context.all("Author")
      for author in shown { author.willAccessValue(forKey: nil) }
      for _ in 0..<(count / 100) {
        let deletion = try other.saved {
          for author in try other.all("Author").prefix(100) { other.delete(author) }
        }
        merge(context, deletion)
        if !keeps { shown.removeAll { $0.isDeleted } }
      }
      return (context.deletedObjects.count, shown)
    }
  }

  @Test(arguments: Setting.direct)
  func `Of many that the program does not reference, few are kept`(_ setting: Setting) throws {
    #expect(try _deleted(setting, 3000, keeping: false).count < 600)
  }

  @Test(arguments: Setting.direct)
  func `Of many that are merged by ID, few are kept`(_ setting: Setting) throws {
    let found = try _deleted(setting, 3000, keeping: false) { context, deletion in
      let ids = (deletion.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []).map(\.objectID)
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: ids], into: [context])
    }
    #expect(found.count < 600)
  }

  @Test(arguments: Setting.direct)
  func `Those that the program references stay`(_ setting: Setting) throws {
    let found = try _deleted(setting, 1000, keeping: true)
    #expect(found.count == 1000)
    #expect(found.kept.count { $0.isDeleted } == 1000)
  }

  @Test(arguments: Setting.direct)
  func `A few stay until the context saves, as in Core Data`(_ setting: Setting) throws {
    #expect(try _deleted(setting, 100, keeping: false).count == 100)
  }

  @Test(arguments: Setting.direct)
  func `A deletion by ID of a row that is there is saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = try stack.stored("Author", ["name": "Ada"])
    try stack.root.performAndWait {
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: [author.objectID]], into: [stack.root])
      try stack.root.save()
    }
    #expect(try stack.fresh { try $0.count("Author") } == 0)
  }
}
