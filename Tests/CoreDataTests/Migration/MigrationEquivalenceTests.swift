import Foundation
import Testing

@testable import CoreData

/// Rewriting tables in SQL and migrating objects one by one have the same result.
@Suite("Inferred mappings, carried out both ways")
struct MigrationEquivalenceTests {
  struct Change: CustomTestStringConvertible {
    let testDescription: String
    let old: String
    let new: String
  }

  private static let attributes = Change(
    testDescription: "attributes renamed, added and made required",
    old: ModelText.library,
    new: ModelText.library
      .replacing(
        ModelText.text("title"), with: ModelText.text("name", "optional=\"YES\" elementID=\"title\"")
      )
      .replacing(
        ModelText.number("pages"),
        with: ModelText.number("pages", "defaultValueString=\"7\"")
          + ModelText.text("kind", "defaultValueString=\"x\"")))

  private static let added = Change(
    testDescription: "attributes and an entity added",
    old: ModelText.library,
    new: ModelText.entity("Abbey", "", ModelText.text("name"))
      + ModelText.library.replacing(
        ModelText.number("pages"),
        with: ModelText.number("pages") + ModelText.text("kind", "defaultValueString=\"x\"")
          + ModelText.text("note")))

  private static let toMany = Change(
    testDescription: "a to-one made to-many",
    old: ModelText.library,
    new: ModelText.library.replacing(
      ModelText.one("author", "Author", "books"), with: ModelText.many("author", "Author", "books")))

  private static let hierarchy = Change(
    testDescription: "a new parent with a property moved up",
    old: ModelText.library,
    new: ModelText.entity("Item", "isAbstract=\"YES\"", ModelText.text("title"))
      + ModelText.library.replacing(
        "<entity name=\"Book\" >", with: "<entity name=\"Book\" parentEntity=\"Item\">"
      )
      .replacing(ModelText.text("title"), with: ""))

  private static let renamed = Change(
    testDescription: "entities and relationships renamed, one removed",
    old: ModelText.library,
    new: ModelText.entity(
      "Writer", "elementID=\"Author\"", ModelText.text("name"),
      ModelText.many("works", "Work", "writer", "elementID=\"books\""))
      + ModelText.entity(
        "Work", "elementID=\"Book\"", ModelText.text("title"),
        ModelText.one("writer", "Writer", "works", "elementID=\"author\"")))

  private static let numbers = Change(
    testDescription: "numbers of another type",
    old: ModelText.library,
    new: ModelText.library.replacing(
      ModelText.number("pages"), with: ModelText.number("pages").replacing("Integer 64", with: "Double")))

  @Test(
    .ofFiles,
    arguments: [attributes, added, toMany, hierarchy, renamed, numbers])
  func `Both ways come to the same objects and relationships`(change: Change) throws {
    let fixture = try MigrationFixture()
    let (old, new) = (try fixture.model(change.old), try fixture.model(change.new))
    try fixture.open(old, options: nil) { context in
      let authors = (0..<5).map { context.make("Author", ["name": "author \($0)"]) }
      for number in 0..<20 {
        context.make(
          "Book",
          [
            "title": "book \(number)", "pages": number % 3 == 0 ? nil : number,
            "author": number % 4 == 0 ? nil : authors[number % 5],
          ]
          .compactMapValues { $0 })
      }
      try context.save()
    }
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    var dumps: [[String]] = []
    var identifiers: Set<String> = []
    for isSpecific in [true, false] {
      let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
      #expect(manager.usesStoreSpecificMigrationManager)
      manager.usesStoreSpecificMigrationManager = isSpecific
      let copy = fixture.url.deletingLastPathComponent().appendingPathComponent("Copy-\(isSpecific).sqlite")
      try manager.migrateStore(from: fixture.url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: copy)
      identifiers.insert(metadata[NSStoreUUIDKey] as? String ?? "")
      dumps.append(try fixture.open(new, at: copy, options: nil) { try dump($0, new) })
    }
    #expect(dumps[0].count == 25)
    #expect(dumps[0] == dumps[1])
    // The former keeps the store's identity, the latter creates a new store.
    #expect(identifiers.count == 2)
  }

  /// Returns every object as text: its entity, values and related objects' values.
  private func dump(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws -> [String] {
    func values(_ object: NSManagedObject) -> String {
      let names = object.entity.attributesByName.keys.sorted()
      return "\(object.entity.name ?? "")\(names.map { "\($0)=\(object.value(forKey: $0) ?? "nil")" })"
    }
    return try model.entities.filter { !$0.isAbstract && $0.superentity.map { $0.isAbstract } ?? true }
      .flatMap { entity in
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")).map { object in
          let links = entity.relationshipsByName.keys.sorted().map { name in
            let members =
              (object.value(forKey: name) as? Set<NSManagedObject>)
              ?? (object.value(forKey: name) as? NSManagedObject).map { [$0] } ?? []
            return "\(name)=\(members.map(values).sorted())"
          }
          return values(object) + links.joined()
        }
      }.sorted()
  }
}
