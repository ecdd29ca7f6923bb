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
  /// Builds the stack on a store, which is created if it is missing.
  ///
  /// - Parameter keepsLiveList: Whether main must merge each change, rather than only be notified of it.
  func makeStack(on store: ImportStore, keepsLiveList: Bool = false) throws -> any ImportStack {
    switch self {
    case .main: try MainStack(on: store)
    case .nested2: try Nested2Stack(on: store)
    case .nested3: try Nested3Stack(on: store)
    case .shared: try SharedStack(on: store)
    case .sharedStore: try SharedStoreStack(on: store, merges: keepsLiveList)
    }
  }
}

extension NSPersistentStoreCoordinator {
  /// A coordinator with the stops' model and one store.
  package static func forStops(in store: ImportStore) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StopModel.make())
    try coordinator.addPersistentStore(
      ofType: store.type, configurationName: nil, at: store.url,
      options: store.pragmas.isEmpty ? nil : [NSSQLitePragmasOption: store.pragmas])
    return coordinator
  }

  /// Removes all stores.
  func removeStores() throws {
    for store in persistentStores { try remove(store) }
  }
}
