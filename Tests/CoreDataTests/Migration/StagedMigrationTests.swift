import Foundation
import Testing

@testable import CoreData

@Suite("Staged migration")
struct StagedMigrationTests {
  private let fixture: MigrationFixture
  /// Books with the names of their authors, then with authors as well, then with authors only.
  private let versions: [NSManagedObjectModel]

  private static let named = ModelText.entity(
    "Book", "", ModelText.text("title"), ModelText.text("authorName"))
  private static let both =
    ModelText.entity(
      "Book", "", ModelText.text("title"), ModelText.text("authorName"),
      ModelText.one("author", "Author", "books"))
    + author
  private static let linked =
    ModelText.entity("Book", "", ModelText.text("title"), ModelText.one("author", "Author", "books")) + author
  private static let author = ModelText.entity(
    "Author", "", ModelText.text("name"), ModelText.many("books", "Book", "author"))

  private struct Failure: Error {}

  init() throws {
    let fixture = try MigrationFixture()
    self.fixture = fixture
    versions = try [Self.named, Self.both, Self.linked].map { try fixture.model($0) }
    try fixture.open(versions[0], options: nil) { context in
      for (title, author) in [("Emma", "Jane"), ("Persuasion", "Jane"), ("Agnes Grey", "Anne")] {
        context.make("Book", ["title": title, "authorName": author])
      }
      try context.save()
    }
  }

  private func reference(_ number: Int) -> NSManagedObjectModelReference {
    NSManagedObjectModelReference(model: versions[number], versionChecksum: versions[number].versionChecksum)
  }

  private func open<T>(
    _ number: Int, _ stages: [NSMigrationStage], _ body: (NSManagedObjectContext) throws -> T
  ) throws -> T {
    let manager = NSStagedMigrationManager(stages)
    let options = MigrationFixture.automatic.merging(
      [NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
    return try fixture.open(versions[number], options: options, body)
  }

  private func code(_ number: Int, _ stages: [NSMigrationStage]) -> Int? {
    do {
      try open(number, stages) { _ in }
      return nil
    } catch {
      return (error as NSError).code
    }
  }

  /// The stage that creates authors from names.
  private func linking() -> NSCustomMigrationStage {
    let stage = NSCustomMigrationStage(migratingFrom: reference(0), to: reference(1))
    stage.label = "Authors of their own"
    stage.didMigrateHandler = { manager, _ in
      let container = try #require(manager.container)
      let context = container.newBackgroundContext()
      try context.performAndWait {
        var authors: [String: NSManagedObject] = [:]
        for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) {
          let name = book.value(forKey: "authorName") as? String ?? ""
          let author = authors[name] ?? context.make("Author", ["name": name])
          authors[name] = author
          book.setValue(author, forKey: "author")
        }
        try context.save()
      }
    }
    return stage
  }

  private func expectOld() throws {
    try fixture.open(versions[0], options: nil) { context in
      try #expect(context.texts("Book", "title") == ["Agnes Grey", "Emma", "Persuasion"])
      try #expect(context.texts("Book", "authorName") == ["Anne", "Jane"])
    }
  }

  // MARK: Stages

  @Test func `A custom stage runs on migrated data`() throws {
    try open(1, [linking()]) { context in
      let authors = try context.listed("Author", by: "name")
      #expect(authors["Jane"]?.texts("books", "title") == ["Emma", "Persuasion"])
      #expect(authors["Anne"]?.texts("books", "title") == ["Agnes Grey"])
    }
  }

  @Test func `Two stages lead over a version in between to the last`() throws {
    let removing = NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    var seen: [String] = []
    removing.willMigrateHandler = { manager, stage in
      #expect(stage === removing)
      let container = try #require(manager.container)
      // The version before the step.
      seen.append(
        "will \(container.managedObjectModel.entitiesByName["Book"]!.attributesByName.keys.sorted())")
    }
    removing.didMigrateHandler = { manager, _ in
      let container = try #require(manager.container)
      seen.append(
        "did \(container.managedObjectModel.entitiesByName["Book"]!.attributesByName.keys.sorted())")
    }
    try open(2, [linking(), removing]) { context in
      try #expect(context.listed("Author", by: "name")["Jane"]?.texts("books", "title").count == 2)
    }
    #expect(seen == ["will [\"authorName\", \"title\"]", "did [\"title\"]"])
  }

  @Test(
    .ofFiles
  )
  func `A container migrates by the stages of its description`() throws {
    let stage = linking()
    let manager = NSStagedMigrationManager([stage])
    var duringHandler: NSPersistentContainer?
    let inner = try #require(stage.didMigrateHandler)
    stage.didMigrateHandler = { manager, stage in
      duringHandler = manager.container
      try inner(manager, stage)
    }
    let container = NSPersistentContainer(name: "Any", managedObjectModel: versions[1])
    let description = NSPersistentStoreDescription(url: fixture.url)
    description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    container.persistentStoreDescriptions = [description]
    #expect(manager.container == nil)
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    #expect(duringHandler != nil && manager.container == nil)
    let context = container.newBackgroundContext()
    try context.performAndWait { try #expect(context.texts("Author", "name") == ["Anne", "Jane"]) }
  }

  @Test(.ofFiles) func `A lightweight stage infers a run of versions`() throws {
    let stage = NSLightweightMigrationStage(versions.map(\.versionChecksum))
    #expect(stage.versionChecksums == versions.map(\.versionChecksum))
    try open(2, [stage]) { try #expect($0.texts("Book", "title").count == 3) }
    try #expect(
      NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: fixture.url)[
        NSPersistentStoreModelVersionChecksumKey] as? String == versions[2].versionChecksum)
  }

  @Test func `Staged versions are visited one by one`() throws {
    let fixture = try MigrationFixture()
    let chain = try ["", "elementID=\"stagedA\"", "elementID=\"stagedB\""].enumerated().map {
      number, identifier in
      try fixture.model(
        ModelText.entity(
          "Staged", "", ModelText.text("staged\(["A", "B", "C"][number])", "optional=\"YES\" \(identifier)")))
    }
    try fixture.open(chain[0], options: nil) { context in
      context.make("Staged", ["stagedA": "kept"])
      try context.save()
    }
    try fixture.bundle(chain[1])
    let manager = NSStagedMigrationManager([NSLightweightMigrationStage(chain.map(\.versionChecksum))])
    let options = MigrationFixture.automatic.merging(
      [NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
    try fixture.open(chain[2], options: options) { try #expect($0.texts("Staged", "stagedC") == ["kept"]) }
  }

  @Test func `A store of the current version is left alone`() throws {
    let stage = linking()
    stage.didMigrateHandler = { _, _ in throw Failure() }
    try open(0, [stage]) { try #expect($0.texts("Book", "title").count == 3) }
  }

  @Test func `A label is set, and set back to the name of the class`() {
    let stage = NSLightweightMigrationStage([])
    #expect(stage.label == "NSLightweightMigrationStage")
    stage.label = "First"
    #expect(stage.label == "First")
    stage.label = nil
    #expect(stage.label == "NSLightweightMigrationStage")
    let manager = NSStagedMigrationManager([stage])
    #expect(manager.stages == [stage])
  }

  // MARK: What goes wrong

  @Test(arguments: [true, false])
  func `A handler's error ends the migration without a change`(isBefore: Bool)
    throws
  {
    let removing = NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2))
    if isBefore {
      removing.willMigrateHandler = { _, _ in throw Failure() }
    } else {
      removing.didMigrateHandler = { _, _ in throw Failure() }
    }
    #expect(throws: Failure.self) { try open(2, [linking(), removing]) { _ in } }
    try expectOld()
  }

  @Test func `A step that cannot be inferred leaves the store unchanged`() throws {
    let wrong = try fixture.model(ModelText.entity("Book", "", ModelText.number("title")))
    let stage = NSCustomMigrationStage(
      migratingFrom: reference(0),
      to: NSManagedObjectModelReference(model: wrong, versionChecksum: wrong.versionChecksum))
    let manager = NSStagedMigrationManager([stage])
    let options = MigrationFixture.automatic.merging(
      [NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
    let error = #expect(throws: CocoaError.self) { try fixture.open(wrong, options: options) { _ in } }
    #expect(error?.code.rawValue == NSMigrationMissingMappingModelError)
    try expectOld()
  }

  @Test func `Stages that omit or repeat a version are refused`() throws {
    let checksums = versions.map(\.versionChecksum)
    let mismatch = NSStagedMigrationFrameworkVersionMismatchError
    #expect(code(2, [NSLightweightMigrationStage(Array(checksums[1...]))]) == mismatch)
    #expect(code(2, [NSLightweightMigrationStage(Array(checksums[..<2]))]) == mismatch)
    #expect(code(2, [NSLightweightMigrationStage(checksums + [checksums[0]])]) == mismatch)
    #expect(code(2, []) == mismatch)
    try expectOld()
  }

  @Test func `A store of a later version than the coordinator's is refused`() throws {
    let stages = [NSLightweightMigrationStage([versions[1].versionChecksum, versions[0].versionChecksum])]
    #expect(code(1, stages) == NSStagedMigrationBackwardMigrationError)
    try expectOld()
  }

  @Test func `A reference with a wrong checksum is refused`() throws {
    let broken = NSManagedObjectModelReference(
      model: versions[0], versionChecksum: versions[1].versionChecksum)
    let stages = [
      NSCustomMigrationStage(migratingFrom: reference(0), to: broken),
      NSCustomMigrationStage(migratingFrom: broken, to: reference(2)),
    ]
    #expect(code(2, stages) == NSManagedObjectModelReferenceNotFoundError)
    try expectOld()
  }

  @Test(.ofFiles) func `References take a model, a file, a name or hashes`() throws {
    let name = try fixture.bundle(versions[1])
    let checksum = versions[1].versionChecksum
    let file = fixture.url.deletingLastPathComponent().appendingPathComponent("V.xcdatamodel")
    try versions[1].write(to: file)
    let references = [
      NSManagedObjectModelReference(model: versions[1], versionChecksum: checksum),
      NSManagedObjectModelReference(fileURL: file, versionChecksum: checksum),
      NSManagedObjectModelReference(name: name, in: nil, versionChecksum: checksum),
      NSManagedObjectModelReference(
        entityVersionHashes: versions[1].entityVersionHashesByName, in: nil, versionChecksum: checksum),
    ]
    for reference in references { try #expect(reference.resolve().versionChecksum == checksum) }
  }

  // MARK: Deferred work

  @Test(.ofFiles) func `The option to defer is accepted but nothing is deferred`() throws {
    try fixture.bundle(versions[0])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[2])
    var options = MigrationFixture.automatic
    options[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.url, options: options)
    #expect(store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
    try coordinator.finishDeferredLightweightMigrationTask()
    try coordinator.finishDeferredLightweightMigration()
  }
}
