import CoreData
import Testing

/// A child's change of an object that its parent has deleted and saved meanwhile.
@Suite struct RevivedByChildTests {
  /// A context that shows its authors in a list built from change notifications, and a child that has changed
  /// an author after the context has deleted and saved it.
  private final class Levels: @unchecked Sendable {
    // Unchecked: the set is used on the context's queue.
    let stack: TestStack
    let context: NSManagedObjectContext
    private var _shown = Set<NSManagedObject>()
    private var _token: (any NSObjectProtocol)?

    init(_ setting: Setting, policy: NSMergePolicyType) throws {
      stack = try TestStack(setting)
      context = stack.sibling()
      context.mergePolicy = NSMergePolicy(merge: policy)
      _token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
      ) { [unowned self] in
        _shown.formUnion($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? [])
        _shown.subtract($0.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? [])
      }
      let child = stack.child(of: context)
      let context = context
      let author = try context.performAndWait {
        let author = context.insert("Author", ["name": "Ada"])
        try context.save()
        return author
      }
      let changed = try child.performAndWait { try #require(try child.all("Author").first) }
      try context.performAndWait {
        context.delete(author)
        try context.save()
      }
      try child.performAndWait {
        changed.setValue(36, forKey: "age")
        try child.save()
      }
    }

    deinit { _token.map(NotificationCenter.default.removeObserver) }

    var shown: [String] { context.performAndWait { _shown.map { $0.text("name") ?? "nil" } } }

    func fetched() throws -> [String] {
      try context.performAndWait { try context.all("Author").map { $0.text("name") ?? "nil" } }
    }
  }

  /// Makes a controller follow changes.
  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

  @Test(
    arguments: Setting.direct,
    [NSMergePolicyType.overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType])
  func `a save that inserts it again announces it as inserted`(
    _ setting: Setting, _ policy: NSMergePolicyType
  ) throws {
    let levels = try Levels(setting, policy: policy)
    try levels.context.performAndWait { try levels.context.save() }
    try #expect(levels.fetched() == levels.shown)
  }

  @Test(arguments: Setting.direct, [false, true])
  func `a rollback leaves nothing of it`(_ setting: Setting, _ isChangedAgain: Bool) throws {
    let levels = try Levels(setting, policy: .errorMergePolicyType)
    let context = levels.context
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    try context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      let delegate = Delegate()
      controller.delegate = delegate
      if isChangedAgain { controller.fetchedObjects?.first?.setValue("Augusta", forKey: "name") }
      context.rollback()
      #expect(controller.fetchedObjects == [])
      #expect(context.registeredObjects.isEmpty)
    }
    try #expect(levels.fetched() == [])
  }

  /// A child links the object to a tag that another child deletes before the context saves: nothing is left to be
  /// written of the object, and so no store says that its row is gone.
  ///
  /// - Parameter merges: Whether the first child merges the deletion after it has saved its change, and saves again.
  @Test(arguments: Setting.direct, [(false, false), (false, true), (true, false), (true, true)])
  func `a save that writes nothing of it leaves nothing of it`(
    _ setting: Setting, _ way: (isNested: Bool, merges: Bool)
  ) throws {
    let (isNested, merges) = way
    let stack = try TestStack(setting)
    let context = isNested ? stack.child(of: stack.root) : stack.sibling()
    let (one, other) = (stack.child(of: context), stack.child(of: context))
    let (book, tag) = try context.performAndWait {
      let (book, tag) = (context.insert("Book", ["title": "Notes"]), context.insert("Tag", ["name": "new"]))
      try context.save()
      if isNested { try stack.root.performAndWait { try stack.root.save() } }
      try context.obtainPermanentIDs(for: [book, tag])
      return (book, tag.objectID)
    }
    let id = book.objectID
    let shown = try one.performAndWait { try one.existingObject(with: id) }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let (controller, delegate) = try context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      let delegate = Delegate()
      controller.delegate = delegate
      return (controller, delegate)
    }
    let deletion = try context.saved { context.delete(book) }
    other.performAndWait {
      // Before it can read the link.
      other.delete(other.object(with: tag))
      other.processPendingChanges()
    }
    try one.performAndWait {
      shown.mutableSetValue(forKey: "tags").add(one.object(with: tag))
      try one.save()
      guard merges else { return }
      one.mergeChanges(fromContextDidSave: deletion)
      try one.save()
    }
    try other.performAndWait { try other.save() }
    try context.performAndWait {
      let saved = Posted(.NSManagedObjectContextDidSave, by: context)
      try context.save()
      #expect(saved.count(NSUpdatedObjectsKey) ?? 0 == 0)
      #expect(try context.count("Book") == 0)
      #expect(controller.fetchedObjects == [])
    }
    withExtendedLifetime(delegate) {}
  }
}
