import CoreData
import Foundation
import TestSupport

/// Stores of notes with large values, in a temporary directory that is removed with the object.
final class BlobStore {
  let directory: URL

  init() throws { directory = try TemporaryPlace.makeDirectory() }

  deinit {
    chmod(directory.path, 0o700)
    try? FileManager.default.removeItem(at: directory)
  }

  static func model() -> NSManagedObjectModel {
    let note = NSEntityDescription()
    note.name = "Note"
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .stringAttributeType
    text.isOptional = true
    let scan = NSAttributeDescription()
    scan.name = "scan"
    scan.attributeType = .binaryDataAttributeType
    scan.isOptional = true
    scan.allowsExternalBinaryDataStorage = true
    note.properties = [text, scan]
    let model = NSManagedObjectModel()
    model.entities = [note]
    return model
  }

  func url(_ name: String = "Notes.sqlite") -> URL { directory.appendingPathComponent(name) }

  /// Returns a coordinator with the store of this name.
  func open(_ name: String = "Notes.sqlite", options: [AnyHashable: Any]? = nil) throws
    -> NSPersistentStoreCoordinator
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url(name), options: options)
    return coordinator
  }

  /// Creates a store with some notes and closes it.
  func make(_ name: String = "Notes.sqlite", notes: Int = 1, blob: Bool = false) throws {
    let coordinator = try open(name)
    try Self.insert(notes, blob: blob, into: coordinator)
    try Self.close(coordinator)
  }

  static func insert(_ count: Int, blob: Bool = false, into coordinator: NSPersistentStoreCoordinator) throws
  {
    let context = coordinator.newContext()
    try context.performAndWait {
      for number in 0..<count {
        context.insert("Note", ["text": "note \(number)"]).setValue(blob ? Self.blob : nil, forKey: "scan")
      }
      try context.save()
    }
  }

  /// A value that is large enough for an external file.
  static let blob = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  static func count(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
    let context = coordinator.newContext()
    return try context.performAndWait { try context.count("Note") }
  }

  static func blobs(_ coordinator: NSPersistentStoreCoordinator) throws -> [Data?] {
    let context = coordinator.newContext()
    return try context.performAndWait { try context.all("Note").map { $0.value(forKey: "scan") as? Data } }
  }

  static func close(_ coordinator: NSPersistentStoreCoordinator) throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Names of the files in the directory.
  var names: [String] { Self.names(in: directory.path) }

  static func names(in path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  /// Returns the directory of external data of the store with this base name.
  func external(_ base: String = "Notes") -> String { directory.path + "/.\(base)_SUPPORT/_EXTERNAL_DATA" }

  /// Returns the inode number of the file at a path, without following links.
  static func number(_ path: String) -> UInt64? { status(path).map { UInt64($0.st_ino) } }

  /// Returns the permissions of a file or directory.
  static func permissions(_ path: String) -> UInt32? { status(path).map { UInt32($0.st_mode) & 0o777 } }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }
}
