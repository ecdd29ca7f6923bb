import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// Names in a file that other versions of Core Data number otherwise than a new file's.
@Suite struct NameBindingTests {
  private static func message(_ type: AttributeType = .string) -> ModelSchema {
    ModelSchema(entities: [
      EntitySchema("Message"),
      EntitySchema("ImageMessage", parent: "Message", [AttributeSchema("text", .string)]),
      EntitySchema("SoundMessage", parent: "Message", [AttributeSchema("text", type)]),
      EntitySchema("TextMessage", parent: "Message", [AttributeSchema("text", .string)]),
    ])
  }

  private static let tagged = ModelSchema(entities: [
    EntitySchema("Contact", [], [.many("tags", "Tag", inverse: "contacts", ordered: true)]),
    EntitySchema("Outcome", [], [.many("tags", "Tag", inverse: "outcomes", ordered: true)]),
    EntitySchema(
      "Tag", [AttributeSchema("title", .string)],
      [.many("contacts", "Contact", inverse: "tags"), .many("outcomes", "Outcome", inverse: "tags")]),
  ])

  /// Swaps the names of two columns.
  private func _swap(_ one: String, _ other: String, in table: String, _ connection: Connection) throws {
    try connection.execute(
      """
      ALTER TABLE \(table) RENAME COLUMN \(one) TO ZSWAPPED; ALTER TABLE \(table) RENAME COLUMN \(other) TO \(one);
      ALTER TABLE \(table) RENAME COLUMN ZSWAPPED TO \(other)
      """)
  }

  private func _tagged() throws -> (fixture: StoreFixture, contact: ObjectKey, tag: ObjectKey) {
    let fixture = try StoreFixture(Self.tagged)
    let tag = fixture.insertion("Tag", ["title": .string("red")])
    let contact = fixture.insertion(
      "Contact", ["tags": .toMany(ToManyDelta(added: [tag.id], removed: [], order: [tag.id]))])
    let keys = try fixture.insert([tag, contact])
    return (fixture, keys[1], keys[0])
  }

  // MARK: Join tables

  @Test func `a join column with another number is found by the table's name and the other column`() throws {
    let (fixture, contact, tag) = try _tagged()
    try fixture.connection().execute("ALTER TABLE Z_1TAGS RENAME COLUMN Z_3TAGS TO Z_3TAGS4")
    let engine = try fixture.reopened()
    #expect(try engine.related(to: [contact], slot: fixture.slot("tags", in: "Contact")) == [[tag]])
    #expect(try engine.related(to: [tag], slot: fixture.slot("contacts", in: "Tag")) == [[contact]])
  }

  @Test func `the order of a join column with another number is found with it`() throws {
    let (fixture, contact, tag) = try _tagged()
    try fixture.connection().execute(
      """
      ALTER TABLE Z_1TAGS RENAME COLUMN Z_3TAGS TO Z_3TAGS4;
      ALTER TABLE Z_1TAGS RENAME COLUMN Z_FOK_3TAGS TO Z_FOK_3TAGS4
      """)
    let engine = try fixture.reopened()
    let other = fixture.insertion("Tag", ["title": .string("blue")])
    let update = try fixture.update(
      contact, "Contact",
      [
        "tags": .toMany(
          ToManyDelta(added: [other.id], removed: [], order: [other.id, NSManagedObjectID(tag)]))
      ])
    try engine.commit(ChangeSet(inserted: [other], updated: [update]))
    let members = try engine.related(to: [contact], slot: fixture.slot("tags", in: "Contact"))
    #expect(members == [[other.id.key!, tag]])
  }

  @Test func `a join table whose columns have the numbers of other entities is found`() throws {
    let (fixture, contact, tag) = try _tagged()
    try fixture.connection().execute(
      """
      ALTER TABLE Z_1TAGS RENAME COLUMN Z_3TAGS TO Z_13TAGS1;
      ALTER TABLE Z_1TAGS RENAME COLUMN Z_1CONTACTS TO Z_11CONTACTS
      """)
    let engine = try fixture.reopened()
    #expect(try engine.related(to: [contact], slot: fixture.slot("tags", in: "Contact")) == [[tag]])
  }

  @Test func `a join table without a column of the relationship is refused by name`() throws {
    let (fixture, _, _) = try _tagged()
    try fixture.connection().execute("ALTER TABLE Z_1TAGS RENAME COLUMN Z_3TAGS TO Z_3LABELS")
    let error = #expect(throws: StoreOpenError.self) { _ = try fixture.reopened() }
    #expect(error?.description.contains("Z_1TAGS") == true)
  }

  /// As in stores of CareKit 2.1.
  @Test func `join tables and columns are named by entity names, superentities first`() throws {
    let schema = ModelSchema(entities: [
      EntitySchema("CarePlan", [], [.many("tags", "Tag", inverse: "carePlans")]),
      EntitySchema("Outcome", [], [.many("tags", "Tag", inverse: "outcomes")]),
      EntitySchema(
        "Tag", [],
        [
          .many("carePlans", "CarePlan", inverse: "tags"), .many("outcomes", "Outcome", inverse: "tags"),
          .many("tasks", "TaskBase", inverse: "tags"),
        ]),
      EntitySchema("TaskBase", [], [.many("tags", "Tag", inverse: "tasks")]),
      EntitySchema("HealthKitTask", parent: "TaskBase"),
    ])
    let mapping = try MappingBuilder.mapping(for: ModelLayout(schema))
    let columns = Dictionary(uniqueKeysWithValues: mapping.joins.map { ($0.name, [$0.first, $0.second]) })
    #expect(columns["Z_1TAGS"] == ["Z_1CAREPLANS", "Z_3TAGS"])
    #expect(columns["Z_4TAGS"] == ["Z_4TASKS", "Z_3TAGS1"])
    #expect(columns["Z_2TAGS"] == ["Z_2OUTCOMES", "Z_3TAGS2"])
  }

  // MARK: Columns of siblings

  @Test func `values decide which sibling's property has which number`() throws {
    let fixture = try StoreFixture(Self.message())
    let image = try fixture.insert("ImageMessage", ["text": .string("a picture")])
    let text = try fixture.insert("TextMessage", ["text": .string("words")])
    try _swap("ZTEXT", "ZTEXT2", in: "ZMESSAGE", fixture.connection())
    let engine = try fixture.reopened()
    let rows = try engine.rows(for: [image, text])
    #expect(rows[0]?[fixture.slot("text", in: "ImageMessage")] == .string("a picture"))
    #expect(rows[1]?[fixture.slot("text", in: "TextMessage")] == .string("words"))
  }

  @Test func `a value late in the table decides as well`() throws {
    let fixture = try StoreFixture(Self.message())
    try fixture.insert((0..<600).map { _ in fixture.insertion("ImageMessage", [:]) })
    try fixture.insert((0..<600).map { _ in fixture.insertion("TextMessage", [:]) })
    let image = try fixture.insert("ImageMessage", ["text": .string("a picture")])
    try _swap("ZTEXT", "ZTEXT2", in: "ZMESSAGE", fixture.connection())
    let rows = try fixture.reopened().rows(for: [image])
    #expect(rows[0]?[fixture.slot("text", in: "ImageMessage")] == .string("a picture"))
  }

  @Test func `a value in the last rows of a table decides, whatever other columns say`() throws {
    var schema = Self.message()
    for index in 1...3 { schema.entities[index].attributes.append(AttributeSchema("title", .string)) }
    let fixture = try StoreFixture(schema)
    try fixture.insert(
      (0..<300).flatMap { _ in
        ["ImageMessage", "SoundMessage", "TextMessage"].map { fixture.insertion($0, ["title": .string($0)]) }
      })
    let image = try fixture.insert("ImageMessage", ["text": .string("a picture")])
    try _swap("ZTEXT", "ZTEXT2", in: "ZMESSAGE", fixture.connection())
    let rows = try fixture.reopened().rows(for: [image])
    #expect(rows[0]?[fixture.slot("text", in: "ImageMessage")] == .string("a picture"))
    #expect(rows[0]?[fixture.slot("title", in: "ImageMessage")] == .null)
  }

  @Test func `not all rows are looked at if others show how the table is numbered`() throws {
    var schema = Self.message()
    for index in 1...3 { schema.entities[index].attributes.append(AttributeSchema("title", .string)) }
    let fixture = try StoreFixture(schema)
    try fixture.insert("ImageMessage", ["title": .string("a")])
    try fixture.insert("TextMessage", ["title": .string("b")])
    let log = SQLLog()
    var options = SQLiteStoreOptions()
    options.trace = { log.append($0.sql) }
    _ = try fixture.reopened(options)
    #expect(log.statements.contains { $0.contains("MAX(ZTEXT IS NOT NULL)") })
    #expect(!log.statements.contains { $0.contains("ZTEXT IS NOT NULL OR") })
  }

  @Test func `one sibling's values leave the other columns to the others`() throws {
    let fixture = try StoreFixture(Self.message())
    let image = try fixture.insert("ImageMessage", ["text": .string("a picture")])
    try _swap("ZTEXT", "ZTEXT2", in: "ZMESSAGE", fixture.connection())
    let engine = try fixture.reopened()
    let text = fixture.insertion("TextMessage", ["text": .string("words")])
    let sound = fixture.insertion("SoundMessage", ["text": .string("noise")])
    try engine.commit(ChangeSet(inserted: [text, sound]))
    let rows = try fixture.reopened().rows(for: [image, text.id.key!, sound.id.key!])
    #expect(
      rows.map { $0?[fixture.slot("text", in: "TextMessage")] }
        == [.string("a picture"), .string("words"), .string("noise")])
  }

  @Test func `without values the columns have a new file's names`() throws {
    let fixture = try StoreFixture(Self.message())
    let engine = try fixture.reopened()
    try engine.commit(ChangeSet(inserted: [fixture.insertion("TextMessage", ["text": .string("words")])]))
    #expect(try fixture.connection().firstValue("SELECT ZTEXT2 FROM ZMESSAGE") == .text("words"))
  }

  @Test func `the declared type decides between columns without values`() throws {
    let fixture = try StoreFixture(Self.message(.integer64))
    try _swap("ZTEXT", "ZTEXT1", in: "ZMESSAGE", fixture.connection())
    let engine = try fixture.reopened()
    let sound = fixture.insertion("SoundMessage", ["text": .int(7)])
    try engine.commit(ChangeSet(inserted: [sound]))
    #expect(try fixture.connection().firstValue("SELECT ZTEXT FROM ZMESSAGE") == .int(7))
  }

  @Test func `a column with a number that a new file does not use is found`() throws {
    let fixture = try StoreFixture(Self.message())
    let text = try fixture.insert("TextMessage", ["text": .string("words")])
    try fixture.connection().execute("ALTER TABLE ZMESSAGE RENAME COLUMN ZTEXT2 TO ZTEXT3")
    let rows = try fixture.reopened().rows(for: [text])
    #expect(rows[0]?[fixture.slot("text", in: "TextMessage")] == .string("words"))
  }

  @Test func `a property that ends in a number keeps its column`() throws {
    let schema = ModelSchema(entities: [
      EntitySchema("Place", [AttributeSchema("line1", .string), AttributeSchema("line2", .string)]),
      EntitySchema("Shop", parent: "Place", [AttributeSchema("line", .string)]),
      EntitySchema("Park", parent: "Place", [AttributeSchema("line", .string)]),
    ])
    let fixture = try StoreFixture(schema)
    let shop = try fixture.insert(
      "Shop", ["line": .string("a"), "line1": .string("b"), "line2": .string("c")])
    let park = try fixture.insert(
      "Park", ["line": .string("d"), "line1": .string("e"), "line2": .string("f")])
    let engine = try fixture.reopened()
    let found = try engine.rows(for: [shop, park]).map { row in
      ["line", "line1", "line2"].map { row?[fixture.slot($0, in: "Shop")] }
    }
    #expect(
      found == [[.string("a"), .string("b"), .string("c")], [.string("d"), .string("e"), .string("f")]])
  }

  @Test func `a plain property's column is not another one with a number`() throws {
    let fixture = try StoreFixture(Models.transit)
    try fixture.connection().execute("ALTER TABLE ZROUTE RENAME COLUMN ZNAME TO ZNAME1")
    let error = #expect(throws: StoreOpenError.self) { _ = try fixture.reopened() }
    #expect(error?.description.contains("the table ZROUTE has no column ZNAME") == true)
  }

  @Test func `a migration moves values to the columns of a new file`() throws {
    let fixture = try StoreFixture(Self.message())
    let image = try fixture.insert("ImageMessage", ["text": .string("a picture")])
    let text = try fixture.insert("TextMessage", ["text": .string("words")])
    fixture.engine.close()
    let connection = try fixture.connection()
    try SQLFunctions.register(on: connection)
    try _swap("ZTEXT", "ZTEXT2", in: "ZMESSAGE", connection)
    var schema = Self.message()
    schema.entities[0].attributes.append(AttributeSchema("note", .string))
    let old = try SchemaBinder(connection, path: fixture.url.path)
      .bind(MappingBuilder.mapping(for: fixture.layout))
    try connection.transaction {
      try StoreMigration(
        connection, at: fixture.url.path, from: old, to: MappingBuilder.mapping(for: ModelLayout(schema))
      ).run()
    }
    func cell(_ column: String, _ key: ObjectKey) throws -> Binding? {
      try connection.firstValue("SELECT \(column) FROM ZMESSAGE WHERE Z_PK = \(key.reference)")
    }
    #expect(try cell("ZTEXT", image) == .text("a picture"))
    #expect(try cell("ZTEXT2", text) == .text("words"))
    #expect(try cell("ZTEXT", text) == .null)
  }

  // MARK: Columns of relationships

  @Test func `to-ones of siblings are told apart by their values`() throws {
    let schema = ModelSchema(entities: [
      EntitySchema("Event"),
      EntitySchema("Birth", parent: "Event", [], [.one("place", "Place", inverse: "births")]),
      EntitySchema("Death", parent: "Event", [], [.one("place", "Place", inverse: "deaths")]),
      EntitySchema(
        "Place", [],
        [
          .many("births", "Birth", inverse: "place", ordered: true),
          .many("deaths", "Death", inverse: "place", ordered: true),
        ]),
      EntitySchema("Town", parent: "Place"),
    ])
    let fixture = try StoreFixture(schema)
    let place = fixture.insertion("Town", [:])
    let birth = fixture.insertion("Birth", ["place": .pending(place.id)])
    let death = fixture.insertion("Death", ["place": .pending(place.id)])
    let keys = try fixture.insert([place, birth, death])
    let connection = try fixture.connection()
    try _swap("ZPLACE", "ZPLACE1", in: "ZEVENT", connection)
    try _swap("Z_FOK_PLACE", "Z_FOK_PLACE1", in: "ZEVENT", connection)
    try _swap("Z4_PLACE", "Z4_PLACE1", in: "ZEVENT", connection)
    let engine = try fixture.reopened()
    #expect(try engine.related(to: [keys[0]], slot: fixture.slot("births", in: "Place")) == [[keys[1]]])
    #expect(try engine.related(to: [keys[0]], slot: fixture.slot("deaths", in: "Place")) == [[keys[2]]])
    let rows = try engine.rows(for: [keys[1], keys[2]])
    for row in rows { #expect(row?[fixture.slot("place", in: "Birth")] == .reference(keys[0])) }
  }

  @Test func `a destination's entity column may have another number`() throws {
    let fixture = try StoreFixture(Models.library)
    let novel = fixture.insertion("GraphicNovel", ["title": .string("n")])
    let page = fixture.insertion("Page", ["book": .pending(novel.id)])
    let keys = try fixture.insert([novel, page])
    try fixture.connection().execute("ALTER TABLE ZPAGE RENAME COLUMN Z1_BOOK TO Z3_BOOK")
    let rows = try fixture.reopened().rows(for: [keys[1]])
    #expect(rows[0]?[fixture.slot("book", in: "Page")] == .reference(keys[0]))
  }

  @Test func `the hidden column of a to-many without inverse may have another number`() throws {
    let fixture = try StoreFixture(Models.transit)
    let notice = fixture.insertion("Notice", ["text": .string("closed")])
    let stop = fixture.insertion(
      "Stop", ["notices": .toMany(ToManyDelta(added: [notice.id], removed: [], order: nil))])
    let keys = try fixture.insert([notice, stop])
    try fixture.connection().execute("ALTER TABLE ZNOTICE RENAME COLUMN Z4NOTICES TO Z5NOTICES")
    let engine = try fixture.reopened()
    #expect(try engine.related(to: [keys[1]], slot: fixture.slot("notices", in: "Stop")) == [[keys[0]]])
  }

  @Test func `an order column may have the number of another entity`() throws {
    var schema = Models.transit
    let stop = schema.entities.firstIndex { $0.name == "Stop" }!
    let notices = schema.entities[stop].relationships.firstIndex { $0.name == "notices" }!
    schema.entities[stop].relationships[notices].isOrdered = true
    let fixture = try StoreFixture(schema)
    try fixture.connection().execute("ALTER TABLE ZNOTICE RENAME COLUMN Z_FOK_4NOTICES TO Z_FOK_5NOTICES")
    #expect(throws: Never.self) { _ = try fixture.reopened() }
  }
}

/// Large schemas that Apple's software wrote.
@Suite(
  .enabled(if: FileManager.default.fileExists(atPath: AppleCorpus.third.path), "needs ../shared/corpus-3"))
struct LargeSchemaTests {
  private static func url(_ name: String) -> URL {
    AppleCorpus.third.appendingPathComponent("stores/\(name).schema-only.sqlite")
  }

  @Test(arguments: ["carekit-2.1", "photos-13.5.1", "photos-15.4.1"])
  func `a store opens with the model inside, and every entity is fetched`(name: String) throws {
    let url = Self.url(name)
    let model = try NSManagedObjectModel.load(fromStoreAt: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let before = try Data(contentsOf: url)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSReadOnlyPersistentStoreOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for entity in model.entities {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
        request.relationshipKeyPathsForPrefetching = entity.relationshipsByName.keys.sorted()
        let found = try context.fetch(request)
        #expect(found.isEmpty)
      }
    }
    #expect(try Data(contentsOf: url) == before)
  }

  /// All but those between relationships of one entity, whose names follow no known rule.
  @Test(arguments: ["carekit-2.1", "photos-13.5.1"])
  func `join tables are named as in a new store`(name: String) throws {
    let url = Self.url(name)
    let schema = ModelSchema(try NSManagedObjectModel.load(fromStoreAt: url))
    let made = try SchemaWriter(MappingBuilder.mapping(for: ModelLayout(schema))).statements()
    var theirs: [String] = []
    let connection = try Connection(path: url.path, mode: .immutable)
    try connection.query(
      "SELECT sql FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*' AND name NOT LIKE '%PREVIOUS'"
    ) { theirs.append($0.string(0)) }
    #expect(theirs.count >= 5)
    #expect(theirs.filter { !made.contains($0) } == [])
  }
}
