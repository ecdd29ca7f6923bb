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
    // Where the package manager puts resources: models are looked for there.
    _bundle = Bundle.main.bundleURL.appendingPathComponent("Migration-\(UUID().uuidString).resources")
  }

  deinit {
    try? FileManager.default.removeItem(at: _directory)
    try? FileManager.default.removeItem(at: _bundle)
  }

  /// A model of entities in a model file's XML.
  func model(_ entities: String) throws -> NSManagedObjectModel {
    let file = _directory.appendingPathComponent("contents")
    try Data("<model>\(entities)</model>".utf8).write(to: file)
    return try NSManagedObjectModel.load(contentsOf: file)
  }

  /// Makes a model one of the program's, and answers the name that its version has.
  @discardableResult
  func bundle(_ model: NSManagedObjectModel) throws -> String {
    _versions += 1
    let name = "V\(_versions)-\(UUID().uuidString)"
    try model.write(to: _bundle.appendingPathComponent("\(name).xcdatamodel"))
    return name
  }

  /// Makes a file one of the program's resources.
  func bundle(_ text: String, at path: String) throws {
    let file = _bundle.appendingPathComponent(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  static var automatic: [String: Any] {
    [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
  }

  /// Opens the store, or another one, and runs `body` with a context; the store is closed afterwards.
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

  /// The statements that made what is in the store.
  func schema() throws -> [String] {
    var found: [String] = []
    try Connection(path: url.path, mode: .readOnly).query(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
    ) { found.append($0.string(0)) }
    return found
  }

  /// Takes the store's own copy of its model away.
  func forgetModel() throws {
    try Connection(path: url.path, mode: .readWrite).execute("DELETE FROM Z_MODELCACHE")
  }

  /// Saves a store with the old version and opens it with the new one.
  func migrate<T>(
    _ old: String, _ fill: (NSManagedObjectContext) throws -> Void, to new: String,
    _ body: (NSManagedObjectContext) throws -> T
  ) throws -> T {
    let before = try model(old)
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

  /// All objects of an entity by the text in an attribute.
  func listed(_ entity: String, by key: String) throws -> [String: NSManagedObject] {
    let objects = try fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
    return Dictionary(
      objects.map { ($0.value(forKey: key) as? String ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Texts of an attribute of all objects of an entity, sorted.
  func texts(_ entity: String, _ key: String) throws -> [String] { try listed(entity, by: key).keys.sorted() }
}

extension NSManagedObject {
  /// Texts of an attribute of a to-many's members: sorted, or in their order if they have one.
  func texts(_ relationship: String, _ key: String) -> [String] {
    if let ordered = value(forKey: relationship) as? NSOrderedSet {
      return ordered.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: key) as? String }
    }
    return (value(forKey: relationship) as? Set<NSManagedObject> ?? []).compactMap {
      $0.value(forKey: key) as? String
    }.sorted()
  }
}
