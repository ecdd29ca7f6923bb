import CoreDataSQLiteBinding
import Foundation

@testable import CoreData

/// A store that is saved with one version of a model and opened with others.
final class MigrationFixture {
  let url: URL
  private let _directory: URL
  private let _bundle: URL
  private var _versions = 0

  init() throws {
    _directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "migration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: _directory, withIntermediateDirectories: true)
    url = TestDatabase.place(_directory.appendingPathComponent("Store.sqlite"))
    // The package manager's location for resources, where models are searched.
    _bundle = Bundle.main.bundleURL.appendingPathComponent("Migration-\(UUID().uuidString).resources")
  }

  deinit {
    try? FileManager.default.removeItem(at: _directory)
    try? FileManager.default.removeItem(at: _bundle)
  }

  /// Parses a model of entities in a model file's XML.
  func model(_ entities: String) throws -> NSManagedObjectModel {
    let file = _directory.appendingPathComponent("contents")
    try Data("<model>\(entities)</model>".utf8).write(to: file)
    return try NSManagedObjectModel.load(contentsOf: file)
  }

  /// Adds a model to the program's resources, and returns its version's name.
  @discardableResult
  func bundle(_ model: NSManagedObjectModel) throws -> String {
    _versions += 1
    let name = "V\(_versions)-\(UUID().uuidString)"
    try model.write(to: _bundle.appendingPathComponent("\(name).xcdatamodel"))
    return name
  }

  /// Adds a file to the program's resources.
  func bundle(_ text: String, at path: String) throws {
    let file = _bundle.appendingPathComponent(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  static var automatic: [String: Any] {
    [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
  }

  /// Opens the store, or another one, runs `body` with a context, and closes the store.
  @discardableResult
  func open<T>(
    _ model: NSManagedObjectModel, at other: URL? = nil, options: [String: Any]? = automatic,
    _ body: (NSManagedObjectContext) throws -> T
  ) throws -> T {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: TestDatabase.type, configurationName: nil, at: other ?? url, options: options)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  /// Returns the CREATE statements of the store.
  func schema() throws -> [String] {
    var found: [String] = []
    try Connection(path: url.path, mode: .readOnly).query(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
    ) { found.append($0.string(0)) }
    return found
  }

  /// Deletes the store's own copy of its model.
  func forgetModel() throws {
    try Connection(path: url.path, mode: .readWrite).execute("DELETE FROM Z_MODELCACHE")
  }

  /// Saves a store with the old version and opens it with the new one, in a program that has both.
  func migrate<T>(
    _ old: String, _ fill: (NSManagedObjectContext) throws -> Void, to new: String,
    _ body: (NSManagedObjectContext) throws -> T
  ) throws -> T {
    let before = try model(old)
    try bundle(before)
    try open(before, options: nil) { context in
      try fill(context)
      try context.save()
    }
    return try open(try model(new), body)
  }
}

extension NSManagedObjectContext {
  /// Inserts an object with values.
  @discardableResult
  func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// Returns all objects of an entity by the text of an attribute.
  func listed(_ entity: String, by key: String) throws -> [String: NSManagedObject] {
    let objects = try fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    return Dictionary(
      objects.map { ($0.value(forKey: key) as? String ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns an attribute of all objects of an entity, sorted.
  func texts(_ entity: String, _ key: String) throws -> [String] { try listed(entity, by: key).keys.sorted() }
}

extension NSManagedObject {
  /// Returns an attribute of a to-many's members: sorted, or in their order if the relationship is ordered.
  func texts(_ relationship: String, _ key: String) -> [String] {
    if let ordered = value(forKey: relationship) as? NSOrderedSet {
      return ordered.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: key) as? String }
    }
    return (value(forKey: relationship) as? Set<NSManagedObject> ?? []).compactMap {
      $0.value(forKey: key) as? String
    }.sorted()
  }
}
