import CoreData
import Foundation
import Testing

/// A context on the coordinator, with a controller and a mirror of its authors.
final class Screen: @unchecked Sendable {
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
        let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
        return Set(objects.filter { $0.entity.name == "Author" }.map(\.objectID))
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

  /// Deletes Ada elsewhere, and has a change of a third context insert her again.
  func insertAgain(deleting: (NSManagedObjectID) throws -> Notification) throws -> (
    deletion: Notification, insertion: Notification
  ) {
    let id = try id("Ada")
    let third = stack.sibling()
    third.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try third.performAndWait { try third.existingObject(with: id).setValue("Augusta", forKey: "name") }
    return (try deleting(id), try third.saved())
  }
}
