import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite("Lightweight migration")
struct LightweightMigrationTests {
  private static func text(_ name: String, _ more: String = "optional=\"YES\"") -> String {
    "<attribute name=\"\(name)\" attributeType=\"String\" \(more)/>"
  }

  private static func entity(_ name: String, _ more: String = "", _ properties: String...) -> String {
    "<entity name=\"\(name)\" \(more)>\(properties.joined())</entity>"
  }

  private static func one(_ name: String, _ to: String, _ inverse: String? = nil, _ more: String = "")
    -> String
  {
    "<relationship name=\"\(name)\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"\(to)\" "
      + "\(inverse.map { "inverseName=\"\($0)\"" } ?? "") \(more)/>"
  }

  private static func many(_ name: String, _ to: String, _ inverse: String? = nil, _ more: String = "")
    -> String
  {
    "<relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"\(to)\" "
      + "\(inverse.map { "inverseName=\"\($0)\"" } ?? "") \(more)/>"
  }

  // MARK: Attributes

  @Test func `Attributes are added, removed, renamed and made required`() throws {
    let old = Self.entity(
      "Book", "", Self.text("title"), Self.text("gone"), Self.text("kind"),
      "<attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"/>")
    let new = Self.entity(
      "Book", "", Self.text("name", "optional=\"YES\" elementID=\"title\""), Self.text("note"),
      Self.text("kind", "defaultValueString=\"novel's\""),
      "<attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"/>",
      "<attribute name=\"price\" attributeType=\"Decimal\" defaultValueString=\"9.5\"/>",
      "<attribute name=\"id\" attributeType=\"UUID\" defaultValueString=\"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\"/>",
      "<attribute name=\"added\" attributeType=\"Date\" defaultDateTimeInterval=\"60\"/>")
    try MigrationFixture().migrate(
      old,
      { context in
        context.make("Book", ["title": "Emma", "gone": "x", "kind": "epic", "pages": 474])
        context.make("Book", ["title": "Persuasion", "pages": 249])
      }, to: new
    ) { context in
      let books = try context.listed("Book", by: "name")
      #expect(books.keys.sorted() == ["Emma", "Persuasion"])
      let emma = try #require(books["Emma"])
      #expect(emma.value(forKey: "pages") as? Int == 474)
      #expect(emma.value(forKey: "kind") as? String == "epic")
      #expect(books["Persuasion"]?.value(forKey: "kind") as? String == "novel's")
      #expect(emma.value(forKey: "note") as? String == nil)
      #expect(emma.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "9.5"))
      #expect(emma.value(forKey: "id") as? UUID == UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
      #expect(emma.value(forKey: "added") as? Date == Date(timeIntervalSinceReferenceDate: 60))
    }
  }

  @Test func `Two attributes exchange their names`() throws {
    let old = Self.entity("A", "", Self.text("x"), Self.text("y"))
    // The change does not affect the hashes: only a modifier makes it another version.
    let new = Self.entity(
      "A", "versionHashModifier=\"2\"", Self.text("x", "optional=\"YES\" elementID=\"y\""),
      Self.text("y", "optional=\"YES\" elementID=\"x\""))
    try MigrationFixture().migrate(old, { $0.make("A", ["x": "1", "y": "2"]) }, to: new) { context in
      try #expect(context.texts("A", "x") == ["2"])
      try #expect(context.texts("A", "y") == ["1"])
    }
  }

  @Test func `Bytes stay the same when external storage is toggled`() throws {
    func blob(_ external: String) -> String {
      Self.entity(
        "A", "",
        "<attribute name=\"b\" optional=\"YES\" attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"\(external)\"/>"
      )
    }
    let long = Data(repeating: 7, count: 300_000)
    for (old, new, bytes) in [
      ("NO", "YES", Data([0, 1, 2, 0, 255, 128, 0])), ("YES", "NO", Data([0, 1, 2, 0, 255, 128, 0])),
      ("NO", "YES", long), ("YES", "NO", long),
    ] {
      try MigrationFixture().migrate(blob(old), { $0.make("A", ["b": bytes]) }, to: blob(new)) { context in
        let object = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A")).first
        #expect(object?.value(forKey: "b") as? Data == bytes)
      }
    }
  }

  // MARK: Relationships

  private static let linked =
    entity("Author", "", text("name"), many("books", "Book", "author"))
    + entity("Book", "", text("title"), one("author", "Author", "books"))

  private func fill(_ context: NSManagedObjectContext) {
    let (jane, anne) = (context.make("Author", ["name": "Jane"]), context.make("Author", ["name": "Anne"]))
    for (title, author) in [("Emma", jane), ("Persuasion", jane), ("Agnes Grey", anne)] {
      context.make("Book", ["title": title, "author": author])
    }
    context.make("Book", ["title": "Beowulf"])
  }

  @Test func `Entities and relationships are renamed with what they hold`() throws {
    let new =
      Self.entity(
        "Writer", "elementID=\"Author\"", Self.text("name"),
        Self.many("works", "Work", "writer", "elementID=\"books\""))
      + Self.entity(
        "Work", "elementID=\"Book\"", Self.text("title"),
        Self.one("writer", "Writer", "works", "elementID=\"author\""))
    try MigrationFixture().migrate(Self.linked, fill, to: new) { context in
      try #expect(
        context.listed("Writer", by: "name")["Jane"]?.texts("works", "title") == ["Emma", "Persuasion"])
      let beowulf = try context.listed("Work", by: "title")["Beowulf"]
      #expect(beowulf?.value(forKey: "writer") == nil)
    }
  }

  @Test func `A to-one becomes a to-many, its inverse being one`()
    throws
  {
    let new =
      Self.entity("Author", "", Self.text("name"), Self.many("books", "Book", "authors"))
      + Self.entity(
        "Book", "", Self.text("title"), Self.many("authors", "Author", "books", "elementID=\"author\""))
    try MigrationFixture().migrate(Self.linked, fill, to: new) { context in
      try #expect(context.listed("Book", by: "title")["Emma"]?.texts("authors", "name") == ["Jane"])
      try #expect(
        context.listed("Author", by: "name")["Jane"]?.texts("books", "title") == ["Emma", "Persuasion"])
      try #expect(context.listed("Book", by: "title")["Beowulf"]?.texts("authors", "name") == [])
    }
  }

  @Test func `Members are put in an order, which then stays`()
    throws
  {
    let new =
      Self.entity("Author", "", Self.text("name"), Self.many("books", "Book", "author", "ordered=\"YES\""))
      + Self.entity("Book", "", Self.text("title"), Self.one("author", "Author", "books"))
    try MigrationFixture().migrate(Self.linked, fill, to: new) { context in
      let jane = try #require(try context.listed("Author", by: "name")["Jane"])
      #expect(jane.texts("books", "title").sorted() == ["Emma", "Persuasion"])
      jane.setValue(
        NSOrderedSet(array: jane.mutableOrderedSetValue(forKey: "books").array.reversed()), forKey: "books")
      try context.save()
    }
    try MigrationFixture().migrate(new, fill, to: Self.linked) { context in
      try #expect(
        context.listed("Author", by: "name")["Jane"]?.texts("books", "title") == ["Emma", "Persuasion"])
    }
  }

  @Test func `A many-to-many that becomes to-one keeps the first member`() throws {
    let old =
      Self.entity("Tag", "", Self.text("name"), Self.many("books", "Book", "tags"))
      + Self.entity("Book", "", Self.text("title"), Self.many("tags", "Tag", "books"))
    let new =
      Self.entity("Tag", "", Self.text("name"), Self.many("books", "Book", "tag"))
      + Self.entity("Book", "", Self.text("title"), Self.one("tag", "Tag", "books", "elementID=\"tags\""))
    try MigrationFixture().migrate(
      old,
      { context in
        let tags = ["a", "b"].map { context.make("Tag", ["name": $0]) }
        context.make("Book", ["title": "One", "tags": Set([tags[1]])])
        context.make("Book", ["title": "Both", "tags": Set(tags)])
      }, to: new
    ) { context in
      let books = try context.listed("Book", by: "title")
      #expect(
        (books["One"]?.value(forKey: "tag") as? NSManagedObject)?.value(forKey: "name") as? String == "b")
      #expect(books["Both"]?.value(forKey: "tag") is NSManagedObject)
    }
  }

  @Test func `An inverse is given to a to-many that had none`() throws {
    let old =
      Self.entity("Author", "", Self.text("name"), Self.many("books", "Book"))
      + Self.entity("Book", "", Self.text("title"))
    try MigrationFixture().migrate(
      old,
      { context in
        let emma = context.make("Book", ["title": "Emma"])
        context.make("Author", ["name": "Jane", "books": Set([emma])])
      }, to: Self.linked
    ) { context in
      let emma = try context.listed("Book", by: "title")["Emma"]
      #expect((emma?.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Jane")
    }
  }

  // MARK: Hierarchies

  @Test func `A new parent adopts properties and children keep their rows`() throws {
    let old =
      Self.entity("Novel", "", Self.text("title"), Self.text("hero"))
      + Self.entity("Shop", "", Self.text("name"), Self.one("best", "Novel"))
    let new =
      Self.entity("Book", "isAbstract=\"YES\"", Self.text("title"))
      + Self.entity("Novel", "parentEntity=\"Book\"", Self.text("hero"))
      + Self.entity("Poem", "parentEntity=\"Book\"")
      + Self.entity("Shop", "", Self.text("name"), Self.one("best", "Novel"))
    try MigrationFixture().migrate(
      old,
      { context in
        let emma = context.make("Novel", ["title": "Emma", "hero": "Emma Woodhouse"])
        context.make("Shop", ["name": "Corner", "best": emma])
      }, to: new
    ) { context in
      try #expect(context.texts("Book", "title") == ["Emma"])
      try #expect(context.texts("Novel", "hero") == ["Emma Woodhouse"])
      let best = try context.listed("Shop", by: "name")["Corner"]?.value(forKey: "best") as? NSManagedObject
      #expect(best?.value(forKey: "title") as? String == "Emma")
      context.make("Poem", ["title": "The Raven"])
      try context.save()
      try #expect(context.texts("Book", "title") == ["Emma", "The Raven"])
    }
  }

  @Test func `Rows of an entity entering a hierarchy get unused keys`() throws {
    let old =
      Self.entity("Book", "", Self.text("title"))
      + Self.entity("Map", "", Self.text("title"), Self.one("of", "Book"), Self.many("next", "Map"))
    let new =
      Self.entity("Book", "", Self.text("title"))
      + Self.entity("Map", "parentEntity=\"Book\"", Self.one("of", "Book"), Self.many("next", "Map"))
    try MigrationFixture().migrate(
      old,
      { context in
        let books = (1...3).map { context.make("Book", ["title": "B\($0)"]) }
        let first = context.make("Map", ["title": "M1", "of": books[2]])
        context.make("Map", ["title": "M2", "of": books[0], "next": Set([first])])
      }, to: new
    ) { context in
      try #expect(context.texts("Book", "title") == ["B1", "B2", "B3", "M1", "M2"])
      let maps = try context.listed("Map", by: "title")
      #expect(
        (maps["M1"]?.value(forKey: "of") as? NSManagedObject)?.value(forKey: "title") as? String == "B3")
      #expect(maps["M2"]?.texts("next", "title") == ["M1"])
      context.make("Book", ["title": "B4"])
      try context.save()
      try #expect(context.texts("Book", "title").count == 6)
    }
  }

  @Test func `A removed entity takes the links to its objects along`() throws {
    let old =
      Self.entity("P", "isAbstract=\"YES\"", Self.text("n")) + Self.entity("A", "parentEntity=\"P\"")
      + Self.entity("B", "parentEntity=\"P\"")
      + Self.entity("Holder", "", Self.text("n"), Self.one("held", "P"))
    let new =
      Self.entity("P", "isAbstract=\"YES\"", Self.text("n")) + Self.entity("A", "parentEntity=\"P\"")
      + Self.entity("Holder", "", Self.text("n"), Self.one("held", "P"))
    try MigrationFixture().migrate(
      old,
      { context in
        context.make("Holder", ["n": "a", "held": context.make("A", ["n": "A1"])])
        context.make("Holder", ["n": "b", "held": context.make("B", ["n": "B1"])])
      }, to: new
    ) { context in
      try #expect(context.texts("P", "n") == ["A1"])
      let holders = try context.listed("Holder", by: "n")
      #expect(
        (holders["a"]?.value(forKey: "held") as? NSManagedObject)?.value(forKey: "n") as? String == "A1")
      #expect(holders["b"]?.value(forKey: "held") == nil)
    }
  }

  // MARK: The store

  @Test(.ofFiles) func `A migrated store keeps its UUID and has the new hashes`() throws {
    let fixture = try MigrationFixture()
    let (old, new) = (
      try fixture.model(Self.linked), try fixture.model(Self.linked + Self.entity("Shop", "", Self.text("n")))
    )
    func metadata() throws -> [String: Any] {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: fixture.url)
    }
    try fixture.open(old, options: nil) { context in
      fill(context)
      try context.save()
    }
    let before = try metadata()
    try fixture.open(new) { context in try #expect(context.texts("Author", "name") == ["Anne", "Jane"]) }
    let after = try metadata()
    #expect(after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
    #expect(new.isConfiguration(withName: nil, compatibleWithStoreMetadata: after))
    // The store contains a copy of the new version, so that a later one can migrate from it.
    let kept = try Connection(path: fixture.url.path, mode: .readOnly)
    try #expect(ModelCache.read(kept, path: "")?.entities.map(\.name) == ["Author", "Book", "Shop"])
    try fixture.open(new, options: nil) { context in
      try #expect(context.texts("Book", "title").count == 4)
      context.make("Shop", ["n": "Corner"])
      try context.save()
    }
  }

  @Test func `A change that cannot be inferred leaves the store unchanged`() throws {
    let fixture = try MigrationFixture()
    let old = try fixture.model(Self.linked)
    try fixture.open(old, options: nil) { context in
      fill(context)
      try context.save()
    }
    let new = try fixture.model(
      Self.entity(
        "Author", "", "<attribute name=\"name\" attributeType=\"Integer 16\"/>",
        Self.many("books", "Book", "author"))
        + Self.entity("Book", "", Self.text("title"), Self.one("author", "Author", "books")))
    let error = #expect(throws: CocoaError.self) { try fixture.open(new) { _ in } }
    #expect(error?.code.rawValue == NSMigrationMissingMappingModelError)
    #expect(error?.localizedDescription.contains("Author.name: String became Integer 16") == true)
    #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == NSInferredMappingModelError)
    try fixture.open(old, options: nil) { context in try #expect(context.texts("Book", "title").count == 4) }
  }

  @Test func `Objects that violate a new constraint stop the migration`() throws {
    let fixture = try MigrationFixture()
    let old = try fixture.model(Self.entity("A", "", Self.text("n")))
    try fixture.open(old, options: nil) { context in
      for _ in 0..<2 { context.make("A", ["n": "twice"]) }
      try context.save()
    }
    let unique =
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"n\"/></uniquenessConstraint></uniquenessConstraints>"
    let new = try fixture.model(Self.entity("A", "", Self.text("n"), unique))
    let error = #expect(throws: CocoaError.self) { try fixture.open(new) { _ in } }
    #expect(error?.code.rawValue == NSMigrationConstraintViolationError)
    try fixture.open(old, options: nil) { context in
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "A"))
      #expect(all.count == 2)
      context.delete(all[0])
      try context.save()
    }
    try fixture.open(new) { context in try #expect(context.texts("A", "n") == ["twice"]) }
  }

  @Test(.ofFiles)
  func `Nothing is migrated that was not asked to be, or may not be`() throws {
    let fixture = try MigrationFixture()
    let old = try fixture.model(Self.entity("A", "", Self.text("n")))
    try fixture.open(old, options: nil) { context in
      context.make("A", ["n": "1"])
      try context.save()
    }
    let new = try fixture.model(Self.entity("A", "", Self.text("n"), Self.text("m")))
    func code(_ options: [String: Any]?) -> Int? {
      do {
        try fixture.open(new, options: options) { _ in }
        return nil
      } catch {
        return (error as NSError).code
      }
    }
    #expect(code(nil) == NSPersistentStoreIncompatibleVersionHashError)
    try fixture.forgetModel()
    #expect(code(MigrationFixture.automatic) == NSMigrationMissingSourceModelError)
    // A version in the program's resources works as well as the store's own copy.
    try fixture.bundle(old)
    #expect(code([NSMigratePersistentStoresAutomaticallyOption: true]) == NSMigrationMissingMappingModelError)
    #expect(
      code(MigrationFixture.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 })
        == NSMigrationError)
    try fixture.open(old, options: nil) { context in try #expect(context.texts("A", "n") == ["1"]) }
    #expect(code(MigrationFixture.automatic) == nil)
  }

  @Test(.ofFiles)
  func `A container migrates its store by itself`() throws {
    let fixture = try MigrationFixture()
    let old = try fixture.model(Self.entity("A", "", Self.text("n")))
    try fixture.open(old, options: nil) { context in
      context.make("A", ["n": "1"])
      try context.save()
    }
    let container = NSPersistentContainer(
      name: "Any", managedObjectModel: try fixture.model(Self.entity("A", "", Self.text("n"), Self.text("m")))
    )
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: fixture.url)]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    #expect(failure == nil)
    let context = container.newBackgroundContext()
    try context.performAndWait { try #expect(context.texts("A", "n") == ["1"]) }
  }
}
