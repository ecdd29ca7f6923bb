import Foundation
import Synchronization

/// A model, a coordinator with its stores, and a main-queue context, set up together. May be used from any
/// thread.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library")
/// container.loadPersistentStores { _, error in
///   if let error { fatalError("\(error)") }
/// }
/// let books = try container.viewContext.fetch(Book.fetchRequest())
/// ```
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // Unchecked: `_descriptions` is guarded by its lock, everything else is immutable.
  private let _name: String
  private let _model: NSManagedObjectModel
  private let _coordinator: NSPersistentStoreCoordinator
  private let _viewContext: NSManagedObjectContext
  private let _descriptions: Mutex<Descriptions>

  private struct Descriptions: @unchecked Sendable {
    // Unchecked: description objects are the caller's to configure before the stores are loaded; the list is
    // guarded.
    var list: [NSPersistentStoreDescription]
    /// Descriptions whose stores were added.
    var loaded: [NSPersistentStoreDescription] = []
  }

  /// Creates a container for a model.
  ///
  /// ```swift
  /// guard let url = Bundle.main.url(forResource: "Library", withExtension: "momd"),
  ///   let model = NSManagedObjectModel(contentsOf: url)
  /// else { fatalError("The program has no model Library.") }
  /// let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
  /// ```
  ///
  /// - Parameters:
  ///   - name: Name of the container, and of its store file.
  ///   - managedObjectModel: The model.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    _name = name
    _model = model
    _coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    _viewContext.persistentStoreCoordinator = _coordinator
    let url = Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
    _descriptions = Mutex(Descriptions(list: []))
    super.init()
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
  }

  /// Creates a container for the model of this name, found in the main bundle or the bundles beside it: first
  /// that of the container's module if it is a subclass, then the program's own, then those of the program's
  /// other modules.
  ///
  /// Without such a model the container has an empty one, and a line on the standard error names the places
  /// that were looked at.
  ///
  /// ```swift
  /// let container = NSPersistentContainer(name: "Library")
  /// ```
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: Self._model(named: name))
  }

  private static func _model(named name: String) -> NSManagedObjectModel {
    // A subclass comes from the module that has the model, as a rule.
    let module = String(reflecting: self).split(separator: ".").first.map(String.init)
    guard let url = ModelSearch.model(named: name, of: module) else {
      return _noModel(named: name, ModelSearch.absence(of: name, in: nil))
    }
    do {
      return try NSManagedObjectModel.load(contentsOf: url)
    } catch {
      return _noModel(named: name, "the model at \(url.path) cannot be read: \(error)")
    }
  }

  /// What stands for a model that is not there: the first use of an entity fails, and says which is missing.
  private static func _noModel(named name: String, _ reason: String) -> NSManagedObjectModel {
    Console.warn("Failed to load model named \(name): \(reason)")
    return NSManagedObjectModel()
  }

  /// Directory that store files go to unless a description says otherwise: the user's application support
  /// directory, or in it a directory named after the program.
  ///
  /// ```swift
  /// let storeURL = NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Library.sqlite")
  /// ```
  open class func defaultDirectoryURL() -> URL {
    let base =
      FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".local/share")
    return base.appendingPathComponent(ProcessInfo.processInfo.processName)
  }

  /// Name of the container.
  open var name: String { _name }

  /// The context for the main queue, connected to the coordinator.
  ///
  /// ```swift
  /// let context = container.viewContext
  /// context.automaticallyMergesChangesFromParent = true
  /// context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  /// ```
  open var viewContext: NSManagedObjectContext { _viewContext }

  /// The model.
  open var managedObjectModel: NSManagedObjectModel { _model }

  /// The coordinator.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator { _coordinator }

  /// Stores to load: at first one SQLite file in the default directory.
  ///
  /// ```swift
  /// let description = NSPersistentStoreDescription(url: storeURL)
  /// description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
  /// container.persistentStoreDescriptions = [description]
  /// ```
  open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
    get { _descriptions.withLock { $0 }.list }
    set {
      let new = Descriptions(list: newValue)
      _descriptions.withLock { $0.list = new.list }
    }
  }

  /// Adds the stores described that are not loaded yet. The directories of their files are created if need be.
  ///
  /// ```swift
  /// container.loadPersistentStores { description, error in
  ///   if let error {
  ///     print("The store at \(description.url?.path ?? "no URL") cannot be opened: \(error)")
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter block: Called once for each, with its error if it could not be added; before this returns
  ///   unless the description asks for asynchronous loading.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      if _descriptions.withLock({ state in state.loaded.contains { $0 === description } }) { continue }
      // Any number of stores may be in memory, whose URLs say nothing.
      if let url = description.url, StoreKinds.known(description.type)?.isPersistent ?? true,
        !StoreLocation(url).isInMemory
      {
        if _coordinator.persistentStore(for: url) != nil { continue }
        if url.isFileURL, !description.isReadOnly {
          // Nothing that fails here stays unsaid: the store cannot be created then.
          try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
      }
      _coordinator.addPersistentStore(with: description) { description, error in
        if error == nil { self._recordLoaded(description) }
        block(description, error)
      }
    }
  }

  private func _recordLoaded(_ description: NSPersistentStoreDescription) {
    let loaded = Descriptions(list: [description])
    _descriptions.withLock { $0.loaded += loaded.list }
  }

  /// Creates a private-queue context connected to the coordinator.
  ///
  /// ```swift
  /// let background = container.newBackgroundContext()
  /// background.transactionAuthor = "import"
  /// try await background.perform {
  ///   for record in records { Book(context: background).title = record.title }
  ///   try background.save()
  /// }
  /// ```
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = _coordinator
    return context
  }

  /// Runs a block on a background context made for it, and returns at once.
  ///
  /// ```swift
  /// func deleteUnopenedBooks() {
  ///   container.performBackgroundTask { context in
  ///     let request = Book.fetchRequest()
  ///     request.predicate = NSPredicate(format: "lastOpened == nil")
  ///     for book in (try? context.fetch(request)) ?? [] { context.delete(book) }
  ///     try? context.save()
  ///   }
  /// }
  /// ```
  @preconcurrency
  open func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.enqueue { block(context) }
  }

  /// Runs a block on a background context made for it. Returns or throws what the block does.
  ///
  /// ```swift
  /// let count = try await container.performBackgroundTask { context in
  ///   for record in records { Book(context: context).isbn = record.isbn }
  ///   try context.save()
  ///   return try context.count(for: Book.fetchRequest())
  /// }
  /// ```
  @preconcurrency
  public final func performBackgroundTask<T, E: Error>(
    _ block: @escaping @Sendable (NSManagedObjectContext) throws(E) -> T
  ) async throws(E) -> T {
    let context = newBackgroundContext()
    return try await context.perform(schedule: .enqueued) { () throws(E) -> T in try block(context) }
  }
}
