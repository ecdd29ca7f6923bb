import CoreData
import SwiftData
import TestSupport
import Testing

/// The file as SQLite reads it.
struct FileTests {
  private let _place: URL

  init() throws {
    _place = try TemporaryPlace.makeDirectory().appendingPathComponent("shelves.store")
    let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: _place)))
    let (shelf, volume) = (Shelf(code: "A"), Volume(title: "One", pages: 3))
    shelf.volumes = [volume]
    volume.topics = [Topic(name: "x")]
    context.insert(shelf)
    try context.save()
  }

  private func _rows(_ sql: String) throws -> [String] { try SQLiteShell.rows(sql, in: _place) }

  @Test func `the tables are Core Data's`() throws {
    let tables = try Set(_rows("SELECT name FROM sqlite_master WHERE type = 'table'"))
    #expect(
      tables.isSuperset(of: [
        "ZSHELF", "ZVOLUME", "ZTOPIC", "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE",
        "ATRANSACTION",
        "ATRANSACTIONSTRING",
      ]))
    #expect(try _rows("PRAGMA page_size") == ["4096"] && _rows("PRAGMA auto_vacuum") == ["2"])
    #expect(try _rows("PRAGMA journal_mode") == ["wal"])
    #expect(
      try _rows("SELECT Z_ENT || Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_ENT") == [
        "1Shelf", "2Topic", "3Volume", "16001CHANGE", "16002TRANSACTION", "16003TRANSACTIONSTRING",
      ])
  }

  @Test func `columns have the types of their attributes`() throws {
    let columns = try Dictionary(
      _rows("SELECT name || ' ' || type FROM pragma_table_info('ZVOLUME')").map { row in
        let parts = row.split(separator: " ")
        return (String(parts[0]), String(parts[1]))
      }, uniquingKeysWith: { first, _ in first })
    #expect(columns["ZPAGES"] == "INTEGER" && columns["ZBYTE"] == "INTEGER" && columns["ZWEIGHT"] == "FLOAT")
    #expect(
      columns["ZTITLE"] == "VARCHAR" && columns["ZBOUGHT"] == "TIMESTAMP" && columns["ZCOVER"] == "BLOB")
    #expect(columns["ZPRICE"] == "DECIMAL" && columns["ZLINK"] == "VARCHAR" && columns["ZTAGS"] == "BLOB")
    #expect(columns["ZMARKS"] == "BLOB" && columns["ZKIND"] == "VARCHAR")
    // Members of the structure, and one column per case of enumerations without raw values.
    #expect(columns["ZWIDTH"] == "FLOAT" && columns["ZNOTE"] == "VARCHAR" && columns["ZLOST"] == "VARCHAR")
    #expect(columns["ZOUTER"] == "VARCHAR" && columns["ZINNER"] == "VARCHAR" && columns["ZLENT"] == "BLOB")
  }

  @Test func `values lie as Apple's do`() throws {
    #expect(
      try _rows("SELECT ZKIND, ZWIDTH, ZINNER, ifnull(ZOUTER, 'null') FROM ZVOLUME") == [
        "novel|1.0|inner|null"
      ])
    #expect(try _rows("SELECT ZMARKS FROM ZVOLUME") == ["{}"])
    #expect(try _rows("SELECT instr(ZTAGS, '[]') > 0, substr(ZTAGS, 1, 6) FROM ZVOLUME") == ["1|bplist"])
  }

  @Test func `unique and other indexes have Apple's names`() throws {
    let indexes = try Set(_rows("SELECT name FROM sqlite_master WHERE type = 'index'"))
    #expect(
      indexes.isSuperset(of: [
        "Z_Shelf_UNIQUE_code", "Z_Volume_SwiftDataIndexOnBinarytitle",
        "Z_Volume_SwiftDataIndexOnBinarytitlepages", "ZVOLUME_ZSHELF_INDEX",
      ]))
    #expect(
      try _rows(
        "SELECT sql LIKE '%UNIQUE%COLLATE BINARY ASC%' FROM sqlite_master WHERE name = 'Z_Shelf_UNIQUE_code'")
        == ["1"])
  }

  @Test func `many-to-many lies in a table of its own`() throws {
    let tables = try _rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'")
    #expect(tables == ["Z_2VOLUMES"] || tables == ["Z_3TOPICS"])
  }

  @Test func `metadata say what Apple's say`() throws {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: _place)
    #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["1.0.0"])
    #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
    #expect(
      metadata[NSStoreTypeKey] as? String == "SQLite" && metadata["_NSAutoVacuumLevel"] as? String == "2")
    #expect(metadata["NSStoreModelVersionChecksumKey"] is String)
    #expect(!metadata.keys.contains { $0.contains("SwiftData") })
  }

  @Test func `history rows have Apple's types, without author NULL`() throws {
    #expect(try _rows("SELECT DISTINCT ZCHANGETYPE FROM ACHANGE") == ["0"])
    #expect(
      try _rows("SELECT ZAUTHORTS IS NULL, ZCONTEXTNAMETS IS NULL, ZBUNDLEIDTS IS NOT NULL FROM ATRANSACTION")
        == ["1|1|1"])
  }

  @Test func `two containers on one file work like two processes`() throws {
    let one = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: _place)))
    let two = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: _place)))
    let mine = try #require(try one.fetch(FetchDescriptor<Shelf>()).first)
    let theirs = try #require(try two.fetch(FetchDescriptor<Shelf>()).first)
    #expect(mine.persistentModelID == theirs.persistentModelID && mine !== theirs)
    one.insert(Shelf(code: "B"))
    try one.save()
    #expect(try two.fetchCount(FetchDescriptor<Shelf>()) == 2)
  }
}
