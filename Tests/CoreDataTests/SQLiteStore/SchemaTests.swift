import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite struct SchemaTests {
  private func _statements(_ schema: ModelSchema) throws -> [String] {
    try SchemaWriter(MappingBuilder.mapping(for: ModelLayout(schema))).statements()
  }

  @Test func `tables and indexes are spelled and ordered as Core Data does`() throws {
    #expect(
      try _statements(Models.library) == [
        "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGESCOUNT INTEGER, ZAUTHOR INTEGER, ZISBLACKANDWHITE INTEGER, ZPUBLISHEDAT TIMESTAMP, ZPRICE DECIMAL, ZTITLE VARCHAR, ZUNIQUEID BLOB, ZFRONTCOVER BLOB )",
        "CREATE TABLE ZFEEDBACK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING FLOAT, ZAUTHORALIAS VARCHAR, ZCOMMENT VARCHAR, ZBOOKID BLOB )",
        "CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISBOOKMARKED INTEGER, ZNUMBER INTEGER, ZBOOK INTEGER, Z1_BOOK INTEGER, ZCONTENT BLOB )",
        "CREATE TABLE ZWRITER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZALIAS VARCHAR )",
        "CREATE INDEX ZBOOK_ZAUTHOR_INDEX ON ZBOOK (ZAUTHOR)",
        "CREATE INDEX ZBOOK_Z_ENT_INDEX ON ZBOOK (Z_ENT)",
        "CREATE UNIQUE INDEX Z_Book_UNIQUE_uniqueID ON ZBOOK (ZUNIQUEID COLLATE BINARY ASC)",
        "CREATE INDEX ZPAGE_ZBOOK_INDEX ON ZPAGE (ZBOOK)",
        "CREATE INDEX ZWRITER_Z_ENT_INDEX ON ZWRITER (Z_ENT)",
        "CREATE UNIQUE INDEX Z_Author_UNIQUE_alias ON ZWRITER (ZALIAS COLLATE BINARY ASC)",
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
      ])
  }

  @Test func `ordered and recursive relationships have their columns`() throws {
    #expect(
      try _statements(Models.bookmarks).prefix(8) == [
        "CREATE TABLE ZBOOKMARKENTITY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISFOLDER INTEGER, ZISPENDINGDELETION INTEGER, ZPARENT INTEGER, Z_FOK_PARENT INTEGER, ZMODIFIEDAT TIMESTAMP, ZLASTCHILDRENPAYLOADRECEIVEDFROMSYNC VARCHAR, ZTITLE VARCHAR, ZURL VARCHAR, ZUUID VARCHAR )",
        "CREATE TABLE Z_1FAVORITES ( Z_1FAVORITEFOLDERS INTEGER, Z_1FAVORITES INTEGER, Z_FOK_1FAVORITES INTEGER, PRIMARY KEY (Z_1FAVORITEFOLDERS, Z_1FAVORITES) )",
        "CREATE INDEX ZBOOKMARKENTITY_ZPARENT_INDEX ON ZBOOKMARKENTITY (ZPARENT)",
        "CREATE INDEX Z_1FAVORITES_Z_1FAVORITES_INDEX ON Z_1FAVORITES (Z_1FAVORITES, Z_1FAVORITEFOLDERS)",
        "CREATE INDEX Z_BookmarkEntity_isPendingDeletion ON ZBOOKMARKENTITY (ZISPENDINGDELETION COLLATE BINARY ASC)",
        "CREATE INDEX Z_BookmarkEntity_byUUID ON ZBOOKMARKENTITY (ZUUID COLLATE BINARY ASC, ZISPENDINGDELETION COLLATE BINARY ASC)",
        "CREATE INDEX Z_BookmarkEntity_byURL ON ZBOOKMARKENTITY (ZURL COLLATE BINARY ASC, ZISPENDINGDELETION COLLATE BINARY ASC)",
        "CREATE INDEX Z_BookmarkEntity_byIsPendingDeletion ON ZBOOKMARKENTITY (ZISPENDINGDELETION COLLATE BINARY ASC)",
      ])
  }

  @Test func `a to-many without inverse gets a hidden column`() throws {
    let notice = try _statements(Models.transit).first { $0.hasPrefix("CREATE TABLE ZNOTICE") }
    #expect(
      notice
        == "CREATE TABLE ZNOTICE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z4NOTICES INTEGER, ZTEXT VARCHAR )"
    )
  }

  @Test func `properties of siblings with one name are numbered`() throws {
    let statements = try _statements(
      ModelSchema(entities: [
        EntitySchema("Message"),
        EntitySchema("ImageMessage", parent: "Message", [AttributeSchema("text", .string)]),
        EntitySchema("TextMessage", parent: "Message", [AttributeSchema("text", .string)]),
      ]))
    #expect(
      statements[0]
        == "CREATE TABLE ZMESSAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR, ZTEXT1 VARCHAR )"
    )
  }

  @Test func `join columns of the same name are numbered`() throws {
    let statements = try _statements(
      ModelSchema(entities: [
        EntitySchema("Message"),
        EntitySchema(
          "SystemMessage", parent: "Message", [], [.many("users", "User", inverse: "systemMessages")]),
        EntitySchema("Reaction", [], [.many("users", "User", inverse: "reactions")]),
        EntitySchema(
          "User", [],
          [
            .many("reactions", "Reaction", inverse: "users"),
            .many("systemMessages", "SystemMessage", inverse: "users"),
          ]),
      ]))
    #expect(
      statements.contains(
        "CREATE TABLE Z_2USERS ( Z_2SYSTEMMESSAGES INTEGER, Z_4USERS1 INTEGER, PRIMARY KEY (Z_2SYSTEMMESSAGES, Z_4USERS1) )"
      ))
    #expect(
      statements.contains(
        "CREATE TABLE Z_3USERS ( Z_3REACTIONS INTEGER, Z_4USERS INTEGER, PRIMARY KEY (Z_3REACTIONS, Z_4USERS) )"
      ))
  }

  @Test func `a new file has core datas settings and rows`() throws {
    let fixture = try StoreFixture(Models.library)
    let connection = try fixture.connection()
    #expect(try connection.pragma("page_size") == "4096")
    #expect(try connection.pragma("auto_vacuum") == "2")
    #expect(try connection.pragma("journal_mode") == "wal")
    #expect(try connection.pragma("user_version") == "0")
    var keys: [String] = []
    try connection.query("SELECT * FROM Z_PRIMARYKEY ORDER BY Z_ENT") { row in
      keys.append((0..<4).map { row.string($0) }.joined(separator: " "))
    }
    #expect(
      keys == [
        "1 Book 0 0", "2 GraphicNovel 1 0", "3 Feedback 0 0", "4 Page 0 0", "5 Writer 0 0", "6 Author 5 0",
      ])
    #expect(
      try connection.firstValue("SELECT substr(Z_PLIST, 1, 6) FROM Z_METADATA WHERE Z_VERSION = 1")
        == .blob(Array("bplist".utf8)))
    #expect(try connection.firstValue("SELECT COUNT(*) FROM Z_MODELCACHE") == .int(1))
  }

  @Test func `a model that cannot be stored leaves no file`() throws {
    var composite = AttributeSchema("place", .composite)
    composite.elements = [AttributeSchema("x", .transformable)]
    let error = #expect(throws: UnsupportedModelError.self) {
      try _ = StoreFixture(ModelSchema(entities: [EntitySchema("Spot", [composite])]))
    }
    #expect(error?.property == "place.x")
  }
}

@Suite struct SchemaBindingTests {
  @Test func `columns are found by name whatever their order`() throws {
    let fixture = try StoreFixture(Models.transit)
    let key = try fixture.insert("Route", ["name": .string("first")])
    let connection = try fixture.connection()
    try connection.execute(
      """
      ALTER TABLE ZROUTE DROP COLUMN ZNAME; ALTER TABLE ZROUTE ADD COLUMN ZEXTRA VARCHAR;
      ALTER TABLE ZROUTE ADD COLUMN ZNAME VARCHAR; UPDATE ZROUTE SET ZNAME = 'moved'
      """)
    let engine = try fixture.reopened()
    #expect(try engine.rows(for: [key])[0]?[0] == .string("moved"))
  }

  @Test func `a missing column is named`() throws {
    let fixture = try StoreFixture(Models.transit)
    try fixture.connection().execute("ALTER TABLE ZROUTE DROP COLUMN ZNAME")
    let error = #expect(throws: StoreOpenError.self) { _ = try fixture.reopened() }
    #expect(error?.description.contains("the table ZROUTE has no column ZNAME") == true)
    #expect(error?.cocoaCode == 134020)
  }

  @Test func `a join table is found under its other name`() throws {
    let fixture = try StoreFixture(Models.bookmarks)
    let folder = fixture.insertion("BookmarkEntity", [:])
    let mark = fixture.insertion(
      "BookmarkEntity", ["favoriteFolders": .toMany(ToManyDelta(added: [folder.id], removed: [], order: nil))]
    )
    let keys = try fixture.insert([folder, mark])
    try fixture.connection().execute("ALTER TABLE Z_1FAVORITES RENAME TO Z_1FAVORITEFOLDERS")
    let engine = try fixture.reopened()
    let slot = fixture.slot("favorites", in: "BookmarkEntity")
    #expect(try engine.related(to: [keys[0]], slot: slot) == [[keys[1]]])
  }

  @Test func `entity numbers of the file are respected`() throws {
    // As written with a model that has one more entity in front.
    let fixture = try StoreFixture(Models.library)
    let page = fixture.insertion("Page", ["number": .int(7)])
    try fixture.insert([page])
    try fixture.connection().execute(
      """
      UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 100; UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_SUPER + 100 WHERE Z_SUPER <> 0;
      UPDATE ZPAGE SET Z_ENT = Z_ENT + 100; ALTER TABLE ZPAGE RENAME COLUMN Z1_BOOK TO Z101_BOOK
      """)
    let engine = try fixture.reopened()
    let novel = fixture.insertion("GraphicNovel", ["title": .string("n")])
    try engine.commit(ChangeSet(inserted: [novel]))
    #expect(try fixture.connection().firstValue("SELECT Z_ENT FROM ZBOOK") == .int(102))
    let found = try engine.fetch(FetchPlan(layout: fixture.entity("Book")))
    #expect(found.first?.key.space.layout.entityName == "GraphicNovel")
  }
}

/// Compares predicted schemas with stores written by Core Data.
@Suite struct CorpusSchemaTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/corpus/stores")
  static let isPresent = FileManager.default.fileExists(atPath: root.path)

  private func _schema(of file: String) throws -> [String] {
    let connection = try Connection(path: Self.root.appendingPathComponent(file).path, mode: .immutable)
    var result: [String] = []
    try connection.query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'trigger'") { row in
      let sql = row.string(0)
      if !sql.contains(" ACHANGE") && !sql.contains(" ATRANSACTION") { result.append(sql) }
    }
    return result
  }

  @Test(.enabled(if: isPresent)) func `the library model gives core datas own schema`() throws {
    let expected = try _schema(of: "coredataplus/SampleModel2_V2.sqlite")
    #expect(
      try SchemaWriter(MappingBuilder.mapping(for: ModelLayout(Models.library))).statements() == expected)
  }

  @Test(.enabled(if: isPresent)) func `the bookmarks model gives core datas own schema`() throws {
    let expected = try _schema(of: "duckduckgo/Bookmarks_V5.sqlite")
    #expect(
      try SchemaWriter(MappingBuilder.mapping(for: ModelLayout(Models.bookmarks))).statements() == expected)
  }
}
