import CoreData
import CoreDataSQLiteBinding
import Foundation
import TestSupport
import Testing

/// States in which a killed process leaves a store, created by copying the files of an open store.
enum KilledStore: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// The log contains only its header: killed in the first write after the store was opened.
  case headerOnlyLog
  /// The log contains commits that are not in the database file.
  case fullLog
  /// The log contains commits, and the shared memory is missing.
  case logWithoutSharedMemory
  /// A transaction without a log was interrupted.
  case hotJournal

  var testDescription: String { rawValue }

  /// Names of the authors in each such store.
  static let names = ["Austen", "Brontë"]

  private static let _files = ["", "-wal", "-shm", "-journal"]

  /// Creates the store at a URL.
  func make(at url: URL, model: NSManagedObjectModel = LibraryModel.make()) throws {
    let place = try TemporaryPlace.makeDirectory()
    defer { try? FileManager.default.removeItem(at: place) }
    let live = place.appendingPathComponent("Live.sqlite")
    let mode = self == .hotJournal ? "DELETE" : "WAL"
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: live,
      options: [NSSQLitePragmasOption: ["journal_mode": mode]])
    try coordinator.newContext().fill()
    switch self {
    case .headerOnlyLog:
      // Closing checkpoints the log into the file.
      try coordinator.remove(store)
      let connection = try Connection(path: live.path, mode: .readWrite)
      try connection.execute("PRAGMA user_version = 1")
      try _copy(live, to: url)
      try connection.checkpoint(.truncate)
      try FileManager.default.removeItem(at: url)
      try FileManager.default.copyItem(at: live, to: url)
      let log = URL(fileURLWithPath: url.path + "-wal")
      try Data(contentsOf: log).prefix(32).write(to: log)
    case .fullLog: try _copy(live, to: url)
    case .logWithoutSharedMemory:
      try _copy(live, to: url)
      try FileManager.default.removeItem(atPath: url.path + "-shm")
    case .hotJournal:
      let connection = try Connection(path: live.path, mode: .readWrite)
      // Pages reach the file before the commit.
      try connection.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE")
      try connection.execute("DELETE FROM ZAUTHOR")
      try connection.execute("CREATE TABLE filler(a)")
      try connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) "
          + "INSERT INTO filler SELECT randomblob(4000) FROM n")
      try _copy(live, to: url)
      try connection.execute("ROLLBACK")
    }
  }

  private func _copy(_ from: URL, to: URL) throws {
    for suffix in Self._files where FileManager.default.fileExists(atPath: from.path + suffix) {
      try FileManager.default.copyItem(atPath: from.path + suffix, toPath: to.path + suffix)
    }
  }
}

extension NSManagedObjectContext {
  fileprivate func fill() throws {
    try performAndWait {
      for name in KilledStore.names { insert("Author", ["name": name]) }
      try save()
    }
  }
}
