import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Moving a store to another file after a program was killed while it did the same.
@Suite struct StorePlacementTests {
  private let _directory: URL
  private let _stack: TestStack

  init() throws {
    _directory = try TemporaryPlace.makeDirectory()
    _stack = try TestStack(.sqlite)
    try _stack.root.performAndWait {
      let author = _stack.root.insert("Author", ["name": "Ada"])
      _stack.root.insert("Book", ["title": "Notes"]).setValue(author, forKey: "author")
      try _stack.root.save()
    }
  }

  private var _destination: URL { _directory.appendingPathComponent("Moved.sqlite") }
  private var _mark: URL { _directory.appendingPathComponent(".Moved.sqlite.moving") }
  private var _unfinished: URL { _directory.appendingPathComponent(".Moved.sqlite.moving.sqlite") }
  private var _store: NSPersistentStore { _stack.coordinator.persistentStores[0] }

  private func _move() throws {
    _ = try _stack.coordinator.migratePersistentStore(_store, to: _destination, type: .sqlite)
  }

  private var _files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: _directory.path).sorted()
        .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    }
  }

  /// Adds the store at the destination to another coordinator.
  private func _open() throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: _destination, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func _expectMoved() throws {
    #expect(_store.url == _destination)
    #expect(try _files == ["Moved.sqlite"])
    try _stack.root.performAndWait {
      let books = try _stack.root.all("Book", by: "title")
      #expect(books.map { $0.text("title") } == ["Notes"])
      #expect((books.first?.value(forKey: "author") as? NSManagedObject)?.text("name") == "Ada")
    }
  }

  @Test func `a move leaves the store and nothing beside it`() throws {
    try _move()
    try _expectMoved()
  }

  @Test func `a move tells of the program's stores and of no other`() throws {
    nonisolated(unsafe) var urls: Set<URL?> = []
    let removal = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: nil, queue: nil
    ) { notification in
      // Other tests run at the same time, in other directories.
      let url = (notification.object as? NSPersistentStore)?.url
      if url?.path.hasPrefix(_directory.path) ?? false { urls.insert(url) }
    }
    defer { NotificationCenter.default.removeObserver(removal) }
    try _move()
    #expect(urls == [_destination])
  }

  @Test func `objects are announced with the IDs that they have in the moved store`() throws {
    let old = try _stack.root.performAndWait { try _stack.root.all("Author", by: "name")[0].objectID }
    nonisolated(unsafe) var pairs: [NSManagedObjectID] = []
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: _stack.coordinator, queue: nil
    ) { notification in
      let changed = notification.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any]
      if let ids = changed?.last as? [NSManagedObjectID] { pairs = ids }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try _move()
    let place = try #require(pairs.firstIndex(of: old))
    let moved = pairs[place + 1]
    #expect(moved.persistentStore === _store)
    let name = try _stack.root.performAndWait { try _stack.root.existingObject(with: moved).text("name") }
    #expect(name == "Ada")
  }

  @Test func `a move is repeated after a program was killed while it filled the new store`() throws {
    try Data("\(_store.identifier!)".utf8).write(to: _mark)
    try Data("half a store".utf8).write(to: _unfinished)
    try _move()
    try _expectMoved()
  }

  @Test func `a move is repeated after a program was killed before it was done with the new store`() throws {
    let identifier = _store.identifier!
    let copy = try TestStack(.sqlite)
    let source = copy.coordinator.persistentStores[0]
    _ = try copy.coordinator.migratePersistentStore(source, to: _destination, type: .sqlite)
    try copy.coordinator.remove(copy.coordinator.persistentStores[0])
    try Data(identifier.utf8).write(to: _mark)
    try _move()
    try _expectMoved()
  }

  @Test func `a store that a program has opened after the killed move stays`() throws {
    try Data(_store.identifier!.utf8).write(to: _mark)
    let other = try _open()
    try other.performAndWait {
      other.insert("Author", ["name": "Eve"])
      try other.save()
    }
    #expect(throws: CocoaError.self) { try _move() }
    let names = try other.performAndWait { try other.all("Author", by: "name").map { $0.text("name") } }
    #expect(names == ["Eve"])
    #expect(try _files == ["Moved.sqlite"])
  }

  @Test func `the copy of another store stays, and its move can still be repeated`() throws {
    _ = try _open()
    try Data("another store".utf8).write(to: _mark)
    let error = #expect(throws: CocoaError.self) { try _move() }
    #expect(error?.code == .fileWriteFileExists)
    #expect(try _files == [".Moved.sqlite.moving", "Moved.sqlite"])
  }

  @Test func `a file at the destination is refused`() throws {
    try Data("a letter".utf8).write(to: _destination)
    let error = #expect(throws: CocoaError.self) { try _move() }
    #expect(error?.code == .fileWriteFileExists)
    #expect(try _files == ["Moved.sqlite"])
    #expect(try Data(contentsOf: _destination) == Data("a letter".utf8))
  }

  @Test func `one move at a time has the destination`() throws {
    let descriptor = open(_mark.path, O_RDWR | O_CREAT, 0o600)
    defer { close(descriptor) }
    #expect(flock(descriptor, LOCK_EX) == 0)
    let error = #expect(throws: (any Error).self) { try _move() }
    #expect("\(error!)".contains("moving a store"))
    #expect(FileManager.default.fileExists(atPath: _mark.path))
    #expect(!FileManager.default.fileExists(atPath: _destination.path))
  }

  @Test func `a moved store keeps its external data`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["cover"]!.allowsExternalBinaryDataStorage = true
    let stack = try TestStack(.sqlite, model: model)
    let cover = Data(repeating: 7, count: 2_000_000)
    try stack.root.performAndWait {
      stack.root.insert("Book", ["title": "Atlas", "cover": cover])
      try stack.root.save()
    }
    _ = try stack.coordinator.migratePersistentStore(
      stack.coordinator.persistentStores[0], to: _destination, type: .sqlite)
    let moved = try stack.root.performAndWait {
      stack.root.reset()
      return try stack.root.all("Book", by: "title")[0].value(forKey: "cover") as? Data
    }
    #expect(moved == cover)
    #expect(try _files.filter { $0.contains("moving") }.isEmpty)
  }
}
