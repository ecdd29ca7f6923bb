import CoreData
import Foundation

/// A store file of an older version of the model, for tests of migrations.
///
/// ```swift
/// @Test(.coreData("Library", bundle: .module), arguments: try OldStore.all(in: "OldStores", of: .module))
/// func `Stores of every release migrate`(old: OldStore) throws {
///   let migrated = try TestStore.current.migrate(old)
///   migrated.expectRows(try old.rowCounts(with: ModelVersions("Library", in: .module)))
///   try migrated.expectSnapshot(named: old.name)
/// }
/// ```
public struct OldStore: Sendable, CustomStringConvertible {
  /// The file.
  public let url: URL
  /// The file's name without its extension, for messages and snapshots.
  public let name: String
  /// The name.
  public var description: String { name }

  /// A file that is an old store. It is only read, and copied.
  public init(_ url: URL) {
    self.url = url
    name = url.deletingPathExtension().lastPathComponent
  }

  /// All SQLite files of a folder and of those inside, by name.
  ///
  /// - Parameters:
  ///   - folder: The folder's name in the bundle's resources, which the manifest copies (`.copy("OldStores")`).
  ///   - bundle: The bundle: `.module` for a resource of the test's target.
  /// - Throws: `TestStoreError` if there is no such folder, or no store in it.
  public static func all(in folder: String, of bundle: Bundle) throws -> [OldStore] {
    guard let resources = bundle.resourceURL else {
      throw TestStoreError("\(bundle.bundlePath) has no resources.")
    }
    return try all(in: resources.appendingPathComponent(folder, isDirectory: true))
  }

  /// All SQLite files of a folder and of those inside, by name.
  ///
  /// - Throws: `TestStoreError` if there is no such folder, or no store in it.
  public static func all(in folder: URL) throws -> [OldStore] {
    guard let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) else {
      throw TestStoreError("There is no folder \(folder.path).")
    }
    let found = files.compactMap { $0 as? URL }.filter(_isStore).sorted { $0.path < $1.path }
    guard !found.isEmpty else {
      throw TestStoreError("There is no store in \(folder.path): no file that begins as SQLite's do.")
    }
    return found.map(OldStore.init)
  }

  private static func _isStore(_ url: URL) -> Bool {
    guard let file = try? FileHandle(forReadingFrom: url) else { return false }
    defer { try? file.close() }
    return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
  }

  /// The number of rows of each entity, read from a copy of the file with the version of the model that made it.
  ///
  /// - Throws: `TestStoreError` if no version made it, or it cannot be read.
  public func rowCounts(with versions: ModelVersions) throws -> [String: Int] {
    let directory = try TestDirectory()
    defer { directory.remove() }
    let copy = try copied(into: directory.url)
    let model = try versions.model(of: copy)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: copy, options: nil)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try context.rowCounts(model) }
  }

  /// Copies the store with its log and its folder of external data.
  func copied(into directory: URL) throws -> URL {
    let files = FileManager.default
    let destination = directory.appendingPathComponent(url.lastPathComponent)
    for suffix in ["", "-wal", "-shm"] {
      let source = URL(fileURLWithPath: url.path + suffix)
      guard suffix.isEmpty || files.fileExists(atPath: source.path) else { continue }
      let target = URL(fileURLWithPath: destination.path + suffix)
      try files.copyItem(at: source, to: target)
      // Resources may be read-only.
      try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target.path)
    }
    let support = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"
    let source = url.deletingLastPathComponent().appendingPathComponent(support)
    if files.fileExists(atPath: source.path) {
      try files.copyItem(at: source, to: directory.appendingPathComponent(support))
    }
    return destination
  }
}

extension NSManagedObjectContext {
  /// The number of rows of each entity that is not abstract, without those of its subentities.
  func rowCounts(_ model: NSManagedObjectModel) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for entity in model.entities where !entity.isAbstract {
      guard let name = entity.name else { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: name)
      request.includesSubentities = false
      counts[name] = try count(for: request)
    }
    return counts
  }
}
