import CoreData

/// A stack design at work: which context imports, and how a save gets from there to the disk and to main.
protocol ImportStack: Sendable {
  /// The context a user interface would show.
  var main: NSManagedObjectContext { get }

  /// The context the import runs in.
  var importing: NSManagedObjectContext { get }

  /// Saves the importing context, on whose queue it is called, and starts whatever carries the save further.
  func save() throws

  /// Waits until everything saved is on disk and known to main.
  func drain() throws

  /// Lets go of the store, so that its file is whole.
  func close() throws
}

extension StackDesign {
  /// Builds the stack on a store file, which is created if it is missing.
  ///
  /// - Parameter keepsLiveList: Whether main must learn of each change, and not only that there was one.
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
