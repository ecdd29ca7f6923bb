import CoreData

/// A stack design at work: which context imports, and how a save gets from there to the disk and to main.
protocol ImportStack: Sendable {
  /// The context for the user interface.
  var main: NSManagedObjectContext { get }

  /// The context the import runs in.
  var importing: NSManagedObjectContext { get }

  /// Saves the importing context, on its queue, and starts the propagation of the save.
  func save() throws

  /// Waits until every save is on disk and merged into main.
  func drain() throws

  /// Closes the store, so that its file is complete.
  func close() throws
}

extension StackDesign {
  /// Builds the stack on a store file, which is created if it is missing.
  ///
  /// - Parameter keepsLiveList: Whether main must merge each change, rather than only learn that there was
  ///   one.
  func makeStack(storeURL: URL, keepsLiveList: Bool = false) throws -> any ImportStack {
    switch self {
    case .main: try MainStack(storeURL: storeURL)
    case .nested2: try Nested2Stack(storeURL: storeURL)
    case .nested3: try Nested3Stack(storeURL: storeURL)
    case .shared: try SharedStack(storeURL: storeURL)
    case .sharedStore: try SharedStoreStack(storeURL: storeURL, merges: keepsLiveList)
    }
  }
}

extension NSPersistentStoreCoordinator {
  /// A coordinator with the stops' model and one SQLite store, at the same durability as the floor.
  static func forStops(at storeURL: URL) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StopModel.make())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL,
      options: [NSSQLitePragmasOption: ["journal_mode": "WAL", "synchronous": Workload.synchronous]])
    return coordinator
  }

  /// Removes all stores.
  func removeStores() throws {
    for store in persistentStores { try remove(store) }
  }
}
