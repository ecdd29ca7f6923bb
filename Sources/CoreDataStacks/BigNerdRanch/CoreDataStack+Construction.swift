import CoreData
import Foundation

// Set-up is asynchronous, since adding a SQLite store may mean migrating it, which takes as long as it takes.

extension CoreDataStack {
  // MARK: SQLite

  /// Sets a stack up on a SQLite file, for a model found in a bundle.
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
  ///   - modelName: Name of the model. Traps if the bundle does not have it.
  ///   - bundle: Where the model is.
  ///   - desiredStoreURL: The file; nil for one named after the model in the user's documents directory.
  ///   - persistentStoreOptions: Options that the store is added with.
  ///   - callbackQueue: Where to call back; a background queue if nil.
  ///   - callback: Called with the stack, or the error.
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

  /// Sets a stack up on a SQLite file, for a model.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - desiredStoreURL: The file; nil for `database.sqlite` in the user's documents directory.
  ///   - persistentStoreOptions: Options that the store is added with.
  ///   - callbackQueue: Where to call back; a background queue if nil.
  ///   - callback: Called with the stack, or the error.
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

  /// Sets a stack up on a SQLite file, for a model found in a bundle. The async form of the one with a
  /// callback.
  ///
  /// - Parameters:
  ///   - modelName: Name of the model. Traps if the bundle does not have it.
  ///   - bundle: Where the model is.
  ///   - desiredStoreURL: The file; nil for one named after the model in the user's documents directory.
  ///   - persistentStoreOptions: Options that the store is added with.
  ///   - progress: Gets one unit, which a migration moves on bit by bit. Cancelled meanwhile, no stack is
  ///     made, and a migration that has begun is taken back.
  /// - Throws: `CoreDataStack.Error`, or what adding the store throws; `CocoaError.userCancelled`.
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

  /// Sets a stack up on a SQLite file, for a model. The async form of the one with a callback.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - desiredStoreURL: The file; nil for `database.sqlite` in the user's documents directory.
  ///   - persistentStoreOptions: Options that the store is added with.
  ///   - progress: Gets one unit, which a migration moves on bit by bit. Cancelled meanwhile, no stack is
  ///     made, and a migration that has begun is taken back.
  /// - Throws: `CoreDataStack.Error`, or what adding the store throws; `CocoaError.userCancelled`.
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

  /// Sets a stack up in memory, for a model found in a bundle. Traps if the bundle does not have it.
  ///
  /// ```swift
  /// let stack = try CoreDataStack.constructInMemoryStack(modelName: "Library")  // for tests
  /// ```
  ///
  /// - Throws: What adding the store throws.
  public static func constructInMemoryStack(modelName: String, in bundle: Bundle = .main) throws
    -> CoreDataStack
  {
    try constructInMemoryStack(model: bundle.managedObjectModel(name: modelName))
  }

  /// Sets a stack up in memory, for a model.
  ///
  /// - Throws: What adding the store throws.
  public static func constructInMemoryStack(model: NSManagedObjectModel) throws -> CoreDataStack {
    CoreDataStack(try StoreOpening.coordinator(model, .memory), .memory)
  }

  /// File of a stack that was not told where to put it.
  static func documentsURL(named name: String) -> URL {
    let documents =
      FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first
      ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent("Documents")
    return documents.appendingPathComponent("\(name).sqlite")
  }
}

extension Bundle {
  /// The model of this name, compiled or as its source. Traps if the bundle does not have it.
  ///
  /// Where programs are no bundles, the main bundle stands for all bundles that the package manager put
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
    // Looks beside the program, and traps with the list of places.
    if self == .main { return NSPersistentContainer(name: name).managedObjectModel }
    #endif
    preconditionFailure(
      "the bundle at \(bundlePath) has no model '\(name)' (.momd, .mom, .xcdatamodeld or .xcdatamodel)")
  }
}
