import CoreData
import Synchronization

/// Where models are inserted, fetched, changed, deleted and saved.
///
/// Used by one thread at a time, or one actor; its models as well. Other contexts of the container take over what this
/// one saves when they next fetch or save; the main context by itself.
public class ModelContext: Equatable {
  /// The engine's context.
  let managed: NSManagedObjectContext
  let core: ContainerCore
  private weak var _container: ModelContainer?
  /// How models refer to this context.
  private(set) var link: ContextLink!
  /// What other contexts have saved meanwhile.
  let mailbox = ContextMailbox()
  /// Models that are kept alive until their changes are saved.
  var kept: [ModelStorage] = []
  let autosave = AutosaveState()
  /// Models that were inserted and whose values are still to be set.
  var unfilled: [(storage: ModelStorage, values: [DetachedValue])] = []
  var isFilling = false
  /// Whether the delete rules of what was deleted are still to be applied.
  var hasUnprocessedDeletions = false
  /// What the context is to those who write its changes: custom stores, and the history by `author`.
  public var editingState = EditingState()
  private var _saveObserver: (any NSObjectProtocol)?

  init(_ core: ContainerCore, _ container: ModelContainer?, isMain: Bool) {
    self.core = core
    _container = container
    managed = NSManagedObjectContext(concurrencyType: isMain ? .mainQueueConcurrencyType : .confinement)
    managed.persistentStoreCoordinator = core.coordinator
    managed.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    managed.automaticallyMergesChangesFromParent = isMain
    let isOnMain = isMain || MainQueue.isCurrent
    managed.tracksObservation = true
    autosave.isPossible = isOnMain
    link = ContextLink(self, core.bindings)
    if !isMain { core.connect(mailbox) }
    for store in core.customStores { store.begin(editingState) }
    let (core, mailbox) = (core, self.mailbox)
    _saveObserver = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSaveObjectIDs, object: managed, queue: nil
    ) { notification in
      core.deliver(notification.userInfo ?? [:], from: mailbox)
    }
  }

  /// Creates a context of a container.
  public convenience init(_ container: ModelContainer) { self.init(container.core, container, isMain: false) }

  deinit {
    if let _saveObserver { NotificationCenter.default.removeObserver(_saveObserver) }
    link.context = nil
    for store in core.customStores { store.end(editingState) }
    for storage in kept { storage.releaseInstance() }
  }

  /// The container.
  public var container: ModelContainer {
    if let _container { return _container }
    let made = ModelContainer(core)
    _container = made
    return made
  }

  /// Whether changes are saved at the end of a turn of the main queue; true unless set, and without effect on contexts
  /// made on another thread.
  public var autosaveEnabled: Bool {
    get { autosave.isEnabled }
    set { autosave.isEnabled = newValue }
  }

  /// Records changes to be undone; nil unless set.
  public var undoManager: UndoManager? {
    get { managed.undoManager }
    set { managed.undoManager = newValue }
  }

  /// Who is recorded in the history as author of what this context saves.
  public var author: String? {
    get { managed.transactionAuthor }
    set {
      managed.transactionAuthor = newValue
      editingState.author = newValue
    }
  }

  /// Whether there is anything to save.
  public var hasChanges: Bool { managed.hasChanges }

  /// Models that the next save inserts.
  public var insertedModelsArray: [any PersistentModel] { models(managed.insertedObjects) }
  /// Models that the next save updates.
  public var changedModelsArray: [any PersistentModel] { models(managed.updatedObjects) }
  /// Models that the next save deletes.
  public var deletedModelsArray: [any PersistentModel] { models(managed.deletedObjects) }

  /// Applies the delete rules, and closes a group of changes to be undone.
  public func processPendingChanges() {
    managed.processPendingChanges()
    hasUnprocessedDeletions = false
    mergeNews()
  }

  /// Whether both are the same.
  public static func == (lhs: ModelContext, rhs: ModelContext) -> Bool { lhs === rhs }

  // MARK: Models of objects

  private func models(_ objects: Set<NSManagedObject>) -> [any PersistentModel] {
    objects.map { model(of: $0) }
  }

  /// The model of an object of this context.
  func model(of object: NSManagedObject) -> any PersistentModel {
    instance(of: object) as! any PersistentModel
  }

  /// The model of an object of this context, whatever its type.
  @inline(__always) func instance(of object: NSManagedObject) -> AnyObject {
    link.instance(of: unsafeDowncast(object, to: ModelObject.self))
  }

  // MARK: News

  /// Takes over what other contexts have saved.
  func mergeNews() {
    switch mailbox.drain() {
    case .none: break
    case .saves(let saves):
      for news in saves {
        managed.mergeChanges(
          fromContextDidSave: Notification(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: news.userInfo))
      }
    case .everything: managed.refreshAllObjects()
    }
  }
}

extension ModelContext: CustomDebugStringConvertible {
  /// Counts of what is pending.
  public var debugDescription: String {
    "ModelContext(inserted: \(managed.insertedObjects.count), changed: \(managed.updatedObjects.count), deleted: "
      + "\(managed.deletedObjects.count))"
  }
}

/// What a context is to those who write its changes.
public struct EditingState: Identifiable, Sendable {
  private let _id = UUID()
  /// Who makes the changes.
  public var author: String?

  init() {}

  /// Tells the context from every other.
  public var id: some Hashable { _id }
}
