import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// History in stores written by Core Data.
@Suite(.enabled(if: CorpusSchemaTests.isPresent)) struct AppleHistoryTests {
  private let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  private func copy(_ store: String) throws -> URL {
    let url = directory.appendingPathComponent("Store.sqlite")
    try FileManager.default.copyItem(at: CorpusSchemaTests.root.appendingPathComponent(store), to: url)
    return url
  }

  private func library(_ url: URL) throws -> (SQLiteStoreEngine, ModelLayout, [ObjectIDSpace]) {
    let layout = try ModelLayout(Models.library)
    let entities = layout.layouts.map { _ in NSEntityDescription() }
    var options = SQLiteStoreOptions()
    options.tracksHistory = true
    let engine = try SQLiteStoreEngine(
      url: url, layout: layout, entities: entities, persistentStore: nil, options: options)
    let temporary = zip(layout.layouts, entities).map {
      ObjectIDSpace(layout: $0, entity: $1, store: nil, persistentStore: nil)
    }
    return (engine, layout, temporary)
  }

  private static let _schema = """
    SELECT type || ' ' || name || ': ' || sql FROM sqlite_master \
    WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY rowid
    """

  @Test func `the tables are word for word those of an Apple store`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = try copy("coredataplus/SampleModel2_V2.sqlite")
    let expected = try texts(Self._schema, at: url)
    #expect(expected.count == 11)
    let mine = directory.appendingPathComponent("Mine.sqlite")
    _ = try library(mine)
    try #expect(texts(Self._schema, at: mine) == expected)
    let numbers = "SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT > 16000"
    try #expect(texts(numbers, at: mine) == texts(numbers, at: url))
  }

  @Test func `a save goes on with the numbers of an Apple store`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = try copy("coredataplus/SampleModel2_V2.sqlite")
    let (engine, layout, temporary) = try library(url)
    try #expect(engine.lastTransaction() == 1)
    let old = try engine.history(HistoryQuery(), isWanted: { _ in true }, isChangeWanted: { _ in true })
    #expect(old.map { $0.changes?.count } == [126])
    #expect(old[0].bundleID == "com.apple.dt.xctest.tool")
    #expect(old[0].processID == "xctest")
    let page = layout.layoutsByName["Page"]!
    let id = NSManagedObjectID(temporaryIn: temporary[page.entityNumber - 1])
    var changes = ChangeSet(inserted: [.init(id: id, row: Row(count: page.slots.count, version: 1))])
    changes.origin = ChangeOrigin(author: "me", contextName: nil)
    let outcome = try engine.save(changes)
    #expect(outcome.transaction == 2)
    let query =
      "SELECT Z_PK || ' ' || ZCHANGETYPE || ' ' || ZENTITYPK || ' ' || ZTRANSACTIONID FROM ACHANGE WHERE Z_PK > 126"
    try #expect(texts(query, at: url) == ["127 0 \(id.key!.reference) 2"])
    try #expect(
      texts("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (16001, 16002) ORDER BY Z_ENT", at: url) == [
        "127", "2",
      ])
    try #expect(
      texts("SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK > 2 ORDER BY Z_PK", at: url).first == "me")
  }

  @Test func `texts stand in the transaction itself in older files`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = try copy("coredataplus/SampleModel2_V2.sqlite")
    let connection = try Connection(path: url.path, busyTimeout: 1)
    // The format of 2018, as in a store of macOS 10.13.
    try connection.execute(
      """
      DROP TABLE ATRANSACTION; DROP TABLE ATRANSACTIONSTRING; DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 16003; \
      CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \
      ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )
      """)
    let (engine, layout, temporary) = try library(url)
    let page = layout.layoutsByName["Page"]!
    let id = NSManagedObjectID(temporaryIn: temporary[page.entityNumber - 1])
    var changes = ChangeSet(inserted: [.init(id: id, row: Row(count: page.slots.count, version: 1))])
    changes.origin = ChangeOrigin(author: "me", contextName: "context")
    _ = try engine.save(changes)
    let history = try engine.history(
      HistoryQuery(after: 1), isWanted: { _ in true }, isChangeWanted: { _ in true })
    #expect(history.map(\.author) == ["me"])
    #expect(history.map(\.contextName) == ["context"])
    try #expect(texts("SELECT ZAUTHOR FROM ATRANSACTION", at: url) == ["me"])
  }

  @Test func `history tables that are none are refused`() throws {
    defer { try? FileManager.default.removeItem(at: directory) }
    let url = try copy("coredataplus/SampleModel2_V2.sqlite")
    try Connection(path: url.path, busyTimeout: 1).execute("DROP TABLE ACHANGE")
    #expect(throws: StoreOpenError.self) { try library(url) }
  }

  private func texts(_ sql: String, at url: URL) throws -> [String] {
    var result: [String] = []
    try SQLiteText.rows(of: sql, at: url) { result.append($0[0]) }
    return result
  }
}
