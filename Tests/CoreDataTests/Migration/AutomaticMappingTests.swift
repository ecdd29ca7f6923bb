import CoreDataSQLiteBinding
import Foundation
import Synchronization
import Testing

@testable import CoreData

@Suite("Automatic migration by mapping model")
struct AutomaticMappingTests {
  private let fixture: MigrationFixture
  private let old: NSManagedObjectModel
  private let new: NSManagedObjectModel
  /// Another version, for which a mapping can be inferred from the old one.
  private let inferable: NSManagedObjectModel
  private var directory: URL { fixture.url.deletingLastPathComponent() }

  /// Part of every hash: mapping models are found by their versions, and each test needs its own.
  private let tag = "versionHashModifier=\"\(UUID().uuidString)\""

  private static let blob =
    "<attribute name=\"cover\" optional=\"YES\" attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"YES\"/>"
  private static let cover = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })

  init() throws {
    let fixture = try MigrationFixture()
    self.fixture = fixture
    let (numbers, texts) = (ModelText.number("pages") + Self.blob, ModelText.text("pages") + Self.blob)
    let entities = { (tag: String, more: String, pages: String) in
      ModelText.entity(
        "MappedAuthor", tag, ModelText.text("name"), ModelText.many("books", "MappedBook", "author"), more)
        + ModelText.entity(
          "MappedBook", tag, ModelText.text("title"), ModelText.one("author", "MappedAuthor", "books"), pages)
    }
    old = try fixture.model(entities(tag, "", numbers))
    // Pages become text, for which no mapping can be inferred.
    new = try fixture.model(entities(tag, ModelText.text("note"), texts))
    inferable = try fixture.model(entities(tag, "", numbers + ModelText.text("extra")))
    try fixture.open(old, options: nil) { context in
      let jane = context.make("MappedAuthor", ["name": "Jane"])
      context.make("MappedBook", ["title": "Emma", "pages": 474, "author": jane, "cover": Self.cover])
      context.make("MappedBook", ["title": "Persuasion", "pages": 249, "author": jane])
      try context.save()
      let coordinator = context.persistentStoreCoordinator
      let store = try #require(coordinator?.persistentStores.first)
      coordinator?.setMetadata(["mine": "kept"], for: store)
      context.make("MappedAuthor", ["name": "Anne"])
      try context.save()
    }
  }

  /// Adds a mapping between the two versions to the program's resources.
  private func bundle(policy: NSEntityMigrationPolicy.Type, to new: NSManagedObjectModel? = nil) throws {
    try fixture.bundle(
      mapping: [
        .init("MappedAuthor", attributes: ["name"], relationships: ["books"]),
        .init(
          "MappedBook", attributes: ["cover", "pages", "title"], relationships: ["author"], policy: policy),
      ], from: old, to: new ?? self.new)
  }

  private func metadata() throws -> [String: Any] {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: fixture.url)
  }

  /// Returns the files in the store's directory other than the store.
  private func strangers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path)
      .filter { $0.contains("migrating") }
  }

  private func expectOld(at url: URL? = nil) throws {
    try fixture.open(old, at: url, options: nil) { context in
      let books = try context.listed("MappedBook", by: "title")
      #expect(books.keys.sorted() == ["Emma", "Persuasion"])
      #expect(books["Emma"]?.value(forKey: "pages") as? Int == 474)
      #expect(try #require(books["Emma"]).value(forKey: "cover") as? Data == Self.cover)
      try #expect(context.listed("MappedAuthor", by: "name")["Jane"]?.texts("books", "title").count == 2)
    }
  }

  private func code(_ options: [String: Any]) -> Int? {
    do {
      try fixture.open(new, options: options) { _ in }
      return nil
    } catch {
      return (error as NSError).code
    }
  }

  private static let withoutInferring = [NSMigratePersistentStoresAutomaticallyOption: true]

  @Test(.ofFiles) func `A mapping model of the program migrates an added store`() throws {
    #expect(code(Self.withoutInferring) == NSMigrationMissingMappingModelError)
    #expect(code(MigrationFixture.automatic) == NSMigrationMissingMappingModelError)
    try bundle(policy: PagesPolicy.self)
    let uuid = try metadata()[NSStoreUUIDKey] as? String
    try fixture.open(new, options: Self.withoutInferring) { context in
      let books = try context.listed("MappedBook", by: "title")
      #expect(
        books.mapValues { $0.value(forKey: "pages") as? String } == [
          "Emma": "474 pages", "Persuasion": "249 pages",
        ])
      #expect(books["Emma"]?.value(forKey: "cover") as? Data == Self.cover)
      let authors = try context.listed("MappedAuthor", by: "name")
      #expect(authors["Jane"]?.texts("books", "title") == ["Emma", "Persuasion"])
      #expect(authors["Anne"]?.texts("books", "title") == [])
      context.make("MappedBook", ["title": "New", "pages": "1 page"])
      try context.save()
    }
    let after = try metadata()
    #expect(new.isConfiguration(withName: nil, compatibleWithStoreMetadata: after))
    #expect(after["mine"] as? String == "kept")
    // Objects have different keys now: a stored URI must not resolve to another object.
    #expect(after[NSStoreUUIDKey] as? String != uuid)
    try #expect(strangers() == [])
    let check = try Connection(path: fixture.url.path, mode: .readOnly).firstValue("PRAGMA integrity_check")
    #expect(check == .text("ok"))
  }

  @Test func `A mapping model that is there wins over inferring`() throws {
    try bundle(policy: MarkingPolicy.self, to: inferable)
    try fixture.open(inferable) { context in
      try #expect(context.texts("MappedBook", "title") == ["Emma!", "Persuasion!"])
    }
  }

  @Test func `A migration that fails midway leaves the store intact`() throws {
    try bundle(policy: GivingUpPolicy.self)
    #expect(throws: GivingUpPolicy.Failure.self) { try fixture.open(new) { _ in } }
    try #expect(strangers() == [])
    try expectOld()
  }

  @Test(
    .ofFiles
  )
  func `A migration killed partway is finished by the next run`() throws {
    try bundle(policy: SnapshotPolicy.self)
    try fixture.open(new) { _ in }
    // The directory as a killed program would have left it.
    let left = directory.appendingPathExtension("left")
    defer { try? FileManager.default.removeItem(at: left) }
    let store = left.appendingPathComponent(fixture.url.lastPathComponent)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: left.path).contains { $0.contains("migrating") })
    try expectOld(at: store)
    try fixture.open(new, at: store) {
      try #expect($0.texts("MappedBook", "title") == ["Emma", "Persuasion"])
    }
    #expect(
      try !FileManager.default.contentsOfDirectory(atPath: left.path).contains { $0.contains("migrating") })
  }

  @Test(.ofFiles) func `A migration killed during the swap leaves the store intact`() throws {
    let other = StoreFiles(url: directory.appendingPathComponent("Other.sqlite"))
    try fixture.open(new, at: other.url, options: nil) { context in
      context.make("MappedBook", ["title": "Other", "cover": Self.cover])
      try context.save()
    }
    let connection = try Connection(path: fixture.url.path, mode: .readWrite)
    try connection.beginImmediate()
    let files = StoreFiles(url: fixture.url)
    let released = try files.copyContent(of: other, on: connection)
    let left = directory.appendingPathExtension("left")
    try FileManager.default.copyItem(at: directory, to: left)
    defer { try? FileManager.default.removeItem(at: left) }
    try expectOld(at: left.appendingPathComponent(fixture.url.lastPathComponent))
    try connection.commit()
    files.removeExternal(released)
    try fixture.open(new, options: nil) { context in
      let book = try #require(try context.listed("MappedBook", by: "title")["Other"])
      #expect(book.value(forKey: "cover") as? Data == Self.cover)
    }
    let support = ExternalDataDirectory(storePath: fixture.url.path).supportPath + "/_EXTERNAL_DATA"
    try #expect(FileManager.default.contentsOfDirectory(atPath: support).count == 1)
  }

  @Test func `A store that may only be read is not migrated`() throws {
    try bundle(policy: PagesPolicy.self)
    let options = MigrationFixture.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
    #expect(code(options) == NSMigrationError)
    try expectOld()
  }

  @Test(.ofFiles)
  func `Migrating on adding posts nothing about objects`() throws {
    try bundle(policy: PagesPolicy.self)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let heard = Mutex(0)
    let names: [Notification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave,
    ]
    let tokens = names.map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
        heard.withLock { $0 += 1 }
      }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.url, options: MigrationFixture.automatic)
    #expect(heard.withLock { $0 } == 0)
  }
}

/// Converts the pages of books to words.
class PagesPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let book = NSEntityDescription.insertNewObject(
      forEntityName: "MappedBook", into: manager.destinationContext)
    book.setValue(sInstance.value(forKey: "title"), forKey: "title")
    book.setValue(sInstance.value(forKey: "cover"), forKey: "cover")
    book.setValue("\(sInstance.value(forKey: "pages") as? Int ?? 0) pages", forKey: "pages")
    manager.associate(sourceInstance: sInstance, withDestinationInstance: book, for: mapping)
  }
}

/// Copies books unchanged, with a mark.
final class MarkingPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    dInstance.setValue("\(dInstance.value(forKey: "title") as? String ?? "")!", forKey: "title")
  }
}

/// Fails at the very end.
final class GivingUpPolicy: NSEntityMigrationPolicy {
  struct Failure: Error {}

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {}

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { throw Failure() }
}

/// Copies the store's directory during its migration.
final class SnapshotPolicy: PagesPolicy {
  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    let store = manager.sourceContext.persistentStoreCoordinator?.persistentStores.first
    guard let directory = store?.url?.deletingLastPathComponent() else { return }
    let copy = directory.appendingPathExtension("left")
    guard !FileManager.default.fileExists(atPath: copy.path), !directory.path.hasSuffix(".left") else {
      return
    }
    try FileManager.default.copyItem(at: directory, to: copy)
  }
}
