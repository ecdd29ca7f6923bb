import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Schemas that their owner creates with a script, for programs that may not create anything.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct SchemaTests {
  private static func _model(derived: Bool = false) -> NSManagedObjectModel {
    let model = TestModel.make()
    guard derived else { return model }
    let company = model.entitiesByName["Company"]!
    let count = NSDerivedAttributeDescription()
    count.name = "staffCount"
    count.attributeType = .integer64AttributeType
    count.isOptional = true
    count.derivationExpression = NSExpression(format: "staff.@count")
    company.properties.append(count)
    return model
  }

  @Test func `every to-one has an index, by which delete rules find its owners`() throws {
    let stack = try ServerStack(Self._model())
    let session = try ServerSession(stack)
    let indexes = try session.number(
      """
      SELECT count(*) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = $1::regclass AND a.attname = 'employer_id'
      """, "\(session.schema).person")
    #expect(indexes == 1)
  }

  @Test(arguments: [PostgreSQLCaseRules.icu, .tables])
  func `the server accepts the body of every function, which is not checked when a store is created`(
    _ rules: PostgreSQLCaseRules
  ) throws {
    let stack = try ServerStack(Self._model(derived: true))
    let session = try ServerSession(stack)
    let schema = try PostgreSQLAddress(stack.url).schema
    try session.connection.execute(inOrder: PostgreSQLFunctions.statements(schema: schema, rules))
    for (language, least) in [("sql", 80), ("plpgsql", 1)] {
      let validator = language == "sql" ? "fmgr_sql_validator" : "plpgsql_validator"
      let found = try session.connection.run(
        """
        SELECT \(validator)(p.oid) FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = '\(session.schema)'::regnamespace AND l.lanname = '\(language)'
        """, isRepeated: false)
      #expect(found.rowCount >= least)
    }
  }

  @Test func `a role without rights to create uses what a script made`() throws {
    let prepared = try PreparedSchema(Self._model(derived: true))
    let stack = try ServerStack(
      Self._model(derived: true), at: prepared.url, options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "Ä"])
      let person = context.make("Person", ["firstName": "p", "employer": company])
      person.setValue(Set([context.make("Tag", ["name": "t"])]), forKey: "tags")
      try context.save()
      #expect(try context.texts("Company", "name", "name ==[cd] 'a' AND staffCount == 1") == ["Ä"])
      context.delete(person)
      try context.save()
      try context.execute(NSBatchInsertRequest(entityName: "Note", objects: [["text": "n"]]))
      let update = NSBatchUpdateRequest(entityName: "Note")
      update.propertiesToUpdate = ["text": "m"]
      try context.execute(update)
      #expect(try context.texts("Note", "text") == ["m"])
      try context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")))
      let history = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
      let found = (try context.execute(history) as? NSPersistentHistoryResult)?.result
      let transactions = try #require(found as? [NSPersistentHistoryTransaction])
      #expect(transactions.count == 5)
      try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: transactions[4].token))
    }
    let created = try prepared.session.number(
      "SELECT count(*) FROM pg_class WHERE relowner = $1::text::regrole",
      PostgreSQLNames.quoted(prepared.role))
    #expect(created == 0)
  }

  @Test func `tables and columns say what is in them`() throws {
    let stack = try ServerStack()
    let session = try ServerSession(stack)
    func comment(_ column: String) throws -> String? {
      let found = try session.connection.run(
        """
        SELECT col_description(c.oid, a.attnum) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
        WHERE c.oid = '\(session.schema).person'::regclass AND a.attname = '\(column)'
        """)
      return found.rowCount == 0 || found.isNull(0, 0) ? nil : found.string(0, 0)
    }
    let entities = try #require(try comment("entity"))
    #expect(entities.hasPrefix("Number of the object's entity: "))
    #expect(entities.contains("Person") && entities.contains("Student"))
    #expect(try comment("birthday") == "Person.birthday, in seconds since 2001-01-01 00:00 UTC")
    #expect(try comment("version")?.hasPrefix("Raised by every save") == true)
  }

  @Test func `a script makes what a program would make`() throws {
    let scripted = try PreparedSchema(Self._model(derived: true))
    try scripted.session.connection.execute("RESET search_path")
    let stack = try ServerStack(Self._model(derived: true))
    func objects(_ session: ServerSession) throws -> [String] {
      var parameters = PostgreSQLParameters()
      parameters.add(PostgreSQLNames.plain(session.schema))
      let found = try session.connection.run(
        """
        WITH n AS (SELECT oid FROM pg_namespace WHERE nspname = $1::text), c AS (SELECT * FROM pg_class \
        WHERE relnamespace = (SELECT oid FROM n)) SELECT replace(t, $1::text, 'schema') FROM (\
        SELECT concat_ws(' ', c.relkind, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, \
        a.attcollation, col_description(c.oid, a.attnum), obj_description(c.oid)) FROM c \
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 UNION ALL \
        SELECT pg_get_indexdef(c.oid) FROM c WHERE c.relkind = 'i' UNION ALL \
        SELECT pg_get_constraintdef(k.oid) FROM pg_constraint k JOIN c ON c.oid = k.conrelid UNION ALL \
        SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal UNION ALL \
        SELECT pg_get_functiondef(p.oid) FROM pg_proc p WHERE p.pronamespace = (SELECT oid FROM n) UNION ALL \
        SELECT concat_ws(' ', "entity", "property", "relation", "columns") FROM \(session.schema)."_name" UNION ALL \
        SELECT md5("content") FROM \(session.schema)."_model_cache") AS all_of_it(t) ORDER BY 1
        """, parameters, isRepeated: false)
      return (0..<found.rowCount).map { found.string($0, 0) }
    }
    let (one, other) = (try objects(scripted.session), try objects(ServerSession(stack)))
    #expect(Set(one).symmetricDifference(other).sorted() == [])
    #expect(one.count > 200)
  }

  @Test(arguments: [
    ("DROP TABLE note", "there is no table 'note'"),
    ("DROP TABLE _receipt", "there is no table '_receipt'"),
    ("ALTER TABLE person DROP COLUMN age", "the table 'person' has no column 'age' (smallint)"),
    (
      "ALTER TABLE person ALTER COLUMN age TYPE integer",
      "the column 'person.age' is integer instead of smallint"
    ),
    (
      "ALTER TABLE person ALTER COLUMN first_name TYPE text COLLATE \"und-x-icu\"",
      "the column 'person.first_name' has another collation than \"C\""
    ),
    (
      "ALTER TABLE person ADD COLUMN extra integer NOT NULL",
      "the column 'person.extra' is none of the model's, and must have a value"
    ),
    ("DROP INDEX tag_name_idx", "the table 'tag' has no unique index on {name}"),
    ("DROP SEQUENCE person_id_seq", "there is no sequence 'person_id_seq'"),
    ("DROP FUNCTION fold_cd(text)", "there is no function 'fold_cd', or not all forms of it"),
    ("DROP FUNCTION add(numeric, numeric)", "there is no function 'add', or not all forms of it"),
    (
      "DROP TRIGGER _derive_0_insert ON person", "there is no trigger '_derive_0_insert', or it is disabled"
    ),
    (
      "REVOKE INSERT, DELETE ON person FROM role",
      "the role has no right to INSERT, DELETE in the table 'person'"
    ),
    ("REVOKE SELECT ON _history FROM role", "the role has no right to SELECT in the table '_history'"),
    (
      "REVOKE USAGE ON SEQUENCE person_id_seq FROM role",
      "the role has no right to USAGE of the sequence 'person_id_seq'"
    ),
    (
      "REVOKE EXECUTE ON FUNCTION fold_c(text) FROM role, PUBLIC",
      "the role has no right to EXECUTE the function 'fold_c'"
    ),
  ])
  func `what a schema lacks is named when it is opened`(_ change: String, _ message: String) throws {
    let prepared = try PreparedSchema(Self._model(derived: true))
    let statement = change.replacing(
      "FROM role", with: "FROM \(PostgreSQLNames.quoted(prepared.role))")
    // Dependent objects would prevent changes to the tables.
    try prepared.session.connection.execute("DROP VIEW _readable_person, _readable_note")
    try prepared.session.connection.execute(statement)
    let error = #expect(throws: CocoaError.self) {
      try ServerStack(Self._model(derived: true), at: prepared.url)
    }
    #expect(error?.code.rawValue == NSPersistentStoreIncompatibleSchemaError)
    #expect(
      error?.localizedDescription.contains("is not what this model needs: \(message)") ?? false,
      "\(error?.localizedDescription ?? "")")
  }

  @Test func `reading takes no right to write`() throws {
    let prepared = try PreparedSchema(Self._model())
    let role = PostgreSQLNames.quoted(prepared.role)
    try prepared.session.connection.execute(
      "REVOKE INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(prepared.session.schema) FROM \(role)")
    #expect(throws: CocoaError.self) { try ServerStack(at: prepared.url) }
    let stack = try ServerStack(at: prepared.url, options: [NSReadOnlyPersistentStoreOption: true])
    let context = stack.context()
    try context.performAndWait { try #expect(context.all("Person").isEmpty) }
  }

  @Test func `a view shows dates and entities to people`() throws {
    let stack = try ServerStack()
    let context = stack.context()
    try context.performAndWait {
      context.make("Person", ["firstName": "a", "birthday": Date(timeIntervalSinceReferenceDate: 0.5)])
      context.make("Student", ["firstName": "b", "birthday": Date.distantFuture])
      context.make("Person", ["firstName": "c", "birthday": Date(timeIntervalSinceReferenceDate: 1e300)])
      try context.save()
    }
    let session = try ServerSession(stack)
    let parameters = PostgreSQLParameters()
    let found = try session.connection.run(
      """
      SELECT concat_ws(' ', entity, first_name, birthday AT TIME ZONE 'UTC') FROM \(session.schema)._readable_person \
      ORDER BY first_name
      """, parameters)
    #expect(
      (0..<found.rowCount).map { found.string($0, 0) } == [
        "Person a 2001-01-01 00:00:00.5", "Student b 4001-01-01 00:00:00", "Person c",
      ])
  }
}
