import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// The settings in which a behaviour must hold: each store type, in a context on the coordinator and in a
/// child of one.
enum Setting: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case sqlite
  case memory
  case nestedOverSQLite
  case nestedOverMemory

  /// On a server, those in memory are left out: they are tested where there is none.
  static let allCases: [Setting] =
    TestDatabase.server == nil
    ? [.sqlite, .memory, .nestedOverSQLite, .nestedOverMemory] : [.sqlite, .nestedOverSQLite]
  static let direct = allCases.filter { !$0.isNested }
  static let nested = allCases.filter(\.isNested)

  var testDescription: String { rawValue }
  var isNested: Bool { self == .nestedOverSQLite || self == .nestedOverMemory }
  var isSQLite: Bool { self == .sqlite || self == .nestedOverSQLite }
}

/// The database of the tests that support several: a SQLite file, or with `COREDATA_TEST_POSTGRESQL` in the
/// environment, a schema on a PostgreSQL server that exists as long as the process.
enum TestDatabase {
  static let server: PostgreSQLServer? =
    ProcessInfo.processInfo.environment["COREDATA_TEST_POSTGRESQL"] == nil ? nil : PostgreSQLServer.shared!

  static var type: String { server == nil ? NSSQLiteStoreType : NSPostgreSQLStoreType }

  /// Returns the location of a store of `type` that replaces a file which does not exist yet.
  static func place(_ file: URL) -> URL { server?.newURL() ?? file }

  /// Returns options for a test's store, including those that a server needs to support what a file does.
  static func options(_ given: [AnyHashable: Any]?) -> [AnyHashable: Any]? {
    guard server != nil else { return given }
    return (given ?? [:]).merging([NSPostgreSQLQueryGenerationsOption: 16]) { first, _ in first }
  }

  /// Returns whether an error says that a predicate has no counterpart in PostgreSQL: `canonical:`, and
  /// regular expressions that mean something else there or ignore combining marks.
  static func refuses(_ error: any Error) -> Bool {
    let text = (error as NSError).localizedDescription
    return server != nil && text.contains("cannot be translated to SQL")
      && (text.contains("canonical:") || text.contains("MATCHES") || text.contains("'matches'"))
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests that inspect a file, SQLite's own SQL, or what only SQLite refuses.
  static var ofFiles: Self {
    .enabled(if: TestDatabase.server == nil, "the store is on PostgreSQL, and the test is about SQLite files")
  }
}

/// A coordinator with one store, and contexts on it. The file is removed when the process ends: contexts may
/// save after the stack has been deallocated.
final class TestStack: @unchecked Sendable {
  // Unchecked: immutable; contexts are used on their queues.
  let setting: Setting
  let coordinator: NSPersistentStoreCoordinator
  let url: URL
  /// The context under test: on the coordinator, or a child of `root`.
  let context: NSManagedObjectContext
  /// The context on the coordinator.
  let root: NSManagedObjectContext

  /// Options that the store was added with.
  private let _options: [AnyHashable: Any]?

  init(
    _ setting: Setting, model: NSManagedObjectModel = LibraryModel.make(), options: [AnyHashable: Any]? = nil
  ) throws {
    self.setting = setting
    _options = setting.isSQLite ? TestDatabase.options(options) : options
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    url = try TestDatabase.place(TemporaryPlace.makeDirectory().appendingPathComponent("Store.sqlite"))
    try coordinator.addPersistentStore(
      ofType: setting.isSQLite ? TestDatabase.type : NSInMemoryStoreType, configurationName: nil,
      at: setting.isSQLite ? url : nil, options: _options)
    root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    root.persistentStoreCoordinator = coordinator
    if setting.isNested {
      context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.parent = root
    } else {
      context = root
    }
  }

  /// Returns another context on the coordinator.
  func sibling() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Returns a child of a context.
  func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.parent = parent
    return context
  }

  /// Returns another coordinator on the same file, with the same options by default.
  func otherCoordinator(options: [AnyHashable: Any]?? = .none) throws -> NSPersistentStoreCoordinator {
    let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    try other.addPersistentStore(
      ofType: TestDatabase.type, configurationName: nil, at: url, options: options ?? _options)
    return other
  }

  /// Saves the context under test and its parents, up to the store.
  func save() throws {
    try context.performAndWait { try context.save() }
    if setting.isNested { try root.performAndWait { try root.save() } }
  }

  /// Inserts an object in the root context and saves it.
  func stored(_ entity: String, _ values: [String: Any] = [:]) throws -> NSManagedObject {
    try root.performAndWait {
      let object = root.insert(entity, values)
      try root.save()
      return object
    }
  }

  /// Runs a block in a new context.
  func fresh<T>(_ body: (NSManagedObjectContext) throws -> T) rethrows -> T {
    let context = sibling()
    return try context.performAndWait { try body(context) }
  }
}

extension NSPersistentStoreCoordinator {
  /// Returns a new context on the coordinator.
  func newContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = self
    return context
  }
}

/// Waits for a condition that another thread or process will fulfil; returns false if it never does.
func eventually(_ condition: () -> Bool) -> Bool {
  for _ in 0..<4000 {
    if condition() { return true }
    usleep(5000)
  }
  return condition()
}

extension NSManagedObjectContext {
  /// Inserts an object and sets its properties.
  @discardableResult
  func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// Fetches all objects of an entity, sorted by one attribute.
  func all(_ entity: String, by key: String? = nil, where predicate: NSPredicate? = nil) throws
    -> [NSManagedObject]
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = predicate
    if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
    return try fetch(request)
  }

  func count(_ entity: String) throws -> Int {
    try count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
  }
}

extension NSManagedObject {
  func text(_ key: String) -> String? { value(forKey: key) as? String }
  func object(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
  func objects(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
}
