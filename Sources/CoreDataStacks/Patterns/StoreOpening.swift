import CoreData
import Foundation

/// Opens stores for all designs.
enum StoreOpening {
  /// Opens a store in the background, as one step of a piece of work.
  static func open(
    _ model: NSManagedObjectModel, _ location: StoreLocation, options: [AnyHashable: Any]?,
    _ steps: ProgressSteps
  ) async throws -> NSPersistentStoreCoordinator {
    let given = Handover(value: (model, options))
    let opened: NSPersistentStoreCoordinator = try await withCheckedThrowingContinuation {
      continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            try steps.run { try coordinator(given.value.0, location, options: given.value.1) }
          })
      }
    }
    try steps.begin()
    return opened
  }

  static func coordinator(
    _ model: NSManagedObjectModel, _ location: StoreLocation,
    options: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    switch location {
    case .memory:
      try coordinator.addPersistentStore(
        ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    case .file(let url):
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    }
    return coordinator
  }
}

extension NSPersistentStoreCoordinator {
  /// The default store options: automatic migration and a write-ahead log.
  public static var stockSQLiteStoreOptions: [AnyHashable: Any] {
    [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      NSSQLitePragmasOption: ["journal_mode": "WAL"],
    ]
  }

  /// Opens a SQLite store in the background.
  ///
  /// ```swift
  /// NSPersistentStoreCoordinator.setupSQLiteBackedCoordinator(model, storeFileURL: storeURL) { result in
  ///   if case .failure(let error) = result { print(error) }
  /// }
  /// ```
  ///
  /// - Parameter completion: Called on a background queue.
  public class func setupSQLiteBackedCoordinator(
    _ managedObjectModel: NSManagedObjectModel, storeFileURL: URL,
    persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    completion: @escaping @Sendable (CoreDataStack.CoordinatorResult) -> Void
  ) {
    let given = Handover(value: (managedObjectModel, persistentStoreOptions))
    DispatchQueue.global(qos: .background).async {
      do {
        completion(
          .success(try StoreOpening.coordinator(given.value.0, .file(storeFileURL), options: given.value.1)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Opens a SQLite store in the background. Async variant of the method with a completion.
  ///
  /// - Parameters:
  ///   - managedObjectModel: The model.
  ///   - storeFileURL: The file; its directory is created if necessary.
  ///   - persistentStoreOptions: The store's options.
  ///   - progress: Gets one unit, which a migration advances gradually. A cancellation prevents the creation
  ///     of a coordinator and rolls back a migration in progress.
  /// - Throws: Errors of adding the store; `CocoaError.userCancelled`.
  public class func setupSQLiteBackedCoordinator(
    _ managedObjectModel: NSManagedObjectModel, storeFileURL: URL,
    persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    progress: Progress? = nil
  ) async throws -> NSPersistentStoreCoordinator {
    try await StoreOpening.open(
      managedObjectModel, .file(storeFileURL), options: persistentStoreOptions,
      ProgressSteps(progress, count: 1))
  }
}
