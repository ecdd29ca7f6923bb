import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Keys with a bucket's number in their high bits, set with `NSPostgreSQLKeyBucketOption`.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct KeyBucketTests {
  private static func _stack(_ url: URL, _ bucket: Int, model: NSManagedObjectModel = TestModel.make()) throws
    -> ServerStack
  {
    try ServerStack(
      model, at: url,
      options: [
        NSPostgreSQLKeyBucketOption: bucket, NSMigratePersistentStoresAutomaticallyOption: true,
        NSInferMappingModelAutomaticallyOption: true,
      ])
  }

  /// Returns the number of rows with keys of a bucket.
  private static func _count(_ session: ServerSession, _ bucket: Int) throws -> Int64 {
    try session.number(
      "SELECT count(*) FROM \(session.schema).company WHERE id >> 48 = $1::text::int8", "\(bucket)")
  }

  private static func _fill(_ stack: ServerStack, _ count: Int, _ name: String) throws {
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<count { context.make("Company", ["name": "\(name)\(number)"]) }
      try context.save()
    }
  }

  @Test func `objects of two buckets share a store`() throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let first = try Self._stack(url, 1)
    let second = try Self._stack(url, 32_767)
    try Self._fill(first, 5, "a")
    try Self._fill(second, 1500, "b")
    let session = try ServerSession(url)
    let counts = try [1, 32_767, 0].map { try Self._count(session, $0) }
    #expect(counts == [5, 1500, 0])
    let context = second.context()
    try context.performAndWait {
      let company = try #require(try context.all("Company", "name == 'a3'").first)
      context.make("Person", ["firstName": "p", "employer": company])
      company.setValue("changed", forKey: "name")
      try context.save()
    }
    let reader = first.context()
    try reader.performAndWait {
      let found = try reader.texts("Person", "firstName", "employer.name == 'changed'")
      #expect(found == ["p"])
      let person = try #require(try reader.all("Person").first)
      let uri = person.objectID.uriRepresentation()
      let id = first.coordinator.managedObjectID(forURIRepresentation: uri)
      #expect(id == person.objectID)
      let keys = try reader.all("Company").count
      #expect(keys == 1505)
    }
  }

  @Test func `a migration keeps the buckets of keys`() throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let first = try Self._stack(url, 7)
    try Self._fill(first, 60, "a")
    try first.coordinator.remove(first.store)
    let model = TestModel.make()
    model.entitiesByName["Company"]!.properties.append(TestModel.attribute("added", .stringAttributeType))
    let second = try Self._stack(url, 7, model: model)
    try Self._fill(second, 60, "b")
    let session = try ServerSession(url)
    let count = try Self._count(session, 7)
    #expect(count == 120)
    let largest = try session.number(
      "SELECT max(id & 281474976710655) FROM \(session.schema).company WHERE name LIKE $1::text", "b%")
    #expect(largest < 10_000, "the sequence counts on from where it was")
  }

  @Test func `a table is split by ranges of buckets`() throws {
    let prepared = try PreparedSchema(TestModel.make())
    let role = PostgreSQLNames.quoted(prepared.role)
    let schema = PostgreSQLNames.quoted(PostgreSQLNames.plain(prepared.session.schema))
    for statement in [
      "ALTER TABLE company RENAME TO whole",
      "CREATE TABLE company (LIKE whole INCLUDING ALL) PARTITION BY RANGE (id)",
      "CREATE TABLE company_1 PARTITION OF company FOR VALUES FROM (1::int8 << 48) TO (2::int8 << 48)",
      "CREATE TABLE company_2 PARTITION OF company FOR VALUES FROM (2::int8 << 48) TO (3::int8 << 48)",
      "ALTER SEQUENCE company_id_seq OWNED BY company.id", "DROP TABLE whole CASCADE",
      "GRANT SELECT, INSERT, UPDATE, DELETE ON \(schema).company TO \(role)",
    ] { try prepared.session.connection.execute(statement) }
    try Self._fill(try Self._stack(prepared.url, 1), 70, "a")
    try Self._fill(try Self._stack(prepared.url, 2), 3, "b")
    let counts = try ["company_1", "company_2"].map {
      try prepared.session.number("SELECT count(*) FROM \($0) WHERE name <> $1::text", "")
    }
    #expect(counts == [70, 3])
  }

  @Test(arguments: [0, -1, 32_768]) func `a number that is no bucket is refused`(_ bucket: Int) throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let error = #expect(throws: CocoaError.self) { try Self._stack(url, bucket) }
    #expect(error?.localizedDescription.contains("there are those from 1 to 32767") ?? false)
  }
}
