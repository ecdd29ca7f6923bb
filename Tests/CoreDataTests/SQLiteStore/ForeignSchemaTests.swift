import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// Files with foreign views and triggers.
@Suite struct ForeignSchemaTests {
  private let fixture: StoreFixture
  init() throws { fixture = try StoreFixture(Models.transit) }

  private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

  /// Replaces a table by a view with endless rows.
  private func _replace(_ table: String, _ columns: String) throws {
    try fixture.insert([fixture.insertion("Route", ["name": .string("one")])])
    fixture.engine.close()
    let connection = try fixture.connection()
    try connection.execute("ALTER TABLE \(table) RENAME TO was\(table)")
    try connection.execute("CREATE VIEW \(table) AS \(Self.endless) SELECT \(columns) FROM n")
    try connection.checkpoint(.truncate)
  }

  @Test(arguments: [false, true]) func `A view in place of an entity's table is refused`(_ isReadOnly: Bool)
    throws
  {
    try _replace("ZROUTE", "i AS Z_PK, 1 AS Z_ENT, 1 AS Z_OPT, 'x' AS ZNAME")
    var options = SQLiteStoreOptions()
    options.isReadOnly = isReadOnly
    let error = #expect(throws: StoreOpenError.self) { try fixture.reopened(options) }
    #expect(error?.description.contains("ZROUTE is a view and no table") == true)
    #expect(error?.cocoaCode == 134020)
  }

  @Test func `A view in place of the table of keys is refused`() throws {
    try _replace("Z_PRIMARYKEY", "i AS Z_ENT, 'Route' AS Z_NAME, 0 AS Z_SUPER, 0 AS Z_MAX")
    let error = #expect(throws: StoreOpenError.self) { try fixture.reopened() }
    #expect(error?.description.contains("Z_PRIMARYKEY is a view") == true)
  }

  @Test func `A view in place of the metadata is refused`() throws {
    try _replace("Z_METADATA", "i AS Z_VERSION, 'x' AS Z_UUID, NULL AS Z_PLIST")
    #expect(throws: StoreOpenError.self) { try SQLiteStoreFile(url: fixture.url).metadata() }
    #expect(throws: StoreOpenError.self) { try fixture.reopened() }
  }

  @Test func `A trigger that never ends makes the save fail`() throws {
    try fixture.insert([fixture.insertion("Route", ["name": .string("one")])])
    fixture.engine.close()
    try fixture.connection().execute(
      "CREATE TRIGGER watch AFTER INSERT ON ZROUTE BEGIN SELECT COUNT(*) FROM (\(Self.endless) SELECT i FROM n); END"
    )
    let engine = try fixture.reopened()
    defer { engine.close() }
    let error = #expect(throws: SQLiteStoreError.self) {
      try engine.commit(ChangeSet(inserted: [fixture.insertion("Route", ["name": .string("two")])]))
    }
    #expect(error?.description.contains("never come to an end") == true)
    try #expect(engine.fetch(fixture.plan("Route")).count == 1)
  }

  @Test func `Only stores with a foreign view have a bound`() throws {
    try #expect(ForeignSchema(fixture.connection()).items.isEmpty)
    try #expect(fixture.engine.pool.read { $0.hasStepBound } == false)
    fixture.engine.close()
    try fixture.connection().execute("CREATE VIEW other AS SELECT 1")
    let engine = try fixture.reopened()
    defer { engine.close() }
    try #expect(engine.pool.read { $0.hasStepBound })
  }

  @Test func `A statement ends when its caller cancels it`() throws {
    let connection = try fixture.connection()
    let error = #expect(throws: SQLiteError.self) {
      try QueryCancellation.ending(when: { true }) {
        try connection.query("\(Self.endless) SELECT COUNT(*) FROM n")
      }
    }
    #expect(error?.isInterrupted == true)
    try #expect(connection.firstValue("SELECT 1") == .int(1))
  }
}
