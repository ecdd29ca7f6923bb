import Foundation
import Synchronization

/// Sets up a model, a coordinator with its stores, and a main-queue context. May be used from any thread.
///
/// ```swift
/// let container = NSPersistentContainer(name: "Library")
/// container.loadPersistentStores { _, error in
///   if let error { fatalError("\(error)") }
/// }
/// let books = try container.viewContext.fetch(Book.fetchRequest())
/// ```
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // Unchecked: `_descriptions` is guarded by its lock, all other members are immutable.
  private let _name: String
  private let _model: NSManagedObjectModel
  private let _coordinator: NSPersistentStoreCoordinator
  private let _viewContext: NSManagedObjectContext
  private let _descriptions: Mutex<Descriptions>

  private struct Descriptions: @unchecked Sendable {
    // Unchecked: callers configure description objects before loading the stores; the list is guarded.
    var list: [NSPersistentStoreDescription]
    /// Descriptions whose stores have been added.
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
  ///   - name: Name of the container and of its store file.
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

  /// Creates a container for the named model in the main bundle or the bundles beside it: first the one of
  /// the container's module if it is a subclass, then the program's own, then those of the program's other
  /// modules.
  ///
  /// Without such a model the container gets an empty one, and the locations searched are logged to standard
  /// error.
  ///
  /// ```swift
  /// let container = NSPersistentContainer(name: "Library")
  /// ```
  public convenience init(name: String) {
    self.init(name: name, managedObjectModel: Self._model(named: name))
  }

  private static func _model(named name: String) -> NSManagedObjectModel {
    // A subclass usually comes from the module with the model.
    let module =
      self == NSPersistentContainer.self
      ? nil : String(reflecting: self).split(separator: ".").first.map(String.init)
    guard let url = ModelSearch.model(named: name, of: module) else {
      return _noModel(named: name, ModelSearch.absence(of: name, in: nil))
    }
    do {
      return try NSManagedObjectModel.load(contentsOf: url)
    } catch {
      return _noModel(named: name, "the model at \(url.path) cannot be read: \(error)")
    }
  }

  /// Returns a placeholder for a missing model: the first use of an entity fails and names the missing model.
  private static func _noModel(named name: String, _ reason: String) -> NSManagedObjectModel {
    Console.warn("Failed to load model named \(name): \(reason)")
    return NSManagedObjectModel()
  }

  /// The default directory of store files: the user's application support directory, or a subdirectory of it
  /// named after the program.
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

  /// The main-queue context, connected to the coordinator.
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

  /// The stores to load: by default one SQLite file in the default directory.
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

  /// Adds the described stores that are not loaded yet. Creates the directories of their files if necessary.
  ///
  /// ```swift
  /// container.loadPersistentStores { description, error in
  ///   if let error {
  ///     print("The store at \(description.url?.path ?? "no URL") cannot be opened: \(error)")
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter block: Called once per store, with the error if it could not be added; before this method
  ///   returns, unless the description requests asynchronous loading.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      if _descriptions.withLock({ state in state.loaded.contains { $0 === description } }) { continue }
      // Any number of stores may be in memory, regardless of their URLs.
      if let url = description.url, StoreKinds.known(description.type)?.isPersistent ?? true,
        !StoreLocation(url).isInMemory
      {
        if _coordinator.persistentStore(for: url) != nil { continue }
        if url.isFileURL, !description.isReadOnly {
          // A failure here surfaces when the store is created.
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

  /// Runs a block on a new background context and returns immediately.
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
}

extension GivingWay where Self: NSPersistentContainer {
  /// Runs a block on a new background context. Returns or throws what the block does.
  ///
  /// ```swift
  /// let count = try await container.performBackgroundTask { context in
  ///   for record in records { Book(context: context).isbn = record.isbn }
  ///   try context.save()
  ///   return try context.count(for: Book.fetchRequest())
  /// }
  /// ```
  @preconcurrency
  public func performBackgroundTask<T, E: Error>(
    _ block: @escaping @Sendable (NSManagedObjectContext) throws(E) -> T
  ) async throws(E) -> T {
    let context = newBackgroundContext()
    return try await context.perform(schedule: .enqueued) { () throws(E) -> T in try block(context) }
  }
}
