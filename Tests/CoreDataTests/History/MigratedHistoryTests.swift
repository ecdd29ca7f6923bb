import CoreData
import Foundation
import Testing

/// What a reader that has not seen a change yet reads after the store has been migrated.
@Suite("History across migrations")
struct MigratedHistoryTests {
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case inferred, staged

    var testDescription: String { rawValue }
  }

  private let fixture: MigrationFixture

  init() throws { fixture = try MigrationFixture() }

  private static let kept = "optional=\"YES\" preserveAfterDeletion=\"YES\""

  private static let old =
    ModelText.entity(
      "Book", "", ModelText.text("note", kept), ModelText.text("title", kept), ModelText.text("zone"),
      ModelText.one("author", "Author", "books"), ModelText.many("tags", "Tag", "books"))
    + ModelText.entity("Author", "", ModelText.text("name"), ModelText.many("books", "Book", "author"))
    + ModelText.entity("Extra", "", ModelText.text("text"))
    + ModelText.entity("Tag", "", ModelText.text("name"), ModelText.many("books", "Book", "tags"))

  /// Other numbers and positions: entities and properties before the old ones, a removed one of each, `title`
  /// renamed, and another property that now has its name.
  private static let new =
    ModelText.entity(
      "Book", "", ModelText.text("abstract", kept), ModelText.text("headline", "\(kept) elementID=\"title\""),
      ModelText.text("title", "\(kept) elementID=\"note\""),
      ModelText.one("writer", "Author", "books", "elementID=\"author\""),
      ModelText.one("editor", "Author"), ModelText.many("labels", "Tag", "books", "elementID=\"tags\""))
    + ModelText.entity("Author", "", ModelText.text("name"), ModelText.many("books", "Book", "writer"))
    + ModelText.entity("Address", "", ModelText.text("city"))
    + ModelText.entity("Tag", "", ModelText.text("name"), ModelText.many("books", "Book", "labels"))

  private func options(_ way: Way, _ models: [NSManagedObjectModel]) -> [String: Any] {
    var options = MigrationFixture.automatic
    options[NSPersistentHistoryTrackingKey] = true
    if way == .staged {
      options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager(
        models.map { NSLightweightMigrationStage([$0.versionChecksum]) })
    }
    return options
  }

  /// Saves changes with one version of a model, migrates the store, and reads what came after `fill`.
  private func read(
    _ way: Way, from old: String = old, to new: String = new,
    _ fill: (NSManagedObjectContext) throws -> Void, _ change: (NSManagedObjectContext) throws -> Void,
    _ check: ([NSPersistentHistoryChange], NSManagedObjectContext) throws -> Void
  ) throws {
    let models = (try fixture.model(old), try fixture.model(new))
    try fixture.bundle(models.0)
    let token = try fixture.open(models.0, options: [NSPersistentHistoryTrackingKey: true]) { context in
      try fill(context)
      try context.save()
      let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
      try change(context)
      try context.save()
      return token
    }
    try fixture.open(models.1, options: options(way, [models.0, models.1])) { context in
      let transactions = try context.history(.fetchHistory(after: token))
      try check(transactions.flatMap { $0.changes ?? [] }, context)
    }
  }

  private func names(_ change: NSPersistentHistoryChange?) -> [String]? {
    change?.updatedProperties?.map(\.name).sorted()
  }

  @Test(arguments: Way.allCases)
  func `an unread change follows its property`(way: Way) throws {
    try read(way) {
      for title in ["a", "b", "c", "d", "e"] { $0.make("Book", ["title": title]) }
    } _: { context in
      let books = try context.listed("Book", by: "title")
      books["a"]?.setValue("n", forKey: "note")
      books["b"]?.setValue("B", forKey: "title")
      books["c"]?.setValue(context.make("Author", ["name": "Jane"]), forKey: "author")
      books["d"]?.setValue(Set([context.make("Tag", ["name": "x"])]), forKey: "tags")
      books["e"]?.setValue("gone", forKey: "zone")
      books["e"]?.setValue("note", forKey: "note")
    } _: { changes, context in
      let updates = changes.filter { $0.changeType == .update }
      let byTitle = try Dictionary(
        uniqueKeysWithValues: updates.map {
          (try context.existingObject(with: $0.changedObjectID).text("headline"), names($0))
        })
      #expect(
        byTitle == [
          "a": ["title"], "B": ["headline"], "c": ["writer"], "d": ["labels"], "e": ["title"],
        ])
      let inserted = changes.filter { $0.changeType == .insert }.map { $0.changedObjectID.entity.name }
      #expect(inserted.compactMap { $0 }.sorted() == ["Author", "Tag"])
    }
  }

  @Test(arguments: Way.allCases)
  func `a preserved value follows its attribute`(way: Way) throws {
    try read(way) {
      $0.make("Book", ["title": "Emma", "note": "read"])
    } _: { context in
      context.delete(try #require(context.listed("Book", by: "title")["Emma"]))
    } _: { changes, _ in
      #expect(changes.map(\.changeType) == [.delete])
      #expect(changes[0].tombstone as? [String: String] == ["headline": "Emma", "title": "read"])
    }
  }

  @Test(arguments: Way.allCases)
  func `changes of a removed entity are gone with it`(way: Way) throws {
    try read(way) { _ in
    } _: { context in
      context.make("Extra", ["text": "x"])
      context.make("Tag", ["name": "x"])
    } _: { changes, context in
      #expect(changes.map { $0.changedObjectID.entity.name } == ["Tag"])
      try #expect(context.existingObject(with: changes[0].changedObjectID).text("name") == "x")
    }
  }

  @Test(arguments: Way.allCases)
  func `a change follows an object that gets another key`(way: Way) throws {
    let (a, b) = (ModelText.text("name"), ModelText.text("other"))
    try read(
      way, from: ModelText.entity("A", "", a) + ModelText.entity("B", "", a, b),
      to: ModelText.entity("A", "", a) + ModelText.entity("B", "parentEntity=\"A\"", b)
    ) {
      for name in ["1", "2", "3"] { $0.make("A", ["name": name]) }
      $0.make("B", ["name": "4"])
    } _: { context in
      try context.listed("A", by: "name")["2"]?.setValue("A2", forKey: "name")
      try context.listed("B", by: "name")["4"]?.setValue("B4", forKey: "other")
    } _: { changes, context in
      let found = try changes.map {
        "\(try context.existingObject(with: $0.changedObjectID).text("name") ?? "") \(names($0) ?? [])"
      }
      #expect(found.sorted() == ["4 [\"other\"]", "A2 [\"name\"]"])
    }
  }

  @Test(arguments: Way.allCases)
  func `history that was migrated can be deleted`(way: Way) throws {
    try read(way) {
      $0.make("Book", ["title": "Emma"])
    } _: {
      $0.make("Tag", ["name": "x"])
    } _: { _, context in
      context.make("Tag", ["name": "y"])
      try context.save()
      let last = try #require(try context.allHistory().last)
      _ = try context.history(.deleteHistory(before: last), as: Bool.self)
      try #expect(context.allHistory().map { $0.changes?.count } == [1])
    }
  }
}
