import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// What a migration preserves beside the rows: indexes on text, rights, owners and comments.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
final class MigratedTableTests {
  /// How a store is migrated.
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case inferred, staged, mapped

    var testDescription: String { rawValue }
  }

  private let _bundle = Bundle.main.bundleURL.appendingPathComponent("Words-\(UUID().uuidString).resources")
  /// Mapping models are found by their versions, so each test needs its own.
  private let _tag = UUID().uuidString

  deinit { try? FileManager.default.removeItem(at: _bundle) }

  /// Words with two texts, one of which has indexes, and tags of them; the second version adds a text.
  private func _model(_ version: Int, named name: String = "Word") -> NSManagedObjectModel {
    let word = TestModel.entity(name)
    word.versionHashModifier = _tag
    word.properties = ["plain", "indexed"].map { TestModel.attribute($0, .stringAttributeType) }
    word.attributesByName["indexed"]!.userInfo = ["postgresql.index": "folded, trigram"]
    if version > 1 { word.properties.append(TestModel.attribute("added", .stringAttributeType)) }
    if name != "Word" { word.renamingIdentifier = "Word" }
    let label = TestModel.entity("Label")
    label.properties = [TestModel.attribute("text", .stringAttributeType)]
    TestModel.relate(word, "labels", label, "words", toMany: (true, true))
    let model = NSManagedObjectModel()
    model.entities = [word, label]
    return model
  }

  private func _options(_ way: Way) throws -> [AnyHashable: Any] {
    var options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
    switch way {
    case .inferred: break
    case .staged:
      let references = [1, 2].map { version in
        let model = _model(version)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
      }
      let stage = NSCustomMigrationStage(migratingFrom: references[0], to: references[1])
      stage.didMigrateHandler = { manager, _ in
        let context = try #require(manager.container).newBackgroundContext()
        try context.performAndWait {
          for word in try context.all("Word") { word.setValue("staged", forKey: "added") }
          try context.save()
        }
      }
      options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([stage])
    case .mapped: try _bundleMapping()
    }
    return options
  }

  /// Adds a mapping model from the first to the second version to the program's resources.
  private func _bundleMapping() throws {
    for version in [1, 2] {
      try _model(version).write(to: _bundle.appendingPathComponent("\(version)-\(_tag).xcdatamodel"))
    }
    let text = """
      <?xml version="1.0" standalone="yes"?>
      <database>
      <object type="XDDEVATTRIBUTEMAPPING" id="z102"><attribute name="name" type="string">plain</attribute></object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z103"><attribute name="name" type="string">indexed</attribute></object>
      <object type="XDDEVRELATIONSHIPMAPPING" id="z104"><attribute name="name" type="string">labels</attribute></object>
      <object type="XDDEVENTITYMAPPING" id="z105"><attribute name="sourcename" type="string">Word</attribute>
      <attribute name="destinationname" type="string">Word</attribute>
      <attribute name="mappingnumber" type="string">1</attribute>
      <attribute name="mappingtypename" type="string">Undefined</attribute>
      <relationship name="attributemappings" type="0/0" idrefs="z102 z103"></relationship>
      <relationship name="relationshipmappings" type="0/0" idrefs="z104"></relationship></object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z106"><attribute name="name" type="string">text</attribute></object>
      <object type="XDDEVENTITYMAPPING" id="z107"><attribute name="sourcename" type="string">Label</attribute>
      <attribute name="destinationname" type="string">Label</attribute>
      <attribute name="mappingnumber" type="string">2</attribute>
      <attribute name="mappingtypename" type="string">Undefined</attribute>
      <relationship name="attributemappings" type="0/0" idrefs="z106"></relationship></object>
      <object type="XDDEVMAPPINGMODEL" id="z108">
      <attribute name="sourcemodelpath" type="string">Model.xcdatamodeld/1-\(_tag).xcdatamodel</attribute>
      <attribute name="destinationmodelpath" type="string">Model.xcdatamodeld/2-\(_tag).xcdatamodel</attribute>
      <relationship name="entitymappings" type="0/0" idrefs="z105 z107"></relationship></object>
      </database>
      """
    let mapping = _bundle.appendingPathComponent("\(_tag).xcmappingmodel")
    try FileManager.default.createDirectory(at: mapping, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: mapping.appendingPathComponent("xcmapping.xml"))
  }

  /// Fills a store with the first version, and opens it with the second.
  private func _migrate(
    _ url: URL, _ way: Way, to model: NSManagedObjectModel? = nil, between: () throws -> Void = {}
  ) throws -> ServerStack {
    let first = try ServerStack(_model(1), at: url)
    let context = first.context()
    try context.performAndWait {
      let label = context.make("Label", ["text": "l"])
      context.make("Word", ["plain": "Ä", "indexed": "Ärger"]).setValue(Set([label]), forKey: "labels")
      try context.save()
    }
    try first.coordinator.remove(first.store)
    try between()
    return try ServerStack(model ?? _model(2), at: url, options: _options(way))
  }

  /// Returns the values of a query's only column.
  private func _texts(_ session: ServerSession, _ sql: String) throws -> [String] {
    let found = try session.connection.run(sql, isRepeated: false)
    return (0..<found.rowCount).map { found.string($0, 0) }
  }

  @Test(arguments: Way.allCases)
  func `indexes on texts are there once after a migration`(_ way: Way) throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let context = try _migrate(url, way).context()
    try context.performAndWait {
      for format in ["indexed BEGINSWITH[cd] 'arg'", "indexed CONTAINS[cd] 'RGE'"] {
        let found = try context.texts("Word", "plain", format)
        #expect(found == ["Ä"])
      }
    }
    let session = try ServerSession(url)
    let indexes = try _texts(
      session,
      """
      SELECT pg_get_indexdef(oid) FROM pg_class WHERE relnamespace = \(PostgreSQLNames.literal(session.schema))::regnamespace \
      AND relkind = 'i' AND relname LIKE '%fold_cd%'
      """)
    #expect(indexes.count == 2, "\(indexes)")
    #expect(indexes.allSatisfy { $0.contains("\(PostgreSQLNames.plain(session.schema)).fold_cd") })
  }

  @Test(arguments: Way.allCases)
  func `a role goes on with what a migration made`(_ way: Way) throws {
    let prepared = try PreparedSchema(_model(1))
    let stack = try _migrate(prepared.owner, way)
    try stack.coordinator.remove(stack.store)
    let context = try ServerStack(_model(2), at: prepared.url).context()
    try context.performAndWait {
      let word = context.make("Word", ["plain": "new", "indexed": "new", "added": "new"])
      word.setValue(Set(try context.all("Label")), forKey: "labels")
      try context.save()
      #expect(try context.texts("Word", "plain") == ["new", "Ä"])
    }
  }

  @Test(arguments: Way.allCases)
  func `owners, rights and comments outlast a migration`(_ way: Way) throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let session = try ServerSession(url)
    let schema = PostgreSQLNames.plain(session.schema)
    let (keeper, reader) = ("\"\(schema) keeper\"", "\"\(schema) reader\"")
    let stack = try _migrate(url, way) {
      for statement in [
        "CREATE ROLE \(keeper)", "CREATE ROLE \(reader)", "SET search_path TO \(session.schema)",
        "ALTER TABLE word OWNER TO \(keeper)", "ALTER VIEW _readable_label OWNER TO \(keeper)",
        "ALTER TABLE _name OWNER TO \(keeper)",
        "GRANT SELECT (plain, id), UPDATE (plain) ON word TO \(reader)", "GRANT INSERT ON word TO PUBLIC",
        "GRANT SELECT ON _readable_word TO \(reader) WITH GRANT OPTION",
        "GRANT USAGE ON SEQUENCE word_id_seq TO \(reader)",
        "GRANT DELETE ON label_words, _receipt, _metadata TO \(reader)",
        "COMMENT ON TABLE word IS 'Our ''words'''", "COMMENT ON COLUMN word.plain IS E'back\\\\slash'",
        "COMMENT ON COLUMN label.id IS 'Ours'",
      ] { try session.connection.execute(statement) }
    }
    #expect(
      try _texts(
        session,
        """
        SELECT concat_ws(' ', c.relname, c.relowner::regrole, x.privilege_type, x.grantee::regrole, x.is_grantable) \
        FROM pg_class c LEFT JOIN LATERAL aclexplode(c.relacl) x ON x.grantee <> c.relowner \
        WHERE c.relnamespace = \(PostgreSQLNames.literal(session.schema))::regnamespace AND c.relname IN ('word', \
        '_readable_word', '_readable_label', 'word_id_seq', 'label_words', '_receipt', '_metadata', '_name') ORDER BY 1
        """
      ).map { $0.replacing("\"", with: "").replacing(schema + " ", with: "") } == [
        "_metadata coredata DELETE reader f", "_name keeper", "_readable_label keeper",
        "_readable_word coredata SELECT reader t", "_receipt coredata DELETE reader f",
        "label_words coredata DELETE reader f", "word keeper INSERT - f",
        "word_id_seq keeper USAGE reader f",
      ])
    #expect(
      try _texts(
        session,
        """
        SELECT concat_ws(' ', a.attname, x.privilege_type) FROM pg_attribute a, aclexplode(a.attacl) x \
        WHERE a.attrelid = 'word'::regclass ORDER BY 1
        """) == ["id SELECT", "plain SELECT", "plain UPDATE"])
    #expect(
      try _texts(
        session,
        """
        SELECT t FROM (VALUES (obj_description('word'::regclass)), (col_description('word'::regclass, \
        (SELECT attnum FROM pg_attribute WHERE attrelid = 'word'::regclass AND attname = 'plain'))), \
        (col_description('label'::regclass, 1)), (obj_description('label'::regclass))) AS v(t)
        """) == ["Our 'words'", "back\\slash", "Ours", "Objects of the entity Label"])
    withExtendedLifetime(stack) {}
  }

  @Test(arguments: Way.allCases)
  func `migrated history takes its changes along when deleted`(_ way: Way) throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let stack = try _migrate(url, way)
    let session = try ServerSession(url)
    for statement in [
      "INSERT INTO \(session.schema)._history VALUES (1000, 0, NULL, NULL, NULL, NULL)",
      "INSERT INTO \(session.schema)._history_change VALUES (1000, 1, 0, 1, 1, NULL, NULL)",
      "DELETE FROM \(session.schema)._history WHERE number = 1000",
    ] { try session.connection.execute(statement) }
    #expect(
      try session.number(
        "SELECT count(*) FROM \(session.schema)._history_change WHERE transaction = 1000 AND $1::text <> ''",
        "x") == 0)
    withExtendedLifetime(stack) {}
  }

  @Test func `rights follow a table to its new name`() throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let session = try ServerSession(url)
    let role = PostgreSQLNames.quoted("\(PostgreSQLNames.plain(session.schema)) reader")
    let stack = try _migrate(url, .inferred, to: _model(2, named: "Term")) {
      try session.connection.execute("CREATE ROLE \(role)")
      try session.connection.execute(
        "GRANT SELECT ON \(session.schema).word, \(session.schema)._readable_word TO \(role)")
      try session.connection.execute("GRANT USAGE ON SEQUENCE \(session.schema).word_id_seq TO \(role)")
    }
    #expect(
      try _texts(
        session,
        """
        SELECT c.relname || ' ' || x.privilege_type FROM pg_class c, aclexplode(c.relacl) x WHERE x.grantee = \
        \(PostgreSQLNames.literal(role))::regrole ORDER BY 1
        """) == ["_readable_term SELECT", "term SELECT", "term_id_seq USAGE"])
    withExtendedLifetime(stack) {}
  }

  @Test func `rights of new tables are the ones given to them`() throws {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let session = try ServerSession(url)
    let role = PostgreSQLNames.quoted("\(PostgreSQLNames.plain(session.schema)) other")
    // Granted to all new tables by default, and revoked from this one.
    let stack = try _migrate(url, .inferred) {
      try session.connection.execute("CREATE ROLE \(role)")
      try session.connection.execute(
        "ALTER DEFAULT PRIVILEGES IN SCHEMA \(session.schema) GRANT SELECT ON TABLES TO \(role)")
    }
    #expect(
      try session.number(
        "SELECT count(*) FROM pg_class c, aclexplode(c.relacl) x WHERE x.grantee = $1::text::regrole", role)
        == 0)
    withExtendedLifetime(stack) {}
  }
}
