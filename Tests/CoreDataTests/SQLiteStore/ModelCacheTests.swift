import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataZlibBinding
import Foundation
import Testing

@testable import CoreData

@Suite struct ModelCacheTests {
  /// A model with everything that a cache can contain.
  private static func _everything() -> ModelSchema {
    var name = AttributeSchema(
      traits: PropertyTraits(name: "name", isOptional: false), type: .string, defaultValue: .string("É"))
    name.limits = AttributeLimits(minimum: .integer(2), maximum: .integer(40), regularExpression: "[A-Z].*")
    name.validations = [ValidationSchema(predicate: "SELF CONTAINS \"a\"", warning: "needs an a")]
    name.traits.userInfo = ["key": "value"]
    var photo = AttributeSchema(
      traits: PropertyTraits(name: "photo", versionHashModifier: "2"), type: .binaryData)
    photo.allowsExternalBinaryDataStorage = true
    var token = AttributeSchema(
      traits: PropertyTraits(name: "token"), type: .uuid,
      defaultValue: .uuid("2C4A3B4E-92D8-4E8B-8F0B-3C4A6E9D1F00"))
    token.preservesValueInHistoryOnDeletion = true
    var color = AttributeSchema(traits: PropertyTraits(name: "color"), type: .transformable)
    color.customClassName = "Color"
    color.valueTransformerName = "ColorTransformer"
    var count = AttributeSchema(traits: PropertyTraits(name: "pages"), type: .integer64)
    count.derivationExpression = "count:(parts)"
    var place = AttributeSchema(traits: PropertyTraits(name: "place"), type: .composite)
    place.compositeName = "place"
    place.elements = [
      AttributeSchema(traits: PropertyTraits(name: "street"), type: .string),
      AttributeSchema(traits: PropertyTraits(name: "area"), type: .double),
    ]
    var book = EntitySchema(name: "Book", parent: "Work")
    book.className = "Library.Book"
    book.attributes = [
      count, name, photo, place, token, color,
      AttributeSchema(traits: PropertyTraits(name: "price"), type: .decimal, defaultValue: .decimal("-12.5")),
      AttributeSchema(traits: PropertyTraits(name: "made"), type: .date, defaultValue: .date(-541_228_980)),
      AttributeSchema(
        traits: PropertyTraits(name: "site"), type: .uri, defaultValue: .uri("https://example.org/a")),
      AttributeSchema(traits: PropertyTraits(name: "flag"), type: .boolean, defaultValue: .boolean(true)),
      AttributeSchema(traits: PropertyTraits(name: "level"), type: .integer16, defaultValue: .integer(-7)),
      AttributeSchema(traits: PropertyTraits(name: "size"), type: .float, defaultValue: .double(1.5)),
      AttributeSchema(traits: PropertyTraits(name: "note", isTransient: true), type: .undefined),
    ]
    book.relationships = [
      RelationshipSchema(
        traits: PropertyTraits(name: "parts"), destination: "Part", inverse: "book", maxCount: 0,
        deleteRule: .cascade,
        isOrdered: true),
      RelationshipSchema(
        traits: PropertyTraits(name: "sequels"), destination: "Book", inverse: nil, maxCount: Int.max),
    ]
    book.indexes = [
      FetchIndexSchema(
        name: "byName", elements: [.init(property: "name"), .init(property: "made", isAscending: false)])
    ]
    book.uniquenessConstraints = [["name", "token"]]
    book.versionHashModifier = "b"
    var part = EntitySchema(name: "Part")
    part.relationships = [
      RelationshipSchema(
        traits: PropertyTraits(name: "book", isOptional: false, renamingIdentifier: "owner"),
        destination: "Book",
        inverse: "parts", minCount: 1)
    ]
    part.fetchedProperties = [
      FetchedPropertySchema(
        traits: PropertyTraits(name: "others", isTransient: true),
        request: FetchRequestSchema(
          name: "fetchedPropertyFetchRequest", entity: "Book", predicate: "name == $FETCH_SOURCE.book.name"))
    ]
    var work = EntitySchema(name: "Work")
    work.isAbstract = true
    work.attributes = [AttributeSchema(traits: PropertyTraits(name: "title"), type: .string)]
    var schema = ModelSchema(entities: [book, part, work])
    schema.composites = ["place": place.elements]
    schema.configurations = [ConfigurationSchema(name: "Local", entities: ["Book", "Work"])]
    schema.fetchRequests = [
      FetchRequestSchema(
        name: "Cheap", entity: "Book", predicate: "price < 5 AND (NOT (name LIKE[c] \"x*\"))")
    ]
    schema.versionIdentifiers = ["2"]
    return schema.canonical()
  }

  private func _read(_ content: [UInt8]) throws -> ModelSchema {
    try CompiledModelReader.read(Data(RawDeflate.unpack(content, limit: 1 << 20)), path: "cache").canonical()
  }

  @Test func `what is written is read`() throws {
    let schema = Self._everything()
    var found = try _read(ModelCache.content(for: schema))
    // An archive identifies composites by their attributes.
    found.composites = schema.composites
    for (one, other) in zip(found.entities, schema.entities) {
      #expect(one.attributes == other.attributes)
      #expect(one.relationships == other.relationships)
      #expect(one.fetchedProperties == other.fetchedProperties)
      #expect(one.indexes == other.indexes)
    }
    #expect(found.fetchRequests == schema.fetchRequests)
    #expect(found == schema)
    #expect(found.entityVersionHashes() == schema.entityVersionHashes())
  }

  @Test func `a model made from a schema has all that the schema says`() throws {
    let schema = Self._everything()
    let found = ModelSchema(try NSManagedObjectModel(schema: schema)).canonical()
    for (one, other) in zip(found.entities, schema.entities) {
      #expect(one.attributes == other.attributes)
      #expect(one.relationships == other.relationships)
      #expect(one.indexes == other.indexes)
    }
    #expect(found.composites == schema.composites)
    #expect(found.configurations == schema.configurations)
    #expect(found.versionIdentifiers == schema.versionIdentifiers)
  }

  @Test func `a predicate without known form is left out of the cache`() throws {
    var schema = Self._everything()
    let book = schema.entities.firstIndex { $0.name == "Book" }!
    let name = schema.entities[book].attributes.firstIndex { $0.name == "name" }!
    schema.entities[book].attributes[name].validations.append(
      ValidationSchema(predicate: "SELF BEGINSWITH \"A\"", warning: "w"))
    let found = try _read(ModelCache.content(for: schema))
    #expect(found.entities[book].attributes[name].validations.count == 1)
    #expect(found.entityVersionHashes() == schema.entityVersionHashes())
  }

  @Test func `a new store holds its model`() throws {
    let fixture = try StoreFixture(Models.library)
    let connection = try fixture.connection()
    let found = try #require(try ModelCache.read(connection, path: fixture.url.path))
    #expect(found.entityVersionHashes() == Models.library.entityVersionHashes())
    #expect(try connection.firstValue("SELECT COUNT(*) FROM Z_MODELCACHE") == .int(1))
  }

  @Test func `a store opens with the model inside it`() throws {
    let fixture = try StoreFixture(Models.transit)
    try fixture.insert("Route", ["name": .string("first")])
    let model = try NSManagedObjectModel.load(fromStoreAt: fixture.url)
    #expect(!model.isReconstructedFromTables)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let names = try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Route")).map {
        $0.value(forKey: "name") as? String
      }
    }
    #expect(names == ["first"])
  }

  @Test func `damaged content is an error`() throws {
    let fixture = try StoreFixture(Models.transit)
    let connection = try fixture.connection()
    for content in ["x'00'", "x'ffffffff'", "x'4b4c0400'", "zeroblob(100000)"] {
      try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = \(content)")
      #expect(throws: ModelFileError.self) { _ = try ModelCache.read(connection, path: "x") }
    }
    try connection.execute("DELETE FROM Z_MODELCACHE")
    #expect(try ModelCache.read(connection, path: "x") == nil)
  }

  @Test func `a few bytes that unpack to too many are refused`() throws {
    let packed = try RawDeflate.pack([UInt8](repeating: 0, count: 3 << 20))
    #expect(packed.count < 10_000)
    #expect(throws: RawDeflate.Failure.self) { _ = try RawDeflate.unpack(packed, limit: 1 << 20) }
    #expect(try RawDeflate.unpack(packed, limit: 3 << 20).count == 3 << 20)
  }
}

/// Models derived from tables.
@Suite struct TableModelTests {
  private func _model(_ schema: ModelSchema, _ insert: (StoreFixture) throws -> Void = { _ in }) throws
    -> ModelSchema
  {
    let fixture = try StoreFixture(schema)
    try insert(fixture)
    let connection = try fixture.connection()
    try connection.execute("DROP TABLE Z_MODELCACHE")
    return try TableModel(connection, path: fixture.url.path).schema()
  }

  @Test func `entities parents and columns are found`() throws {
    let model = try _model(Models.library)
    #expect(model.entities.map(\.name) == ["Book", "GraphicNovel", "Feedback", "Page", "Writer", "Author"])
    #expect(model.entities[1].parent == "Book")
    let book = model.entities[0]
    let types = Dictionary(uniqueKeysWithValues: book.attributes.map { ($0.name, $0.type) })
    #expect(types["price"] == .decimal)
    #expect(types["title"] == .string)
    #expect(types["publishedat"] == .date)
    #expect(types["pagescount"] == .integer64)
    let page = try #require(model.entities.first { $0.name == "Page" })
    #expect(page.relationships.map(\.name) == ["book"])
    #expect(page.relationships.first?.destination == "Book")
  }

  @Test func `many-to-many relationships are found with their inverses`() throws {
    let model = try _model(Models.bookmarks)
    let names = model.entities[0].relationships.filter(\.isToMany).map {
      "\($0.name) \($0.inverse ?? "-") \($0.isOrdered)"
    }
    #expect(names.sorted() == ["favoritefolders favorites false", "favorites favoritefolders true"])
  }

  @Test func `a copy that cannot be read counts as missing`() throws {
    let fixture = try StoreFixture(Models.transit)
    let connection = try fixture.connection()
    let names = Set(Models.transit.entities.map { $0.name.lowercased() })
    for content in ["x'00'", "zeroblob(1000)"] {
      try connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = \(content)")
      let model = try NSManagedObjectModel.load(fromStoreAt: fixture.url)
      #expect(model.isReconstructedFromTables)
      #expect(Set(model.entities.compactMap { $0.name?.lowercased() }) == names)
    }
  }

  @Test func `it is good for reading only`() throws {
    let fixture = try StoreFixture(Models.transit)
    try fixture.connection().execute("DROP TABLE Z_MODELCACHE")
    let model = try NSManagedObjectModel.load(fromStoreAt: fixture.url)
    #expect(model.isReconstructedFromTables)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let error = #expect(throws: CocoaError.self) {
      _ = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.url)
    }
    #expect(error?.code.rawValue == NSPersistentStoreIncompatibleSchemaError)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.url,
      options: [NSReadOnlyPersistentStoreOption: true])
  }
}
