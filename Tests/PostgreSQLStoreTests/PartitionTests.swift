import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// An entity's table that its owner has partitioned.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct PartitionTests {
  /// A model in which the partitioned entity has subentities, all kinds of relationships and a derived attribute.
  private static func _model() -> NSManagedObjectModel {
    let model = TestModel.make()
    let company = model.entitiesByName["Company"]!
    let count = NSDerivedAttributeDescription()
    count.name = "staffCount"
    count.attributeType = .integer64AttributeType
    count.isOptional = true
    count.derivationExpression = NSExpression(format: "staff.@count")
    company.properties.append(count)
    return model
  }

  /// Moves the rows of a table into four partitions by a hash of their keys.
  private static func _partition(_ table: String, _ session: ServerSession) throws {
    let parts = (0..<4).map {
      "CREATE TABLE \(table)_\($0) PARTITION OF \(table) FOR VALUES WITH (MODULUS 4, REMAINDER \($0))"
    }
    for statement in [
      "ALTER TABLE \(table) RENAME TO whole",
      "CREATE TABLE \(table) (LIKE whole INCLUDING ALL) PARTITION BY HASH (id)",
    ] + parts + [
      "INSERT INTO \(table) SELECT * FROM whole", "ALTER SEQUENCE \(table)_id_seq OWNED BY \(table).id",
      "DROP TABLE whole CASCADE",
    ] { try session.connection.execute(statement) }
    // Recreates what was lost with the table, as an owner's script would: rights, triggers and the view.
    let layout = try _model().frozen().layout
    let schema = PostgreSQLNames.plain(session.schema)
    let made = PostgreSQLSchema(
      try PostgreSQLMapping.mapping(for: layout, schema: schema), try PostgreSQLDerivations(layout),
      schema: schema)
    for statement in made.triggers where !statement.hasPrefix("CREATE TRIGGER") {
      try session.connection.execute(statement)
    }
    for statement in made.triggers
    where statement.hasPrefix("CREATE TRIGGER") && statement.contains(".\"\(table)\"") {
      try session.connection.execute(statement)
    }
    for statement in made.views { try session.connection.execute(statement) }
    try session.connection.execute(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON \(table) TO \(PostgreSQLNames.quoted("\(schema) app"))")
  }

  @Test func `a partitioned table serves as a plain one does`() throws {
    let prepared = try PreparedSchema(Self._model())
    try Self._partition("person", prepared.session)
    try Self._partition("company", prepared.session)
    let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
    let stack = try ServerStack(Self._model(), at: prepared.url, options: options)
    let context = stack.context()
    try context.performAndWait {
      let companies = (0..<60).map { context.make("Company", ["name": "c\($0)"]) }
      for number in 0..<200 {
        let person = context.make(number % 3 == 0 ? "Student" : "Person", ["firstName": "p\(number)"])
        person.setValue(companies[number % 60], forKey: "employer")
        person.setValue(Set([context.make("Tag", ["name": "t\(number)"])]), forKey: "tags")
      }
      try context.save()
    }
    let counts = try (0..<4).map {
      try prepared.session.number(
        "SELECT count(*) FROM person_\($0) WHERE first_name LIKE $1::text", "p%")
    }
    #expect(counts.reduce(0, +) == 200 && !counts.contains(0), "\(counts)")
    let other = try ServerStack(Self._model(), at: prepared.url).context(.mergeByPropertyObjectTrump)
    try other.performAndWait {
      let found = try other.texts("Company", "name", "staffCount == 4 AND ANY staff.firstName == 'p3'")
      #expect(found == ["c3"])
      for person in try other.all("Student") { person.setValue("s", forKey: "school") }
      for person in try other.all("Person", "firstName BEGINSWITH 'p1'") { other.delete(person) }
      try other.save()
      let left = try other.all("Person").count
      #expect(left == 89)
      let schools = try other.all("Student", "school == 's'").count
      #expect(schools == 31)
      let update = NSBatchUpdateRequest(entityName: "Person")
      update.propertiesToUpdate = ["age": 7]
      try other.execute(update)
      let aged = try other.all("Person", "age == 7 AND employer != nil").count
      #expect(aged == 89)
      try other.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Student")))
      let rest = try other.all("Person").count
      #expect(rest == 58)
    }
    // The first context still has the deleted object: a conflict, as on a plain table.
    try context.performAndWait {
      let gone = try #require(try context.all("Company", "name == 'c1'").first)
      let writer = try ServerStack(Self._model(), at: prepared.url).context()
      try writer.performAndWait {
        try writer.all("Company", "name == 'c1'").forEach(writer.delete)
        try writer.save()
      }
      gone.setValue("new", forKey: "name")
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }
}
