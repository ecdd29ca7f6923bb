import CoreData
import SwiftData
import TestSupport
import Testing

enum NotesV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    init(text: String) { self.text = text }
  }
}

enum NotesV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    @Attribute(originalName: "text") var body: String
    var length: Int = 0
    var mood: String?
    init(body: String) { self.body = body }
  }
}

enum NotesPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(fromVersion: NotesV1.self, toVersion: NotesV2.self) { context in
        for note in try context.fetch(FetchDescriptor<NotesV1.Note>()) { note.text += "!" }
      } didMigrate: { context in
        for note in try context.fetch(FetchDescriptor<NotesV2.Note>()) { note.length = note.body.count }
        try context.save()
      }
    ]
  }
}

/// Has the text under its third name.
enum NotesV3: VersionedSchema {
  static let versionIdentifier = Schema.Version(3, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    @Attribute(originalName: "body") var words: String
    init(words: String) { self.words = words }
  }
}

enum RenamingPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self, NotesV3.self] }
  static var stages: [MigrationStage] {
    [
      .lightweight(fromVersion: NotesV1.self, toVersion: NotesV2.self),
      .lightweight(fromVersion: NotesV2.self, toVersion: NotesV3.self),
    ]
  }
}

enum BackPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: NotesV2.self, toVersion: NotesV1.self)] }
}

enum SamePlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self] }
  static var stages: [MigrationStage] { [.lightweight(fromVersion: NotesV1.self, toVersion: NotesV1.self)] }
}

/// Stores of another version than the container's schema.
struct MigrationTests {
  private let _place: URL

  init() throws {
    _place = try TemporaryPlace.makeDirectory().appendingPathComponent("notes.store")
    let container = try ModelContainer(
      for: Schema(versionedSchema: NotesV1.self), configurations: ModelConfiguration(url: _place))
    let context = ModelContext(container)
    context.insert(NotesV1.Note(text: "one"))
    try context.save()
  }

  private func _open(
    _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)? = nil
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(versionedSchema: version), migrationPlan: plan,
        configurations: ModelConfiguration(url: _place)))
  }

  @Test func `without a plan the change says all`() throws {
    let notes = try _open(NotesV2.self).fetch(FetchDescriptor<NotesV2.Note>())
    #expect(notes.map(\.body) == ["one"] && notes.map(\.length) == [0] && notes.map(\.mood) == [nil])
  }

  @Test func `a custom stage runs code before and after`() throws {
    let notes = try _open(NotesV2.self, NotesPlan.self).fetch(FetchDescriptor<NotesV2.Note>())
    #expect(notes.map(\.body) == ["one!"] && notes.map(\.length) == [4])
  }

  @Test func `stages lead back where the plan says so`() throws {
    _ = try _open(NotesV2.self, NotesPlan.self)
    let notes = try _open(NotesV1.self, BackPlan.self).fetch(FetchDescriptor<NotesV1.Note>())
    #expect(notes.count == 1)
  }

  @Test func `a later store without a stage back is refused`() throws {
    _ = try _open(NotesV2.self, NotesPlan.self)
    #expect(throws: SwiftDataError.backwardMigration) { _ = try _open(NotesV1.self, NotesPlan.self) }
  }

  @Test func `a store that no stage begins with is refused`() throws {
    #expect(throws: SwiftDataError.unknownDataStoreSchema) {
      _ = try ModelContainer(
        for: Schema([Shelf.self]), migrationPlan: NotesPlan.self,
        configurations: ModelConfiguration(url: _place))
    }
  }

  @Test func `two versions that are the same are refused`() throws {
    #expect(throws: SwiftDataError.loadIssueModelContainer) { _ = try _open(NotesV1.self, SamePlan.self) }
  }

  @Test func `what a stage saves has an author of its own`() throws {
    let context = try _open(NotesV2.self, NotesPlan.self)
    let authors = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map(\.author)
    #expect(!authors.dropFirst().contains(nil))
  }

  @Test func `the version is written as the store's label`() throws {
    _ = try _open(NotesV2.self, NotesPlan.self)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: _place)
    #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["2.0.0"])
  }

  @Test func `each stage is taken, so that a property is renamed twice`() throws {
    let notes = try _open(NotesV3.self, RenamingPlan.self).fetch(FetchDescriptor<NotesV3.Note>())
    #expect(notes.map(\.words) == ["one"])
  }
}
