import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Indexes on folded text, requested with `postgresql.index` in the user info of an attribute.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct TextIndexTests {
  /// An entity with two text attributes, one of them with indexes.
  private static func _model() -> NSManagedObjectModel {
    let entity = TestModel.entity("Word")
    entity.properties = ["plain", "indexed"].map { TestModel.attribute($0, .stringAttributeType) }
    entity.attributesByName["indexed"]!.userInfo = ["postgresql.index": "folded, trigram"]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  private static let _texts = [
    "", "a", "A", "ä", "Ärger", "ärger", "arg", "argot", "%", "100%", "1_0", "\\", "\\%", "e\u{301}", "É",
    "가", "각", "ﬁn",
    "ß", "SS", "ss", "\u{D7FF}", "\u{D7FF}x", "\u{E000}", "\u{10FFFF}", "a\u{10FFFF}", "a\u{10FFFF}b", "😀",
    "😀é", "b",
  ]

  @Test func `questions mean the same with an index`() throws {
    let context = try ServerStack(Self._model()).context()
    try context.performAndWait {
      for text in Self._texts { context.make("Word", ["plain": text, "indexed": text]) }
      context.make("Word", [:])
      try context.save()
      for text in Self._texts {
        for comparison in ["BEGINSWITH[cd]", "CONTAINS[cd]", "==[cd]", "BEGINSWITH[c]", "CONTAINS[d]"] {
          func find(_ key: String) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Word")
            request.predicate = NSPredicate(format: "\(key) \(comparison) %@", text)
            return try context.fetch(request).map { $0.value(forKey: key) as? String ?? "-" }.sorted()
          }
          let (plain, indexed) = try (find("plain"), find("indexed"))
          #expect(plain == indexed, "\(comparison) \(text)")
        }
      }
    }
  }

  @Test(arguments: [
    ("indexed BEGINSWITH[cd] 'ÄÖ77'", "btree"), ("indexed ==[cd] 'äö77'", "btree"),
    ("indexed CONTAINS[cd] 'öé77'", "gin"),
  ])
  func `an index that was asked for serves`(_ format: String, _ method: String) throws {
    let stack = try ServerStack(Self._model())
    let session = try ServerSession(stack)
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<4000 {
        context.make("Word", ["indexed": "äöé\(number)", "plain": "äö\(number)"])
      }
      try context.save()
    }
    try session.connection.execute("ANALYZE \(session.schema).word")
    func scans() throws -> Int64 {
      try session.number(
        """
        SELECT coalesce(sum(s.idx_scan), 0)::int8 FROM pg_stat_user_indexes s JOIN pg_class c ON c.oid = s.indexrelid \
        JOIN pg_am a ON a.oid = c.relam WHERE s.schemaname = \(PostgreSQLNames.literal(PostgreSQLNames.plain(session.schema))) \
        AND a.amname = $1::text AND c.relname LIKE '%fold_cd%'
        """, method)
    }
    let before = try scans()
    // Statistics are updated with a delay of a second.
    let serves = try session.waits { _ in
      _ = try context.performAndWait { try context.all("Word", format) }
      return try scans() > before
    }
    #expect(serves)
  }

  @Test func `a migration keeps indexes and views`() throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let first = try ServerStack(Self._model(), at: url)
    try first.coordinator.remove(first.store)
    let model = Self._model()
    model.entitiesByName["Word"]!.properties.append(TestModel.attribute("added", .dateAttributeType))
    _ = try ServerStack(
      model, at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      ])
    let session = try ServerSession(url)
    let schema = PostgreSQLNames.plain(session.schema)
    #expect(
      try session.number(
        """
        SELECT count(*) FROM pg_class WHERE relnamespace = $1::text::regnamespace AND relkind = 'i' \
        AND relname LIKE '%fold_cd%'
        """, session.schema) == 2)
    #expect(
      try session.number(
        """
        SELECT count(*) FROM information_schema.columns WHERE table_schema = $1::text \
        AND table_name = '_readable_word' AND column_name = 'added' AND data_type = 'timestamp with time zone'
        """, schema) == 1)
  }
}
