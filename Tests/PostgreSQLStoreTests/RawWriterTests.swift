import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// Rows that a role of its own writes with SQL, with the trigger that steps their versions.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct RawWriterTests {
  private let _stack: ServerStack
  /// Of the role that writes with SQL.
  private let _session: ServerSession
  private let _id: NSManagedObjectID

  init() throws {
    let stack = try ServerStack()
    _stack = stack
    let context = stack.context()
    _id = try context.performAndWait {
      let company = context.make("Company", ["name": "old"])
      try context.save()
      return company.objectID
    }
    let session = try ServerSession(stack.url)
    _session = session
    let (s, role) = (session.schema, "reports_\(UUID().uuidString.prefix(8).lowercased())")
    for statement in [
      "CREATE ROLE \(role)", "GRANT USAGE ON SCHEMA \(s) TO \(role)",
      "GRANT SELECT, INSERT, UPDATE ON \(s).company TO \(role)",
      "GRANT USAGE ON SEQUENCE \(s).company_id_seq TO \(role)",
      """
      CREATE FUNCTION \(s).step_version() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$
      """,
      """
      CREATE TRIGGER step_version BEFORE UPDATE ON \(s).company FOR EACH ROW
        WHEN (current_user = '\(role)' AND NEW.version = OLD.version) EXECUTE FUNCTION \(s).step_version()
      """, "SET ROLE \(role)",
    ] { try session.connection.execute(statement) }
  }

  private func _write(_ name: String) throws {
    try _session.connection.execute("UPDATE \(_session.schema).company SET name = '\(name)'")
  }

  @Test func `a save over a row that SQL has written conflicts`() throws {
    let context = _stack.context()
    try context.performAndWait {
      context.object(with: _id).setValue("mine", forKey: "name")
      try _write("theirs")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
  }

  @Test func `a program's own saves are as they were`() throws {
    let context = _stack.context()
    try context.performAndWait {
      let company = context.object(with: _id)
      for name in ["one", "two", "three"] {
        company.setValue(name, forKey: "name")
        try context.save()
      }
      try #expect(context.texts("Company", "name") == ["three"])
    }
    try #expect(
      _session.number("SELECT version FROM \(_session.schema).company WHERE $1::text = ''", "") == 4)
  }

  @Test func `a context shows what SQL has written`() throws {
    let context = _stack.context()
    try context.performAndWait {
      let company = context.object(with: _id)
      #expect(company.value(forKey: "name") as? String == "old")
      try _write("theirs")
      context.refresh(company, mergeChanges: true)
      #expect(company.value(forKey: "name") as? String == "theirs")
    }
  }

  @Test func `a row that SQL has inserted is an object like any other`() throws {
    let s = _session.schema
    try _session.connection.execute(
      """
      INSERT INTO \(s).company (id, entity, version, name)
      SELECT nextval('\(s).company_id_seq'), entity, 1, 'new' FROM \(s).company LIMIT 1
      """)
    let context = _stack.context()
    try context.performAndWait {
      let new = try #require(try context.all("Company", "name == 'new'").first)
      new.setValue("newer", forKey: "name")
      context.make("Company", ["name": "third"])
      try context.save()
      try #expect(context.texts("Company", "name").sorted() == ["newer", "old", "third"])
    }
  }
}
