import CoreData
import Foundation

// Set-up is asynchronous, since adding a SQLite store may migrate it, which takes arbitrarily long.

extension CoreDataStack {
  // MARK: SQLite

  /// Sets up a stack with a SQLite file, for a model in a bundle.
  ///
  /// ```swift
  /// CoreDataStack.constructSQLiteStack(modelName: "Library") { result in
  ///   switch result {
  ///   case .success(let stack): print(stack.mainContext)
  ///   case .failure(let error): print(error)
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - modelName: Name of the model. Traps if the bundle lacks it.
  ///   - bundle: The bundle with the model.
  ///   - desiredStoreURL: The file; nil for one named after the model in the user's documents directory.
  ///   - persistentStoreOptions: The store's options.
  ///   - callbackQueue: The queue of the callback; nil for a background queue.
  ///   - callback: Called with the stack or the error.
  public static func constructSQLiteStack(
    modelName: String, in bundle: Bundle = .main, at desiredStoreURL: URL? = nil,
    persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    on callbackQueue: DispatchQueue? = nil, callback: @escaping CoreDataStackSetupCallback
  ) {
    constructSQLiteStack(
      model: bundle.managedObjectModel(name: modelName),
      at: desiredStoreURL ?? documentsURL(named: modelName),
      persistentStoreOptions: persistentStoreOptions, on: callbackQueue, callback: callback)
  }

  /// Sets up a stack with a SQLite file, for a model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - desiredStoreURL: The file; nil for `database.sqlite` in the user's documents directory.
  ///   - persistentStoreOptions: The store's options.
  ///   - callbackQueue: The queue of the callback; nil for a background queue.
  ///   - callback: Called with the stack or the error.
  public static func constructSQLiteStack(
    model: NSManagedObjectModel, at desiredStoreURL: URL? = nil,
    persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    on callbackQueue: DispatchQueue? = nil, callback: @escaping CoreDataStackSetupCallback
  ) {
    let url = desiredStoreURL ?? documentsURL(named: "database")
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      callback(.failure(Error.unableToCreateStore(at: url)))
      return
    }
    NSPersistentStoreCoordinator.setupSQLiteBackedCoordinator(
      model, storeFileURL: url, persistentStoreOptions: persistentStoreOptions
    ) { result in
      let outcome: SetupResult =
        switch result {
        case .success(let coordinator): .success(CoreDataStack(coordinator, .file(url)))
        case .failure(let error): .failure(error)
        }
      (callbackQueue ?? .global(qos: .background)).async { callback(outcome) }
    }
  }

  /// Sets up a stack with a SQLite file, for a model in a bundle. Async variant of the method with a
  /// callback.
  ///
  /// - Parameters:
  ///   - modelName: Name of the model. Traps if the bundle lacks it.
  ///   - bundle: The bundle with the model.
  ///   - desiredStoreURL: The file; nil for one named after the model in the user's documents directory.
  ///   - persistentStoreOptions: The store's options.
  ///   - progress: Gets one unit, which a migration advances gradually. A cancellation prevents the creation
  ///     of a stack and rolls back a migration in progress.
  /// - Throws: `CoreDataStack.Error`, or an error of adding the store; `CocoaError.userCancelled`.
  public static func constructSQLiteStack(
    modelName: String, in bundle: Bundle = .main, at desiredStoreURL: URL? = nil,
    persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    progress: Progress? = nil
  ) async throws -> CoreDataStack {
    try await constructSQLiteStack(
      model: bundle.managedObjectModel(name: modelName),
      at: desiredStoreURL ?? documentsURL(named: modelName),
      persistentStoreOptions: persistentStoreOptions, progress: progress)
  }

  /// Sets up a stack with a SQLite file, for a model. Async variant of the method with a callback.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - desiredStoreURL: The file; nil for `database.sqlite` in the user's documents directory.
  ///   - persistentStoreOptions: The store's options.
  ///   - progress: Gets one unit, which a migration advances gradually. A cancellation prevents the creation
  ///     of a stack and rolls back a migration in progress.
  /// - Throws: `CoreDataStack.Error`, or an error of adding the store; `CocoaError.userCancelled`.
  public static func constructSQLiteStack(
    model: NSManagedObjectModel, at desiredStoreURL: URL? = nil,
    persistentStoreOptions: [AnyHashable: Any]? = NSPersistentStoreCoordinator.stockSQLiteStoreOptions,
    progress: Progress? = nil
  ) async throws -> CoreDataStack {
    let url = desiredStoreURL ?? documentsURL(named: "database")
    let steps = ProgressSteps(progress, count: 1)
    try steps.begin()
    do {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw Error.unableToCreateStore(at: url)
    }
    let coordinator = try await StoreOpening.open(model, .file(url), options: persistentStoreOptions, steps)
    return CoreDataStack(coordinator, .file(url))
  }

  // MARK: Memory

  /// Sets up a stack in memory, for a model in a bundle. Traps if the bundle lacks it.
  ///
  /// ```swift
  /// let stack = try CoreDataStack.constructInMemoryStack(modelName: "Library")  // for tests
  /// ```
  ///
  /// - Throws: Errors of adding the store.
  public static func constructInMemoryStack(modelName: String, in bundle: Bundle = .main) throws
    -> CoreDataStack
  {
    try constructInMemoryStack(model: bundle.managedObjectModel(name: modelName))
  }

  /// Sets up a stack in memory, for a model.
  ///
  /// - Throws: Errors of adding the store.
  public static func constructInMemoryStack(model: NSManagedObjectModel) throws -> CoreDataStack {
    CoreDataStack(try StoreOpening.coordinator(model, .memory), .memory)
  }

  /// Returns the default file of a stack.
  static func documentsURL(named name: String) -> URL {
    let documents =
      FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
      ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("Documents")
    return documents.appendingPathComponent("\(name).sqlite")
  }
}

extension Bundle {
  /// Returns the model of this name, compiled or as source. Traps if the bundle lacks it.
  ///
  /// If the program is not a bundle, the main bundle represents all bundles that the package manager placed
  /// beside the program.
  public func managedObjectModel(name: String) -> NSManagedObjectModel {
    for type in ["momd", "mom", "xcdatamodeld", "xcdatamodel"] {
      if let url = url(forResource: name, withExtension: type),
        let model = NSManagedObjectModel(contentsOf: url)
      {
        return model
      }
    }
    #if !canImport(Darwin)
    // Searches beside the program, and traps with the list of locations.
    if self == .main { return NSPersistentContainer(name: name).managedObjectModel }
    #endif
    preconditionFailure(
      "the bundle at \(bundlePath) has no model '\(name)' (.momd, .mom, .xcdatamodeld or .xcdatamodel)")
  }
}
