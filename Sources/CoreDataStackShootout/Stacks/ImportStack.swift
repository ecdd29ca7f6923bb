import CoreData

/// A stack design at work: which context imports, and how a save gets from there to the disk and to main.
protocol ImportStack: Sendable {
  /// The context for the user interface.
  var main: NSManagedObjectContext { get }

  /// The context the import runs in.
  var importing: NSManagedObjectContext { get }

  /// Saves the importing context, on its queue, and starts the propagation of the save.
  func save() throws

  /// Saves main, on its queue, and starts the propagation of the save.
  func saveMain() throws

  /// Waits until every save is on disk and merged into main.
  func drain() throws

  /// The same stack with another importing context, which the design connects as it does the first one. The two have all
  /// pending work in common.
  func beside() -> any ImportStack

  /// Closes the store, so that its file is complete. Called of the first stack only.
  func close() throws
}

extension ImportStack {
  func saveMain() throws { try main.save() }
}

extension StackDesign {
  /// Builds the stack on a store, which is created if it is missing.
  ///
  /// - Parameters:
  ///   - keepsLiveList: Whether main must merge each change, rather than only be notified of it.
  ///   - counter: Counts the SQL statements.
  func makeStack(
    on store: ImportStore, for work: any ImportWork, keepsLiveList: Bool = false,
    counter: StatementCounter? = nil
  ) throws -> any ImportStack {
    func coordinator() throws -> NSPersistentStoreCoordinator {
      try .make(work.makeModel(), on: store, counter: counter)
    }
    return switch self {
    case .main: MainStack(try coordinator())
    case .nested2: Nested2Stack(try coordinator())
    case .nested3: Nested3Stack(try coordinator())
    case .shared: SharedStack(try coordinator())
    // One after the other: the first creates the file.
    case .sharedStore:
      SharedStoreStack([try coordinator(), try coordinator()], work.listing, merges: keepsLiveList)
    }
  }
}

extension NSManagedObjectContext {
  /// A context with a queue of its own below this one.
  func makeChild() -> NSManagedObjectContext {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = self
    return child
  }
}

extension NSPersistentStoreCoordinator {
  /// A context of the store.
  func makeContext(
    _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: type)
    context.persistentStoreCoordinator = self
    return context
  }

  /// A coordinator with the stops' model and one store.
  package static func forStops(in store: ImportStore) throws -> NSPersistentStoreCoordinator {
    try make(StopModel.make(), on: store)
  }

  /// A coordinator with a model and one store.
  static func make(
    _ model: NSManagedObjectModel, on store: ImportStore, counter: StatementCounter? = nil
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    var options: [AnyHashable: Any] = [:]
    if !store.pragmas.isEmpty { options[NSSQLitePragmasOption] = store.pragmas }
    options[StatementCounter.option] = counter
    if store.tracksHistory { options[NSPersistentHistoryTrackingKey] = true }
    if store.ignoresVersion { options[NSIgnorePersistentStoreVersioningOption] = true }
    try coordinator.addPersistentStore(
      ofType: store.type, configurationName: nil, at: store.url, options: options.isEmpty ? nil : options)
    return coordinator
  }

  /// Removes all stores.
  func removeStores() throws {
    for store in persistentStores { try remove(store) }
  }
}
