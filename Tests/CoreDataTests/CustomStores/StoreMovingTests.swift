import CoreData
import Foundation
import Testing

/// An author that sets its name when inserted.
final class NamedAuthor: NSManagedObject {
  override func awakeFromInsert() { setPrimitiveValue("newborn", forKey: "name") }
}

/// Stores migrated as a whole to other types and locations.
@Suite struct StoreMovingTests {
  private let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("coredata-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  private static let types = [NSSQLiteStoreType, NSInMemoryStoreType, NotebookStore.type, ShelfStore.type]
  private static let pairs = types.flatMap { from in types.map { (from, $0) } }

  private func stack(_ type: String) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
    NSPersistentStoreCoordinator.registerStoreClass(NotebookStore.self, forStoreType: NotebookStore.type)
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil,
      at: type == NSInMemoryStoreType ? nil : directory.appendingPathComponent("Old"), options: nil)
    return (coordinator, store)
  }

  private func fill(_ coordinator: NSPersistentStoreCoordinator) throws {
    let context = coordinator.newContext()
    try context.performAndWait {
      let author = context.insert("Author", ["name": "Ann", "age": 40])
      author.setValue(context.insert("Author", ["name": "Bea"]), forKey: "mentor")
      let tags = ["red", "blue"].map { context.insert("Tag", ["name": $0]) }
      for number in 1...3 {
        let book = context.insert(
          number == 3 ? "Novel" : "Book",
          [
            "title": "b\(number)", "pages": number, "cost": Decimal(string: "12.50")!, "author": author,
            "published": Date(timeIntervalSinceReferenceDate: 1000), "cover": Data([1, 2]), "isbn": UUID(),
          ])
        book.setValue(Set(tags), forKey: "tags")
      }
      try context.save()
    }
  }

  private func check(_ context: NSManagedObjectContext) throws {
    let books = try context.all("Publication", by: "title")
    #expect(books.map { $0.text("title") } == ["b1", "b2", "b3"])
    #expect(books.map { $0.entity.name } == ["Book", "Book", "Novel"])
    #expect(books[0].value(forKey: "cost") as? Decimal == Decimal(string: "12.50"))
    #expect(books[0].value(forKey: "cover") as? Data == Data([1, 2]))
    let author = try #require(books[0].object("author"))
    #expect(author.objects("books") == Set(books))
    #expect(author.object("mentor")?.text("name") == "Bea")
    for book in books {
      #expect(Set(book.objects("tags").compactMap { $0.text("name") }) == ["red", "blue"])
    }
  }

  @Test(arguments: pairs)
  func `a store of any type moves into one of any other`(_ from: String, _ to: String) throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, old) = try stack(from)
    try fill(coordinator)
    let place = directory.appendingPathComponent("New")
    let new = try coordinator.migratePersistentStore(old, to: place, options: nil, withType: to)
    #expect(coordinator.persistentStores == [new])
    #expect(new.type == to)
    #expect(new.identifier != old.identifier)
    let context = coordinator.newContext()
    try context.performAndWait {
      try check(context)
      let book = try #require(try context.all("Book", by: "title").first)
      #expect(book.objectID.persistentStore === new)
      book.setValue("changed", forKey: "title")
      try context.save()
    }
    guard to != NSInMemoryStoreType else { return }
    let again = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try again.addPersistentStore(ofType: to, configurationName: nil, at: place, options: nil)
    let reader = again.newContext()
    try reader.performAndWait {
      try #expect(reader.all("Book", by: "title").last?.text("title") == "changed")
    }
  }

  @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
  func `order goes along`(_ to: String) throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, old) = try stack(NSSQLiteStoreType)
    let headings = (0..<20).map { "h\($0)" }.shuffled()
    let context = coordinator.newContext()
    try context.performAndWait {
      let book = context.insert("Book")
      book.setValue(
        NSOrderedSet(array: headings.map { context.insert("Chapter", ["heading": $0]) }), forKey: "chapters")
      try context.save()
    }
    try coordinator.migratePersistentStore(
      old, to: directory.appendingPathComponent("New"), options: nil, withType: to)
    let reader = coordinator.newContext()
    try reader.performAndWait {
      let chapters = try #require(try reader.all("Book").first?.value(forKey: "chapters") as? NSOrderedSet)
      #expect(chapters.array.compactMap { ($0 as? NSManagedObject)?.text("heading") } == headings)
    }
  }

  @Test func `the old file stays as it is`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, old) = try stack(NSSQLiteStoreType)
    try fill(coordinator)
    let place = try #require(old.url)
    try coordinator.migratePersistentStore(
      old, to: directory.appendingPathComponent("New"), options: nil, type: .sqlite)
    let other = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try other.addPersistentStore(type: .sqlite, at: place)
    let context = other.newContext()
    try context.performAndWait { try check(context) }
  }

  @Test func `metadata of the application go along`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, old) = try stack(NSInMemoryStoreType)
    coordinator.setMetadata(["account": "ann"], for: old)
    let place = directory.appendingPathComponent("New")
    let new = try coordinator.migratePersistentStore(old, to: place, options: nil, type: .sqlite)
    #expect(coordinator.metadata(for: new)["account"] as? String == "ann")
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: place)
    #expect(metadata["account"] as? String == "ann")
  }

  @Test func `a file in the way is not touched`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, old) = try stack(NSSQLiteStoreType)
    try fill(coordinator)
    let place = directory.appendingPathComponent("New")
    try Data("mine".utf8).write(to: place)
    let error = #expect(throws: CocoaError.self) {
      try coordinator.migratePersistentStore(old, to: place, options: nil, type: .sqlite)
    }
    #expect(error?.code == .fileWriteFileExists)
    #expect(try Data(contentsOf: place) == Data("mine".utf8))
    #expect(coordinator.persistentStores == [old])
  }

  @Test func `a move that fails leaves everything as it was`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, old) = try stack(NSSQLiteStoreType)
    try fill(coordinator)
    let place = directory.appendingPathComponent("New")
    ShelfStore.world(at: place).isFull = true
    #expect(throws: CocoaError.self) {
      try coordinator.migratePersistentStore(old, to: place, options: nil, withType: ShelfStore.type)
    }
    #expect(coordinator.persistentStores == [old])
    let context = coordinator.newContext()
    try context.performAndWait { try check(context) }
  }

  @Test func `it is told which ID became which`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, old) = try stack(NSSQLiteStoreType)
    let context = coordinator.newContext()
    let id = try context.performAndWait {
      let tag = context.insert("Tag", ["name": "red"])
      try context.save()
      return tag.objectID
    }
    nonisolated(unsafe) var told: [String] = []
    nonisolated(unsafe) var ids: [NSManagedObjectID] = []
    let names: [Notification.Name] = [
      .NSPersistentStoreCoordinatorStoresDidChange, .NSPersistentStoreCoordinatorWillRemoveStore,
    ]
    let observers = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
        let stores = coordinator.persistentStores + [old]
        guard
          note.object as? NSObject === coordinator
            || stores.contains(where: { $0 === note.object as? NSObject })
        else { return }
        if name == .NSPersistentStoreCoordinatorWillRemoveStore {
          told.append(note.object as? NSObject === old ? "will remove old" : "will remove new")
        } else if let changed = note.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any] {
          told.append("changed")
          ids = changed[2] as? [NSManagedObjectID] ?? []
        } else {
          told.append(note.userInfo?[NSAddedPersistentStoresKey] == nil ? "removed" : "added")
        }
      }
    }
    defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
    let new = try coordinator.migratePersistentStore(
      old, to: directory.appendingPathComponent("New"), options: nil, type: .sqlite)
    #expect(
      told == ["added", "will remove old", "will remove new", "changed", "will remove old", "removed"],
      "the order in which Core Data was seen to")
    #expect(ids.count == 2)
    #expect(ids.first == id)
    #expect(ids.last?.persistentStore === new)
  }

  @Test(arguments: types)
  func `no object is told that it was inserted`(_ to: String) throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    NSPersistentStoreCoordinator.registerStoreClass(NotebookStore.self, forStoreType: NotebookStore.type)
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = NSStringFromClass(NamedAuthor.self)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let old = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = coordinator.newContext()
    try context.performAndWait {
      context.insert("Author", ["name": "Ann"])
      try context.save()
    }
    try coordinator.migratePersistentStore(
      old, to: directory.appendingPathComponent("New"), options: nil, withType: to)
    let reader = coordinator.newContext()
    try reader.performAndWait { try #expect(reader.all("Author").map { $0.text("name") } == ["Ann"]) }
  }

  // MARK: setURL

  @Test func `a SQLite store is connected to the file at its new place`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, store) = try stack(NSSQLiteStoreType)
    let place = directory.appendingPathComponent("Other")
    let other = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try other.addPersistentStore(type: .sqlite, at: place)
    try fill(other)
    #expect(coordinator.setURL(place, for: store))
    #expect(coordinator.url(for: store) == place)
    let context = coordinator.newContext()
    try context.performAndWait { try check(context) }
    #expect(!coordinator.setURL(directory.appendingPathComponent("Missing"), for: store))
    #expect(coordinator.url(for: store) == place)
  }

  @Test func `a store that is written whole is written at its new place`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let (coordinator, store) = try stack(NotebookStore.type)
    let place = directory.appendingPathComponent("Other")
    #expect(coordinator.setURL(place, for: store))
    try fill(coordinator)
    #expect(FileManager.default.fileExists(atPath: place.path))
    #expect(!FileManager.default.fileExists(atPath: directory.appendingPathComponent("Old").path))
  }
}
