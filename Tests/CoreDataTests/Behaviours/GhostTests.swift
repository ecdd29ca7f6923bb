import Foundation
import TestSupport
import Testing

@testable import CoreData

/// An object that is deleted, or whose row is gone, stays in no list: a results controller, and a mirror built
/// only from change notifications, agree with the store.
@Suite struct GhostTests {
  /// A context on the coordinator, with a controller and a mirror of its authors.
  private final class Screen: @unchecked Sendable {
    // Unchecked: the mirror is used on the context's queue, or while nothing else runs.
    let stack: TestStack
    let context: NSManagedObjectContext
    private let _controller: NSFetchedResultsController<NSManagedObject>
    private let _delegate = RecordingDelegate()
    private var _mirror: Set<NSManagedObjectID> = []
    private var _token: (any NSObjectProtocol)?

    /// - Parameter names: Names of the authors to store and show.
    init(
      _ stack: TestStack, policy: NSMergePolicyType = .errorMergePolicyType,
      _ names: [String] = ["Ada", "Eve"]
    ) throws {
      self.stack = stack
      let context = stack.root
      self.context = context
      context.mergePolicy = NSMergePolicy(merge: policy)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      _controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      _controller.delegate = _delegate
      try context.performAndWait {
        for name in names { context.insert("Author", ["name": name, "age": 36]) }
        try context.save()
        try _controller.performFetch()
      }
      _mirror = shown
      _token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { [unowned self] notification in
        func ids(_ key: String) -> Set<NSManagedObjectID> {
          Set((notification.userInfo?[key] as? Set<NSManagedObject> ?? []).map(\.objectID))
        }
        _mirror.formUnion(ids(NSInsertedObjectsKey))
        _mirror.subtract(ids(NSDeletedObjectsKey))
      }
    }

    deinit { if let _token { NotificationCenter.default.removeObserver(_token) } }

    var shown: Set<NSManagedObjectID> {
      context.performAndWait { Set((_controller.fetchedObjects ?? []).map(\.objectID)) }
    }

    var names: [String] {
      context.performAndWait { (_controller.fetchedObjects ?? []).map { $0.text("name") ?? "-" } }
    }

    func id(_ name: String) throws -> NSManagedObjectID {
      try context.performAndWait {
        try #require(_controller.fetchedObjects?.first { $0.text("name") == name }).objectID
      }
    }

    /// Compares the controller and the mirror with the store.
    func expectStore(_ names: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
      let stored = try stack.fresh { try $0.all("Author", by: "name").map { ($0.objectID, $0.text("name")) } }
      #expect(stored.map(\.1) == names, sourceLocation: sourceLocation)
      #expect(self.names == names, sourceLocation: sourceLocation)
      #expect(_mirror == Set(stored.map(\.0)), sourceLocation: sourceLocation)
      context.performAndWait {
        #expect(!context.hasChanges, sourceLocation: sourceLocation)
        #expect(!context.registeredObjects.contains { $0.isDeleted }, sourceLocation: sourceLocation)
      }
    }

    /// Saves before another context's save is merged; compares both times.
    func expectStore(
      _ names: [String], savingBefore merged: Notification, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      try context.performAndWait { try context.save() }
      try expectStore(names, sourceLocation: sourceLocation)
      context.performAndWait { context.mergeChanges(fromContextDidSave: merged) }
      try expectStore(names, sourceLocation: sourceLocation)
    }

    /// Changes an author in a child, which saves.
    func changeInChild(_ id: NSManagedObjectID, _ change: @Sendable (NSManagedObject) -> Void) throws {
      let child = stack.child(of: context)
      try child.performAndWait {
        change(try child.existingObject(with: id))
        try child.save()
      }
    }

    /// Deletes an author in another context of the coordinator.
    func deleteElsewhere(_ id: NSManagedObjectID) throws -> Notification {
      let other = stack.sibling()
      return try other.saved { other.delete(try other.existingObject(with: id)) }
    }
  }

  @Test(
    arguments: Setting.direct,
    [
      NSMergePolicyType.errorMergePolicyType, .rollbackMergePolicyType,
      .mergeByPropertyStoreTrumpMergePolicyType,
      .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
    ])
  func `a child's change of a row that others deleted, saved before the deletion is merged`(
    _ setting: Setting, _ policy: NSMergePolicyType
  ) throws {
    let screen = try Screen(TestStack(setting), policy: policy)
    let id = try screen.id("Ada")
    try screen.changeInChild(id) { $0.setValue("Augusta", forKey: "name") }
    let deletion = try screen.deleteElsewhere(id)
    try screen.expectStore(["Eve"], savingBefore: deletion)
  }

  @Test(arguments: Setting.direct)
  func `a child's deletion of a row that others deleted`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    try screen.changeInChild(id) { $0.managedObjectContext?.delete($0) }
    let deletion = try screen.deleteElsewhere(id)
    try screen.expectStore(["Eve"], savingBefore: deletion)
  }

  @Test(arguments: Setting.direct)
  func `an insertion that is merged after the object was deleted`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting))
    let other = screen.stack.sibling()
    let insertion = try other.saved { other.insert("Author", ["name": "Bob", "age": 1]) }
    let id = try #require((insertion.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first).objectID
    screen.context.performAndWait {
      screen.context.delete(screen.context.object(with: id))
      screen.context.processPendingChanges()
      screen.context.mergeChanges(fromContextDidSave: insertion)
    }
    #expect(screen.names == ["Ada", "Eve"])
    try screen.context.performAndWait { try screen.context.save() }
    try screen.expectStore(["Ada", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `an update that is merged after this context deleted its row`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting), policy: .mergeByPropertyObjectTrumpMergePolicyType)
    let id = try screen.id("Ada")
    let other = screen.stack.sibling()
    let update = try other.saved { try other.existingObject(with: id).setValue("Augusta", forKey: "name") }
    screen.context.performAndWait { screen.context.delete(screen.context.object(with: id)) }
    try screen.expectStore(["Eve"], savingBefore: update)
  }

  @Test(arguments: Setting.direct)
  func `an update that is merged after a child's deletion of its row was saved`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting), policy: .mergeByPropertyObjectTrumpMergePolicyType)
    let id = try screen.id("Ada")
    let other = screen.stack.sibling()
    let update = try other.saved { try other.existingObject(with: id).setValue("Augusta", forKey: "name") }
    try screen.changeInChild(id) { $0.managedObjectContext?.delete($0) }
    try screen.expectStore(["Eve"], savingBefore: update)
  }

  @Test(arguments: Setting.direct, [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey])
  func `a change that is merged by ID after its row was deleted`(_ setting: Setting, _ key: String) throws {
    let screen = try Screen(TestStack(setting))
    let id = try screen.id("Ada")
    _ = try screen.deleteElsewhere(id)
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [key: [id]], into: [screen.context])
    try screen.context.performAndWait { try screen.context.save() }
    try screen.expectStore(["Eve"])
  }

  @Test(arguments: Setting.direct)
  func `an insertion that is merged by ID after its row was deleted, of an unregistered object`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting))
    let other = screen.stack.sibling()
    let insertion = try other.saved { other.insert("Author", ["name": "Bob", "age": 1]) }
    let id = try #require((insertion.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.first).objectID
    _ = try screen.deleteElsewhere(id)
    NSManagedObjectContext.mergeChanges(
      fromRemoteContextSave: [NSInsertedObjectIDsKey: [id]], into: [screen.context])
    try screen.expectStore(["Ada", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `an update of a row that others deleted is merged by ID into an object with changes`(
    _ setting: Setting
  ) throws {
    let screen = try Screen(TestStack(setting), policy: .mergeByPropertyObjectTrumpMergePolicyType)
    let id = try screen.id("Ada")
    _ = try screen.deleteElsewhere(id)
    try screen.context.performAndWait {
      screen.context.object(with: id).setValue("Augusta", forKey: "name")
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [screen.context])
      // The merge policy decides: the change wins, and the object is inserted anew.
      try screen.context.save()
    }
    try screen.expectStore(["Augusta", "Eve"])
  }

  @Test(arguments: Setting.direct)
  func `a rollback after others' deletion was merged`(_ setting: Setting) throws {
    let screen = try Screen(TestStack(setting))
    let deletion = try screen.deleteElsewhere(try screen.id("Ada"))
    screen.context.performAndWait {
      screen.context.mergeChanges(fromContextDidSave: deletion)
      screen.context.rollback()
    }
    try screen.expectStore(["Eve"])
  }
}
