import CoreData
import CoreDataPostgreSQLBinding
import CoreDataPostgreSQLTesting
import CoreDataTesting
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

@MainActor
@Suite(
  "Schemas for tests", .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct TestStoreKindTests {
  private let _url: URL
  private let _connection: PostgreSQLConnection

  init() throws {
    _url = try #require(PostgreSQLServer.shared).newURL()
    _connection = try PostgreSQLConnection(PostgreSQLAddress(_url).settings, prepares: false)
  }

  private func _schemas(like pattern: String) throws -> [String] {
    let found = try _connection.run(
      "SELECT nspname::text FROM pg_namespace WHERE nspname::text LIKE '\(pattern)' ORDER BY 1",
      isRepeated: false)
    return (0..<found.rowCount).map { found.string($0, 0) }
  }

  private var _settings: TestStoreSettings {
    TestStoreSettings(model: TestModel.make(), in: .postgreSQL(_url))
  }

  @Test func `Each store has a schema of its own, which is dropped after the test`() throws {
    var schemas: [String] = []
    try withTestStore(_settings) { first in
      try withTestStore(_settings) { second in
        try first.make("Company")
        try first.viewContext.save()
        #expect(try first.rowCounts()["Company"] == 1)
        #expect(try second.rowCounts()["Company"] == 0)
        schemas = try [first, second].map {
          try PostgreSQLAddress(#require($0.coordinator.persistentStores.first?.url)).schema
        }
      }
    }
    #expect(Set(schemas).count == 2)
    for schema in schemas {
      #expect(schema.hasPrefix("coredata_test_"))
      #expect(try _schemas(like: schema).isEmpty)
    }
  }

  @Test func `A second container sees the store, and statements are counted as round trips`() throws {
    try withTestStore(_settings) { store in
      try store.make("Company")
      try store.viewContext.save()
      let other = try store.reopen()
      #expect(try other.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Company")) == 1)
      try store.expectStatements(1) {
        _ = try store.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Company"))
      }
    }
  }

  @Test func `Schemas of this host's processes that have ended are dropped, and no others`() throws {
    let ours = try withTestStore(_settings) {
      try PostgreSQLAddress(#require($0.coordinator.persistentStores.first?.url)).schema
    }
    var parts = ours.split(separator: "_")
    parts[4] = "1"
    let dead = parts.joined(separator: "_")
    parts[2] = "7"
    let foreign = parts.joined(separator: "_")
    for name in [dead, foreign] { try _connection.execute("CREATE SCHEMA \"\(name)\"") }
    // Another address of the same database, which this process has not swept.
    let url = try #require(URL(string: _url.absoluteString + "&application_name=sweep"))
    try withTestStore(TestStoreSettings(model: TestModel.make(), in: .postgreSQL(url))) { _ in }
    #expect(try _schemas(like: dead).isEmpty)
    #expect(try _schemas(like: foreign) == [foreign])
    try _connection.execute("DROP SCHEMA \"\(foreign)\"")
  }
}
