import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// A server built without ICU: it has none of ICU's collations, and refuses to create one.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"), .serialized)
final class WithoutICUTests {
  private let _server: PostgreSQLServer
  private let _session: ServerSession
  private let _url: URL

  init() throws {
    _server = try PostgreSQLServer.another()
    _url = _server.newURL()
    _session = try ServerSession(_url)
    for statement in [
      "DELETE FROM pg_catalog.pg_collation WHERE collprovider = 'i'",
      """
      CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
      IF EXISTS (SELECT 1 FROM pg_catalog.pg_collation WHERE collprovider = 'i') THEN \
      RAISE feature_not_supported USING MESSAGE = 'ICU is not supported in this build'; END IF; END $$
      """,
      """
      CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE COLLATION') EXECUTE FUNCTION refuse()
      """,
    ] { try _session.connection.execute(statement) }
  }

  deinit { _server.stop() }

  /// All letters that have another case.
  private static let _letters: [String] = (UInt32(0x41)...0x1FFFF).compactMap(Unicode.Scalar.init)
    .filter(\.properties.changesWhenCaseMapped).map(String.init)

  /// Returns the first texts that a function of the store maps to something else than expected.
  private func _wrong(_ function: String, _ texts: [String], _ expected: [String]) throws -> [String] {
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(texts))
    parameters.add(PostgreSQLArray(expected))
    let found = try _session.connection.run(
      """
      SELECT a FROM unnest($1::text[], $2::text[]) AS t(a, b) WHERE \(_session.schema).\(function)(a) <> b LIMIT 10
      """, parameters)
    return (0..<found.rowCount).map { found.string($0, 0) }
  }

  @Test func `letters have the case that they have in memory`() throws {
    _ = try ServerStack(at: _url)
    let letters = Self._letters
    #expect(letters.count > 2_700)
    #expect(try _wrong("upper_case", letters, letters.map { $0.uppercased() }) == [])
    #expect(try _wrong("lower_case", letters, letters.map { $0.lowercased() }) == [])
    // What is equal in memory has one folding, and what is not has two.
    let others = letters.flatMap { letter in
      [
        letter.uppercased(), letter.lowercased(),
        String(letter.unicodeScalars.first!.properties.titlecaseMapping),
      ]
      .map { (letter, $0) }
    }
    for (option, function) in [("c", "fold_c"), ("cd", "fold_cd")] {
      var parameters = PostgreSQLParameters()
      parameters.add(PostgreSQLArray(others.map(\.0)))
      parameters.add(PostgreSQLArray(others.map(\.1)))
      let name = "\(_session.schema).\(function)"
      let found = try _session.connection.run(
        "SELECT \(name)(a) = \(name)(b) FROM unnest($1::text[], $2::text[]) AS t(a, b)", parameters)
      let wrong = others.indices.filter { index in
        let isEqual = NSPredicate(format: "SELF ==[\(option)] %@", others[index].1).evaluate(
          with: others[index].0)
        return isEqual != (found.int64(index, 0) != 0)
      }
      #expect(found.rowCount == others.count)
      #expect(wrong.map { others[$0].0 } == [])
    }
  }

  @Test func `predicates mean what they mean in memory`() throws {
    let texts = [
      "Straße", "STRASSE", "strasse", "İstanbul", "istanbul", "ıstanbul", "ΟΔΥΣΣΕΥΣ", "οδυσσευς", "Ärger",
      "ärger",
      "ARGER", "ﬁn", "FIN", "가각", "Ǆ", "ǆ", "a\u{345}", "ΑΙ", "Éa", "e\u{301}A", "Ꮿ", "", "plain",
    ]
    let context = try ServerStack(at: _url).context()
    try context.performAndWait {
      for text in texts { context.make("Note", ["text": text]) }
      try context.save()
      for constant in texts {
        for comparison in ["==[c]", "==[cd]", "CONTAINS[c]", "BEGINSWITH[cd]", "ENDSWITH[c]", "<[c]"] {
          let expected = texts.filter {
            NSPredicate(format: "SELF \(comparison) %@", constant).evaluate(with: $0)
          }
          let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
          request.predicate = NSPredicate(format: "text \(comparison) %@", constant)
          let found = try context.fetch(request).compactMap { $0.value(forKey: "text") as? String }
          #expect(found.sorted() == expected.sorted(), "\(comparison) \(constant)")
        }
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.predicate = NSPredicate(format: "uppercase:(text) == 'STRASSE'")
      #expect(try context.count(for: request) == 3)
    }
  }

  @Test func `a localized order is refused with a reason`() throws {
    let context = try ServerStack(at: _url).context()
    try context.performAndWait {
      context.make("Note", ["text": "a"])
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      for selector in ["localizedCompare:", "localizedStandardCompare:"] {
        request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true, selector: selector)]
        let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
        #expect(error?.localizedDescription.contains("the server has no ICU") ?? false, "\(error as Any)")
      }
      request.sortDescriptors = [
        NSSortDescriptor(key: "text", ascending: true, selector: "caseInsensitiveCompare:")
      ]
      #expect(try context.fetch(request).count == 1)
    }
  }

  @Test func `a database from a server with ICU gets functions without it`() throws {
    _ = try ServerStack(at: _url)
    let schema = PostgreSQLNames.plain(_session.schema)
    // As a dump's functions are restored, without checking what they refer to.
    try _session.connection.execute("SET check_function_bodies = off")
    for statement in PostgreSQLFunctions.statements(schema: schema, .icu) {
      try _session.connection.execute(statement)
    }
    let context = try ServerStack(at: _url).context()
    try context.performAndWait {
      context.make("Note", ["text": "Ärger"])
      try context.save()
      #expect(try context.texts("Note", "text", "text ==[c] 'ÄRGER'") == ["Ärger"])
    }
  }
}
