import CoreDataCSQLite
import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataSQLiteBinding

/// R-tree indexes: made from a model, maintained by saves, and what else may be in such a file.
@Suite struct SpatialIndexTests {
  private static let model = ModelSchema(entities: [
    EntitySchema(
      "Place",
      [
        AttributeSchema("latitude", .double), AttributeSchema("longitude", .float),
        AttributeSchema("name", .string), .derived("upper", .string, "uppercase:(name)"),
      ],
      indexes: [
        FetchIndexSchema(
          name: "byPlace",
          elements: [.init(property: "latitude", isRTree: true), .init(property: "longitude", isRTree: true)])
      ]),
    EntitySchema("Shop", parent: "Place", [AttributeSchema("opens", .date)]),
  ])

  /// A few random inserts, updates and deletes at a time, and the checks afterwards.
  private struct Traffic {
    let engine: SQLiteStoreEngine
    let entities: [ObjectIDSpace]
    /// Slots of two coordinates, in the entities' layouts.
    let coordinates: [(x: Int, y: Int)]
    var random = SeededRandom(seed: 7)
    private(set) var keys: [ObjectKey] = []

    init(_ engine: SQLiteStoreEngine, _ entities: [ObjectIDSpace], _ x: String, _ y: String) {
      self.engine = engine
      self.entities = entities
      coordinates = entities.map { ($0.layout.slot(named: x)!, $0.layout.slot(named: y)!) }
    }

    private mutating func _place(_ row: Row, _ entity: Int) -> Row {
      var row = row
      for slot in [coordinates[entity].x, coordinates[entity].y] {
        row.set(
          Int.random(in: 0..<10, using: &random) == 0
            ? .null : .double(.random(in: -180...180, using: &random)), at: slot)
      }
      return row
    }

    mutating func save() throws {
      var changes = ChangeSet()
      var made: [NSManagedObjectID] = []
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let entity = Int.random(in: 0..<entities.count, using: &random)
        let id = NSManagedObjectID(temporaryIn: entities[entity])
        let row = _place(Row(count: entities[entity].layout.slots.count, version: 1), entity)
        changes.inserted.append(.init(id: id, row: row))
        made.append(id)
      }
      let changed = keys.shuffled(using: &random).prefix(3)
      for (key, base) in try zip(changed, engine.rows(for: Array(changed))) {
        guard let base else { continue }
        let id = NSManagedObjectID(key)
        if Int.random(in: 0..<4, using: &random) == 0 {
          changes.deleted.append(.init(id: id, base: base))
          keys.removeAll { $0 == key }
          continue
        }
        let entity = entities.firstIndex { $0.layout.entityNumber == key.space.layout.entityNumber }!
        let row = _place(Row(copying: base, version: base.version + 1), entity)
        changes.updated.append(
          .init(
            id: id, base: base, row: row, changed: SlotSet([coordinates[entity].x, coordinates[entity].y])))
      }
      try engine.commit(changes)
      keys += made.map { $0.key! }
    }
  }

  private func _expectWhole(
    _ connection: Connection, _ index: String, _ table: String, _ x: String, _ y: String
  ) throws {
    #expect(try connection.firstValue("PRAGMA integrity_check") == .text("ok"))
    #expect(try connection.firstValue("SELECT rtreecheck('\(index)')") == .text("ok"))
    let sizes = "(SELECT COUNT(*) FROM \(index)) - (SELECT COUNT(*) FROM \(table))"
    #expect(try connection.firstValue("SELECT \(sizes)") == .int(0))
    // The tree has 32-bit numbers, rounded outwards.
    let outside =
      "SELECT COUNT(*) FROM \(table) t JOIN \(index) i ON i.Z_PK = t.Z_PK "
      + "WHERE IFNULL(t.\(x), 0) NOT BETWEEN i.\(x)_MIN AND i.\(x)_MAX OR IFNULL(t.\(y), 0) NOT BETWEEN i.\(y)_MIN AND i.\(y)_MAX "
      + "OR i.\(x)_MAX - i.\(x)_MIN > 0.001"
    #expect(try connection.firstValue(outside) == .int(0))
  }

  private func _spaces(_ fixture: StoreFixture, _ names: String...) -> [ObjectIDSpace] {
    names.map {
      ObjectIDSpace(
        layout: fixture.entity($0), entity: NSEntityDescription(), store: nil, persistentStore: nil)
    }
  }

  // MARK: Own stores

  @Test func `a model's R-tree index is made with its triggers`() throws {
    let fixture = try StoreFixture(Self.model)
    let schema = try ForeignSchema(fixture.connection())
    #expect(schema.items == [])
    #expect(
      schema.spatialIndexes == [
        SpatialIndex(name: "Z_RT_Place_byPlace", table: "ZPLACE", columns: ["ZLATITUDE", "ZLONGITUDE"])
      ])
  }

  @Test func `a thousand random saves maintain it`() throws {
    let fixture = try StoreFixture(Self.model)
    var traffic = Traffic(fixture.engine, _spaces(fixture, "Place", "Shop"), "latitude", "longitude")
    for round in 0..<1000 {
      if round == 500 {
        traffic = Traffic(try fixture.reopened(), _spaces(fixture, "Place", "Shop"), "latitude", "longitude")
      }
      try traffic.save()
    }
    try _expectWhole(fixture.connection(), "Z_RT_Place_byPlace", "ZPLACE", "ZLATITUDE", "ZLONGITUDE")
  }

  @Test func `derived attributes are computed beside it`() throws {
    let fixture = try StoreFixture(Self.model)
    let key = try fixture.insert("Shop", ["name": .string("inn"), "latitude": .double(1)])
    #expect(try fixture.reopened().rows(for: [key])[0]?[fixture.slot("upper", in: "Shop")] == .string("INN"))
  }

  @Test func `a migration keeps it, and fills it`() throws {
    let fixture = try StoreFixture(Self.model)
    try fixture.insert((0..<5).map { fixture.insertion("Place", ["latitude": .double(Double($0))]) })
    fixture.engine.close()
    var schema = Self.model
    schema.entities[0].attributes.append(AttributeSchema("note", .string))
    let connection = try fixture.connection()
    try SQLFunctions.register(on: connection)
    let old = try SchemaBinder(connection, path: fixture.url.path)
      .bind(MappingBuilder.mapping(for: fixture.layout))
    try connection.transaction {
      try StoreMigration(
        connection, at: fixture.url.path, from: old, to: MappingBuilder.mapping(for: ModelLayout(schema))
      ).run()
    }
    #expect(try ForeignSchema(connection).spatialIndexes.count == 1)
    try _expectWhole(connection, "Z_RT_Place_byPlace", "ZPLACE", "ZLATITUDE", "ZLONGITUDE")
  }

  @Test func `an R-tree of texts is left out`() throws {
    var schema = Self.model
    schema.entities[0].indexes[0].elements[0] = .init(property: "name", isRTree: true)
    let fixture = try StoreFixture(schema)
    #expect(try ForeignSchema(fixture.connection()).spatialTables == [])
    try fixture.insert("Place", ["latitude": .double(1)])
  }

  // MARK: What else is in the file

  @Test func `a store without an R-tree is not trusted`() throws {
    let fixture = try StoreFixture(Models.transit)
    #expect(try fixture.engine.pool.write { $0.trustsSchema } == false)
  }

  @Test(arguments: ["Z_RT_x", "Z_DA_ZPLACE_Place_upper_LATER", "spy"])
  func `a trigger of other text does nothing`(name: String) throws {
    let fixture = try StoreFixture(Self.model)
    let place = try fixture.insert("Place", ["latitude": .double(1)])
    fixture.engine.close()
    try fixture.connection().execute(
      "CREATE TRIGGER \(name) AFTER INSERT ON ZPLACE BEGIN DELETE FROM Z_RT_Place_byPlace; DELETE FROM ZPLACE; END"
    )
    let engine = try fixture.reopened()
    let error = #expect(throws: SQLiteStoreError.self) {
      try engine.commit(ChangeSet(inserted: [fixture.insertion("Place", ["latitude": .double(2)])]))
    }
    #expect(error?.description.contains("\(name) is none that Core Data makes") == true, "\(error!)")
    #expect(try engine.rows(for: [place])[0] != nil)
    #expect(try fixture.connection().firstValue("SELECT COUNT(*) FROM Z_RT_Place_byPlace") == .int(1))
    // What it does not run with is saved.
    let base = try engine.rows(for: [place])[0]!
    var row = Row(copying: base, version: 2)
    let slot = fixture.slot("latitude", in: "Place")
    row.set(.double(3), at: slot)
    try engine.commit(
      ChangeSet(updated: [.init(id: NSManagedObjectID(place), base: base, row: row, changed: SlotSet([slot]))]
      ))
  }

  @Test func `a trigger with the name of one of Core Data's and other text is not trusted`() throws {
    let fixture = try StoreFixture(Self.model)
    fixture.engine.close()
    try fixture.connection().execute(
      """
      DROP TRIGGER Z_RT_Place_byPlace_INSERT;
      CREATE TRIGGER Z_RT_Place_byPlace_INSERT AFTER INSERT ON ZPLACE BEGIN DELETE FROM ZPLACE; END
      """)
    let schema = try ForeignSchema(fixture.connection())
    #expect(schema.spatialIndexes == [])
    #expect(schema.items.map(\.name).contains("Z_RT_Place_byPlace_INSERT"))
    #expect(try fixture.reopened().pool.write { $0.trustsSchema } == false)
  }

  @Test func `a function that is not innocuous cannot be called from a trusted schema`() throws {
    let fixture = try StoreFixture(Self.model)
    #expect(throws: SQLiteError.self) {
      try fixture.engine.pool.write { _ = try $0.firstValue("SELECT load_extension('x')") }
    }
  }

  @Test func `without the module the triggers are known`() throws {
    let fixture = try StoreFixture(Self.model)
    let connection = try fixture.connection()
    #expect(try ForeignSchema.triggersWithoutModule(connection) == [])
    sqlite3_drop_modules(connection.handle, nil)
    #expect(try ForeignSchema.triggersWithoutModule(connection).count == 3)
    #expect(
      try SpatialIndex.makeable([SpatialIndex(name: "Z_RT_a", table: "ZA", columns: ["ZB"])], on: connection)
        == [])
  }

  @Test func `quotes around plain names make no other text`() {
    #expect(
      SchemaText.isSame(
        #"CREATE TRIGGER "Z_RT_a" AFTER INSERT ON "ZA""#, "CREATE TRIGGER Z_RT_a AFTER INSERT ON ZA"))
    #expect(!SchemaText.isSame(#"DELETE FROM "Z A""#, "DELETE FROM Z A"))
  }
}

/// Schemas of Apple's photo libraries.
@Suite(
  .enabled(if: FileManager.default.fileExists(atPath: AppleCorpus.third.path), "needs ../shared/corpus-3"))
final class AppleSpatialIndexTests {
  private let _directory: URL

  init() throws { _directory = try TemporaryPlace.makeDirectory() }
  deinit { try? FileManager.default.removeItem(at: _directory) }

  private struct Library {
    let engine: SQLiteStoreEngine
    let layout: ModelLayout
    let url: URL

    func space(_ entity: String) -> ObjectIDSpace {
      ObjectIDSpace(
        layout: layout.layoutsByName[entity]!, entity: NSEntityDescription(), store: nil, persistentStore: nil
      )
    }

    func insertion(_ entity: String, _ values: [Int: Value] = [:]) -> ChangeSet.Insertion {
      let space = space(entity)
      var row = Row(count: space.layout.slots.count, version: 1)
      for (slot, value) in values { row.set(value, at: slot) }
      return .init(id: NSManagedObjectID(temporaryIn: space), row: row)
    }
  }

  /// Opens a copy of a fixture, changed by SQL before.
  private func _library(_ name: String, _ change: (Connection) throws -> Void = { _ in }) throws -> Library {
    let url = _directory.appendingPathComponent("\(name).sqlite")
    try FileManager.default.copyItem(
      at: AppleCorpus.third.appendingPathComponent("stores/\(name).schema-only.sqlite"), to: url)
    let layout = try ModelLayout(ModelSchema(NSManagedObjectModel.load(fromStoreAt: url)))
    try change(try Connection(path: url.path))
    let engine = try SQLiteStoreEngine(
      url: url, layout: layout, entities: layout.layouts.map { _ in NSEntityDescription() },
      persistentStore: nil)
    return Library(engine: engine, layout: layout, url: url)
  }

  private func _dropPrivate(_ connection: Connection) throws {
    var names: [String] = []
    try connection.query(
      "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'ZT!_%' ESCAPE '!'"
    ) {
      names.append($0.string(0))
    }
    #expect(!names.isEmpty)
    for name in names { try connection.execute("DROP TRIGGER \(name)") }
  }

  @Test func `saves maintain the index of a photo library`() throws {
    let library = try _library("photos-13.5.1", _dropPrivate)
    #expect(try library.engine.pool.write { $0.trustsSchema })
    let asset = library.space("Asset")
    let slots = (asset.layout.slot(named: "latitude")!, asset.layout.slot(named: "longitude")!)
    var random = SeededRandom(seed: 3)
    var keys: [ObjectKey] = []
    for _ in 0..<1000 {
      var changes = ChangeSet()
      let place: [Int: Value] = [
        slots.0: .double(.random(in: -90...90, using: &random)),
        slots.1: .double(.random(in: -180...180, using: &random)),
      ]
      let insertion = library.insertion("Asset", Bool.random(using: &random) ? place : [:])
      changes.inserted = [insertion]
      if let key = keys.randomElement(using: &random), let base = try library.engine.rows(for: [key])[0] {
        if Bool.random(using: &random) {
          changes.deleted = [.init(id: NSManagedObjectID(key), base: base)]
          keys.removeAll { $0 == key }
        } else {
          var row = Row(copying: base, version: base.version + 1)
          row.set(.double(.random(in: -90...90, using: &random)), at: slots.0)
          changes.updated = [
            .init(id: NSManagedObjectID(key), base: base, row: row, changed: SlotSet([slots.0]))
          ]
        }
      }
      try library.engine.commit(changes)
      keys.append(insertion.id.key!)
    }
    let connection = try Connection(path: library.url.path)
    #expect(try connection.firstValue("PRAGMA integrity_check") == .text("ok"))
    #expect(try connection.firstValue("SELECT rtreecheck('Z_RT_Asset_boundedByRect')") == .text("ok"))
    #expect(
      try connection.firstValue("SELECT COUNT(*) FROM Z_RT_Asset_boundedByRect") == .int(Int64(keys.count)))
    #expect(
      try connection.firstValue(
        "SELECT COUNT(*) FROM ZASSET t JOIN Z_RT_Asset_boundedByRect i ON i.Z_PK = t.Z_PK "
          + "WHERE IFNULL(ZLATITUDE, 0) NOT BETWEEN ZLATITUDE_MIN AND ZLATITUDE_MAX") == .int(0))
  }

  @Test(arguments: ["photos-13.5.1", "photos-15.4.1"])
  func `a save that needs a function of Apple's program says so`(name: String) throws {
    let library = try _library(name)
    let error = #expect(throws: SQLiteStoreError.self) {
      try library.engine.commit(ChangeSet(inserted: [library.insertion("Asset")]))
    }
    let text = error?.description ?? ""
    #expect(
      text.contains("NSCoreDataTriggerUpdateAffectedObjectValue, which only the program of Apple's has"),
      "\(text)")
    // Others are saved.
    try library.engine.commit(ChangeSet(inserted: [library.insertion("Keyword")]))
  }

  @Test func `a table that no trigger maintains stays as it is`() throws {
    let library = try _library("photos-15.4.1", _dropPrivate)
    #expect(try library.engine.pool.write { $0.trustsSchema } == false)
    try library.engine.commit(ChangeSet(inserted: [library.insertion("Asset")]))
    let connection = try Connection(path: library.url.path)
    #expect(try connection.firstValue("SELECT COUNT(*) FROM Z_RT_Asset_boundedByRect") == .int(0))
    #expect(try connection.firstValue("SELECT rtreecheck('Z_RT_Asset_boundedByRect')") == .text("ok"))
  }
}

extension AttributeSchema {
  fileprivate static func derived(_ name: String, _ type: AttributeType, _ expression: String)
    -> AttributeSchema
  {
    var attribute = AttributeSchema(name, type)
    attribute.derivationExpression = expression
    return attribute
  }
}
