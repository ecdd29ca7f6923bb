import CoreData
import CoreDataSQLiteBinding
import Foundation
import Synchronization
import TestSupport
import Testing

/// A store opens again whatever state a process has left it in.
@Suite struct OpeningTests: Sendable {
  private let _place: URL
  private let _url: URL

  init() throws {
    _place = try TemporaryPlace.makeDirectory()
    _url = _place.appendingPathComponent("Store.sqlite")
  }

  @discardableResult
  private func _add(
    _ url: URL? = nil, model: NSManagedObjectModel = LibraryModel.make(), options: [String: Any] = [:]
  ) throws -> NSPersistentStoreCoordinator {
    // No test waits for the default timeout of four minutes.
    let options = [NSPersistentStoreTimeoutOption: 5 as Any].merging(options) { $1 }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url ?? _url, options: options)
    return coordinator
  }

  /// Returns the model's next version.
  private static func _nextModel() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]?.properties.append(LibraryModel.attribute("note", .stringAttributeType))
    return model
  }

  private func _names(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
    let context = coordinator.newContext()
    return try context.performAndWait { try context.texts("Author", "name") }
  }

  private func _save(_ name: String, _ coordinator: NSPersistentStoreCoordinator) throws {
    let context = coordinator.newContext()
    try context.performAndWait {
      context.insert("Author", ["name": name])
      try context.save()
    }
  }

  /// Creates a file in the state between setting the journal mode and creating the tables of a new store.
  private func _makeHeader(at url: URL) throws {
    let connection = try Connection(path: url.path)
    try connection.execute("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL")
  }

  // MARK: After a kill

  @Test(arguments: KilledStore.allCases)
  func `reading metadata changes no file`(_ state: KilledStore) throws {
    func content() throws -> [String: Data] {
      let names = try FileManager.default.contentsOfDirectory(atPath: _place.path)
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: _place.appendingPathComponent($0))) })
    }
    try state.make(at: _url)
    let before = try content()
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: _url)
    #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    try #expect(content() == before)
  }

  @Test(arguments: KilledStore.allCases)
  func `a store that a killed process left opens and saves`(_ state: KilledStore) throws {
    try state.make(at: _url)
    let coordinator = try _add()
    #expect(try _names(coordinator) == KilledStore.names)
    try _save("Cather", coordinator)
    #expect(try _names(try _add()) == KilledStore.names + ["Cather"])
  }

  @Test(arguments: KilledStore.allCases)
  func `a read-only store left by a killed process keeps its files`(_ state: KilledStore) throws {
    try state.make(at: _url)
    let before = try Data(contentsOf: _url)
    let names = try FileManager.default.contentsOfDirectory(atPath: _place.path).sorted()
    let coordinator = try _add(options: [NSReadOnlyPersistentStoreOption: true])
    #expect(try _names(coordinator) == KilledStore.names)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    #expect(try Data(contentsOf: _url) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: _place.path).sorted() == names)
  }

  @Test(arguments: KilledStore.allCases)
  func `the metadata of a store that a killed process left are read`(_ state: KilledStore) throws {
    try state.make(at: _url)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: _url)
    #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
    #expect(try _names(try _add()) == KilledStore.names)
  }

  @Test(arguments: KilledStore.allCases)
  func `a store left by a killed process is destroyed and recreated`(_ state: KilledStore) throws {
    try state.make(at: _url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.destroyPersistentStore(at: _url, type: .sqlite)
    #expect(try _names(try _add()) == [])
  }

  @Test(arguments: KilledStore.allCases)
  func `a store that a killed process left replaces another one`(_ state: KilledStore) throws {
    try state.make(at: _url)
    let other = _place.appendingPathComponent("Other.sqlite")
    try _save("Cather", _add(other))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: _url, type: .sqlite)
    #expect(try _names(try _add(other)) == KilledStore.names)
  }

  @Test(arguments: KilledStore.allCases)
  func `a store that a killed process left is replaced`(_ state: KilledStore) throws {
    try state.make(at: _url)
    let other = _place.appendingPathComponent("Other.sqlite")
    try _save("Cather", _add(other))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.replacePersistentStore(at: _url, withPersistentStoreFrom: other, type: .sqlite)
    #expect(try _names(try _add()) == ["Cather"])
  }

  @Test(arguments: KilledStore.allCases)
  func `a store that a killed process left is migrated`(_ state: KilledStore) throws {
    try state.make(at: _url)
    let model = Self._nextModel()
    let coordinator = try _add(model: model, options: MigrationFixture.automatic)
    #expect(try _names(coordinator) == KilledStore.names)
  }

  // MARK: Creation cut short

  @Test func `a file that has a header and no tables becomes a store`() throws {
    try _makeHeader(at: _url)
    try _save("Austen", _add())
    #expect(try _names(try _add()) == ["Austen"])
  }

  @Test func `a file that has a header and no tables is destroyed`() throws {
    try _makeHeader(at: _url)
    try NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make()).destroyPersistentStore(
      at: _url, type: .sqlite)
    try _save("Austen", _add())
  }

  @Test func `a file that has a header and no tables is replaced`() throws {
    try _makeHeader(at: _url)
    let other = _place.appendingPathComponent("Other.sqlite")
    try _save("Austen", _add(other))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.replacePersistentStore(at: _url, withPersistentStoreFrom: other, type: .sqlite)
    #expect(try _names(try _add()) == ["Austen"])
  }

  @Test func `a database of other tables is no store and stays as it is`() throws {
    try Connection(path: _url.path).execute("CREATE TABLE mine(a)")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    #expect(throws: CocoaError.self) { _ = try _add() }
    #expect(throws: CocoaError.self) { try coordinator.destroyPersistentStore(at: _url, type: .sqlite) }
    #expect(try Connection(path: _url.path).firstValue("SELECT name FROM sqlite_master") == .text("mine"))
  }

  // MARK: At once

  @Test func `many threads create a store at once`() throws {
    for _ in 0..<10 {
      let url = _place.appendingPathComponent("\(UUID().uuidString).sqlite")
      let failures = Failures()
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        failures.catching { try _save("\(number)", _add(url)) }
      }
      #expect(failures.found == [])
      #expect(try _names(try _add(url)) == (0..<8).map(String.init))
    }
  }

  @Test(arguments: ["WAL", "DELETE", "TRUNCATE"])
  func `a store opens while other threads open, read and close it`(_ mode: String) throws {
    let pragmas = ["journal_mode": mode]
    try _save("Austen", _add(options: [NSSQLitePragmasOption: pragmas]))
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 6) { number in
      for round in 0..<15 {
        failures.catching {
          if number == 0, round % 3 == 0 {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: _url)
          }
          var options: [String: Any] = [
            NSSQLitePragmasOption: pragmas, NSPersistentStoreTimeoutOption: 60,
          ]
          if number == 1 { options[NSReadOnlyPersistentStoreOption] = true }
          let coordinator = try _add(options: options)
          if try _names(coordinator).contains("Austen") == false { throw CocoaError(.coderValueNotFound) }
          for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
      }
    }
    #expect(failures.found == [])
  }

  @Test func `many threads migrate a store at once`() throws {
    try _save("Austen", _add())
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      failures.catching {
        let options = MigrationFixture.automatic.merging([NSPersistentStoreTimeoutOption: 60 as Any]) { $1 }
        let coordinator = try _add(model: Self._nextModel(), options: options)
        if try _names(coordinator) != ["Austen"] { throw CocoaError(.coderValueNotFound) }
      }
    }
    #expect(failures.found == [])
  }

  // MARK: Locks

  @Test func `opening waits no longer than the timeout option says`() throws {
    try _save("Austen", _add())
    let other = try Connection(path: _url.path, mode: .readWrite)
    try other.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
    let options: [String: Any] = [NSPersistentStoreTimeoutOption: 0.1]
    let error = #expect(throws: CocoaError.self) { _ = try _add(options: options) }
    #expect(error?.code.rawValue == NSPersistentStoreTimeoutError)
    #expect(error?.localizedDescription.contains(_url.path) == true)
    let readOnly = options.merging([NSReadOnlyPersistentStoreOption: true as Any]) { $1 }
    #expect(throws: CocoaError.self) { _ = try _add(options: readOnly) }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `an exclusive lock outlives a look at the metadata`(_ mode: String) throws {
    let options: [String: Any] = [
      NSSQLitePragmasOption: ["journal_mode": mode, "locking_mode": "EXCLUSIVE"]
    ]
    let coordinator = try _add(options: options)
    try _save("Austen", coordinator)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: _url)
    #expect(metadata[NSStoreUUIDKey] as? String == coordinator.persistentStores.first?.identifier)
    let program =
      "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1], timeout=0)\n"
      + "try:\n  c.execute('create table t(a)')\nexcept sqlite3.OperationalError:\n  sys.exit(7)\n"
    let python = try ChildProcess.run("python3", ["-c", program, _url.path])
    // 127: Python is not installed.
    #expect([7, 127].contains(python.code))
    #expect(try _names(coordinator) == ["Austen"])
  }

  @Test func `a store that is locked exclusively reads while it writes`() throws {
    let coordinator = try _add(options: [NSSQLitePragmasOption: ["locking_mode": "EXCLUSIVE"]])
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 4) { number in
      failures.catching {
        try _save("\(number)", coordinator)
        _ = try _names(coordinator)
      }
    }
    #expect(failures.found == [])
    #expect(try _names(coordinator) == ["0", "1", "2", "3"])
  }

  @Test func `a log stays in use while another connection has it open`() throws {
    let first = try _add()
    try _save("Austen", first)
    let second = try _add(options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    try _save("Brontë", second)
    #expect(try _names(first) == ["Austen", "Brontë"])
  }

  // MARK: Causes

  @Test func `a migration without room fails and keeps the store`() throws {
    try _save("Austen", _add())
    let pages = try Connection(path: _url.path, mode: .readOnly).pragma("page_count")
    let model = LibraryModel.make()
    let entity = LibraryModel.entity("Publisher")
    entity.properties = [LibraryModel.attribute("name", .stringAttributeType)]
    model.entities.append(entity)
    let full: [String: Any] = [NSSQLitePragmasOption: ["max_page_count": try #require(pages)]]
    let error = #expect(throws: CocoaError.self) {
      _ = try _add(model: model, options: full.merging(MigrationFixture.automatic) { $1 })
    }
    #expect(error?.localizedDescription.contains("disk is full") == true)
    #expect(error?.localizedDescription.contains(_url.path) == true)
    #expect(try _names(try _add()) == ["Austen"])
  }
}

/// Errors from several threads.
private final class Failures: Sendable {
  private let _found = Mutex<[String]>([])

  var found: [String] { _found.withLock { $0 } }

  func catching(_ body: () throws -> Void) {
    do { try body() } catch { _found.withLock { $0.append("\(error)") } }
  }
}
