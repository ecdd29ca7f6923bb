import CoreData
import Foundation
import Testing

/// What a reader of history finds after a mapping model has migrated the store object by object.
@Suite("History across mapping models")
struct MappedHistoryTests {
  private let fixture: MigrationFixture
  private let old: NSManagedObjectModel
  private let new: NSManagedObjectModel

  private static let kept = "optional=\"YES\" preserveAfterDeletion=\"YES\""

  init() throws {
    let fixture = try MigrationFixture()
    self.fixture = fixture
    // Part of the hashes: mapping models are found by their versions, and each test needs its own.
    let tag = "versionHashModifier=\"\(UUID().uuidString)\""
    old = try fixture.model(
      ModelText.entity(
        "Kept", tag, ModelText.text("note", Self.kept), ModelText.text("title", Self.kept),
        ModelText.text("zone"))
        + ModelText.entity("Lost", tag, ModelText.text("text")))
    // `title` is renamed, and becomes a number, for which no mapping can be inferred; `note` has another
    // position.
    new = try fixture.model(
      ModelText.entity("Added", tag, ModelText.text("text"))
        + ModelText.entity(
          "Kept", tag, ModelText.text("abstract", Self.kept),
          ModelText.text("headline", "\(Self.kept) elementID=\"title\""), ModelText.number("zone"),
          ModelText.text("note", Self.kept)))
    try fixture.bundle(mapping: [.init("Kept", attributes: ["note"])], from: old, to: new)
  }

  private static var tracked: [String: Any] { [NSPersistentHistoryTrackingKey: true] }

  private var options: [String: Any] {
    MigrationFixture.automatic.merging(Self.tracked) { first, _ in first }
  }

  private func names(_ change: NSPersistentHistoryChange) -> [String] {
    change.updatedProperties?.map(\.name).sorted() ?? []
  }

  @Test func `changes follow their objects and properties`() throws {
    try fixture.open(old, options: Self.tracked) { context in
      context.transactionAuthor = "importer"
      let first = context.make("Kept", ["note": "a"])
      let second = context.make("Kept", ["note": "b"])
      try context.save()
      first.setValue("c", forKey: "note")
      second.setValue("d", forKey: "title")
      second.setValue("gone", forKey: "zone")
      try context.save()
    }
    try fixture.open(new, options: options) { context in
      let transactions = try context.allHistory()
      #expect(transactions.map(\.transactionNumber) == [1, 2])
      #expect(transactions.map(\.author) == ["importer", "importer"])
      let changes = transactions.flatMap { $0.changes ?? [] }
      #expect(changes.map(\.changeType) == [.insert, .insert, .update, .update])
      let updated = try Dictionary(
        uniqueKeysWithValues: changes.suffix(2).map {
          (try context.existingObject(with: $0.changedObjectID).text("note"), names($0))
        })
      #expect(updated == ["c": ["note"], "b": ["headline", "zone"]])
    }
  }

  @Test func `a deletion keeps its values, and finds no object`() throws {
    try fixture.open(old, options: Self.tracked) { context in
      let deleted = context.make("Kept", ["note": "n", "title": "t"])
      context.make("Kept", ["note": "stays"])
      try context.save()
      context.delete(deleted)
      try context.save()
    }
    try fixture.open(new, options: options) { context in
      let changes = try context.allHistory().flatMap { $0.changes ?? [] }
      #expect(changes.map(\.changeType) == [.insert, .delete])
      let deletion = try #require(changes.last)
      #expect(deletion.tombstone as? [String: String] == ["headline": "t", "note": "n"])
      #expect { try context.existingObject(with: deletion.changedObjectID) } throws: {
        ($0 as? CocoaError)?.code.rawValue == NSManagedObjectReferentialIntegrityError
      }
      let next = context.make("Kept", ["note": "next"])
      try context.save()
      #expect(next.objectID != deletion.changedObjectID)
    }
  }

  @Test func `changes of an entity that no mapping maps are gone with it`() throws {
    try fixture.open(old, options: Self.tracked) { context in
      context.make("Lost", ["text": "x"])
      try context.save()
      context.make("Kept", ["note": "n"])
      try context.save()
    }
    try fixture.open(new, options: options) { context in
      try #expect(
        context.allHistory().map { $0.changes?.map { $0.changedObjectID.entity.name } } == [[], ["Kept"]])
    }
  }

  @Test func `a token of the old store is one of another store`() throws {
    let token = try fixture.open(old, options: Self.tracked) { context in
      context.make("Kept", ["note": "n"])
      try context.save()
      return context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    }
    try fixture.open(new, options: options) { context in
      #expect { try context.history(.fetchHistory(after: token)) } throws: {
        ($0 as? CocoaError)?.code.rawValue == 134501
      }
    }
  }

  @Test func `transactions after the migration follow those before it`() throws {
    try fixture.open(old, options: Self.tracked) { context in
      for note in ["a", "b"] {
        context.make("Kept", ["note": note])
        try context.save()
      }
    }
    try fixture.open(new, options: options) { context in
      context.make("Kept", ["note": "c"])
      try context.save()
      try #expect(context.allHistory().map(\.transactionNumber) == [1, 2, 3])
    }
  }

  @Test func `a store without history is migrated as one transaction`() throws {
    try fixture.open(old, options: nil) { context in
      context.make("Kept", ["note": "a"])
      try context.save()
    }
    try fixture.open(new, options: options) { context in
      try #expect(context.allHistory().map { $0.changes?.map(\.changeType) } == [[.insert]])
    }
  }
}
