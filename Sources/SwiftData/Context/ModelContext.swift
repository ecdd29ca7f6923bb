import CoreData
import Synchronization

/// Inserts, fetches, changes, deletes and saves models.
///
/// Confined, with its models, to one thread or actor at a time. Other contexts of the container merge its
/// saves when they next fetch or save; the main context does so automatically.
public class ModelContext: Equatable {
  /// The engine's context.
  let managed: NSManagedObjectContext
  let core: ContainerCore
  private weak var _container: ModelContainer?
  /// The reference that models hold to this context.
  private(set) var link: ContextLink!
  /// The saves of other contexts.
  let mailbox = ContextMailbox()
  /// Models retained until their changes are saved.
  var kept: [ModelStorage] = []
  let autosave = AutosaveState()
  /// Inserted models whose values have not been set yet.
  var unfilled: [(storage: ModelStorage, values: [DetachedValue])] = []
  var isFilling = false
  /// New models that were related to models of this context by their initializers, which cannot insert them.
  var joining: [ModelStorage] = []
  /// Whether delete rules of deleted models have not been applied yet.
  var hasUnprocessedDeletions = false
  /// The identity of the context for custom stores, and its `author` for history.
  public var editingState = EditingState()

  init(_ core: ContainerCore, _ container: ModelContainer?, isMain: Bool) {
    self.core = core
    _container = container
    managed = NSManagedObjectContext(concurrencyType: isMain ? .mainQueueConcurrencyType : .confinement)
    managed.persistentStoreCoordinator = core.coordinator
    managed.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    managed.automaticallyMergesChangesFromParent = isMain
    let isOnMain = isMain || NSManagedObjectContext.isOnMainQueue
    managed.tracksObservation = true
    managed.recordsMergedInsertions = true
    if core.bindings.hasOneWays { managed.followedDeletions = [] }
    managed.recordsLosses = true
    autosave.isPossible = isOnMain
    link = ContextLink(self, core.bindings)
    core.connect(mailbox, mergesSaves: isMain)
    for store in core.customStores { store.begin(editingState) }
    let (core, mailbox) = (core, self.mailbox)
    managed.readFailureObserver = { [unowned self] object, error in
      var userInfo: [String: Any] = [NSUnderlyingErrorKey: error]
      if let parts = object.identityParts {
        userInfo[NotificationKey.failedIdentifier.rawValue] = PersistentIdentifier(parts)
      }
      NotificationCenter.default.post(name: ModelContext.readDidFail, object: self, userInfo: userInfo)
    }
    managed.saveObserver = { core.deliver($0, from: mailbox) }
  }

  /// Creates a context of a container.
  public convenience init(_ container: ModelContainer) { self.init(container.core, container, isMain: false) }

  deinit {
    link.context = nil
    // Models may outlive the context, and then still read.
    managed.readFailureObserver = nil
    if !kept.isEmpty || !joining.isEmpty {
      Console.warnOnce(
        about: "unsaved changes of a context",
        "a context was let go with unsaved changes, which are lost: call save() before, or rollback() if they are not wanted."
      )
    }
    for store in core.customStores { store.end(editingState) }
    for storage in kept { storage.releaseInstance() }
  }

  /// Unregisters what nothing else retains, which the context does itself whenever several hundred more are
  /// registered. For load tests.
  package func sweep() { _ = managed.registeredObjects.count }

  /// The container.
  public var container: ModelContainer {
    if let _container { return _container }
    let made = ModelContainer(core)
    _container = made
    return made
  }

  /// Whether changes are saved at the end of a turn of the main queue; true by default, and without effect on
  /// contexts created on another thread.
  public var autosaveEnabled: Bool {
    get { autosave.isEnabled }
    set { autosave.isEnabled = newValue }
  }

  /// What happens if a store can't be read where no error can be thrown: when a value, the models of a
  /// relationship or a batch are loaded. The container's policy by default. Not in Apple's SwiftData.
  ///
  /// With `fail` the model shows empty values, later saves and fetches throw the error until ``rollback()``,
  /// and ``readDidFail`` is posted. A damaged model is treated like this in any case.
  public var readFailurePolicy: ReadFailurePolicy {
    get { managed.readFailurePolicy }
    set { managed.readFailurePolicy = newValue }
  }

  /// Records changes for undo; nil by default.
  public var undoManager: UndoManager? {
    get { managed.undoManager }
    set { managed.undoManager = newValue }
  }

  /// The author recorded in history for this context's saves.
  public var author: String? {
    get { managed.transactionAuthor }
    set {
      managed.transactionAuthor = newValue
      editingState.author = newValue
    }
  }

  /// Whether there are unsaved changes.
  public var hasChanges: Bool {
    insertJoining()
    return managed.hasChanges
  }

  /// Models that the next save inserts.
  public var insertedModelsArray: [any PersistentModel] {
    insertJoining()
    return _models(managed.insertedObjects)
  }
  /// Models that the next save updates.
  public var changedModelsArray: [any PersistentModel] { _models(managed.updatedObjects) }
  /// Models that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] {
    managed.rowDeletions.readAll()
    return _models(managed.deletedObjects)
  }

  /// Applies the delete rules, and closes a group of undoable changes, unless the program has opened one
  /// itself.
  ///
  /// Fetches and saves apply delete rules as well, but close no group.
  public func processPendingChanges() {
    insertJoining()
    managed.processPendingChanges()
    hasUnprocessedDeletions = false
    managed.undoManager?.endEvent()
    mergeNews()
  }

  /// Whether both are the same context.
  public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

  // MARK: Models of objects

  private func _models(_ objects: Set<NSManagedObject>) -> [any PersistentModel] {
    objects.map { model(of: $0) }
  }

  /// Returns the model of an object of this context.
  func model(of object: NSManagedObject) -> any PersistentModel {
    instance(of: object) as! any PersistentModel
  }

  /// Returns the model of an object of this context, untyped.
  @inline(__always) func instance(of object: NSManagedObject) -> AnyObject {
    link.instance(of: unsafeDowncast(object, to: ModelStorage.self))
  }
}

extension ModelContext: CustomDebugStringConvertible {
  /// Numbers of pending changes.
  public var debugDescription: String {
    "ModelContext(inserted: \(managed.insertedObjects.count), changed: \(managed.updatedObjects.count), deleted: "
      + "\(managed.deletedObjects.count))"
  }
}

/// The identity of a context for stores.
public struct EditingState: Identifiable, Sendable {
  private let _id = UUID()
  /// The author of the changes.
  public var author: String?

  init() {}

  /// Identifies the context.
  public var id: some Hashable { _id }
}
