import CoreData
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Stores that were dumped with the server's tools, and restored into another database.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct BackupTests {
  private static var _options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

  private let _server: PostgreSQLServer
  private let _url: URL
  private let _directory: URL

  init() throws {
    _server = try #require(PostgreSQLServer.shared)
    _url = _server.directURL(_server.newURL())
    _directory = FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: _directory, withIntermediateDirectories: true)
  }

  /// Documents with text that has indexes of its own, large data, parts and tags.
  private static func _model() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    let document = TestModel.entity("Document"), part = TestModel.entity("Part"),
      tag = TestModel.entity("Tag")
    let text = TestModel.attribute("text", .stringAttributeType)
    text.userInfo = ["postgresql.index": "folded, trigram"]
    let count = NSDerivedAttributeDescription()
    (count.name, count.attributeType, count.isOptional) = ("partCount", .integer64AttributeType, true)
    count.derivationExpression = NSExpression(format: "parts.@count")
    document.properties = [
      text, TestModel.attribute("scan", .binaryDataAttributeType), count,
      TestModel.attribute("price", .decimalAttributeType),
    ]
    part.properties = [TestModel.attribute("number", .integer32AttributeType)]
    tag.properties = [TestModel.attribute("name", .stringAttributeType)]
    tag.uniquenessConstraints = [["name"]]
    TestModel.relate(document, "parts", part, "document", toMany: (true, false), ordered: (true, false))
    TestModel.relate(document, "tags", tag, "documents", toMany: (true, true))
    model.entities = [document, part, tag]
    return model
  }

  private func _fill() throws -> ServerStack {
    let stack = try ServerStack(Self._model(), at: _url, options: Self._options)
    let context = stack.context()
    try context.performAndWait {
      let tag = context.make("Tag", ["name": "new"])
      for number in 0..<20 {
        let document = context.make(
          "Document",
          [
            "text": "Straße \(number) 'quoted' \\ \n", "tags": Set([tag]),
            "scan": Data("\(number) ".utf8)
              + Data(repeating: UInt8(number), count: number == 0 ? 3_000_000 : 5000),
            "price": NSDecimalNumber(string: "12345678901234567890.\(number + 1)"),
          ])
        let parts = (0..<3).map { context.make("Part", ["number": $0]) }
        document.setValue(NSOrderedSet(array: parts), forKey: "parts")
      }
      try context.save()
    }
    return stack
  }

  /// All that a store has, with the objects' identifiers.
  private func _content(_ stack: ServerStack) throws -> [String] {
    let context = stack.context()
    return try context.performAndWait {
      let documents = try context.all("Document").map { document -> String in
        let parts = try #require(document.value(forKey: "parts") as? NSOrderedSet).compactMap {
          ($0 as? NSManagedObject)?.objectID.uriRepresentation().absoluteString
        }
        let tags = try #require(document.value(forKey: "tags") as? Set<NSManagedObject>)
        let values = ["text", "price", "partCount"].map { "\(document.value(forKey: $0) ?? "-")" }
        let scan = try #require(document.value(forKey: "scan") as? Data).base64EncodedString().hashValue
        return "\(document.objectID.uriRepresentation()) \(values) \(scan) \(parts) \(tags.count)"
      }
      return documents.sorted()
    }
  }

  /// Runs one of the server's tools on a database.
  private func _run(_ tool: String, _ arguments: [String], database: String = "postgres") throws {
    let program = "\(try PostgreSQLServer.programs())/\(tool)"
    let outcome = try ChildProcess.run(
      program,
      ["-h", _server.directory, "-p", "\(_server.port)", "-U", "coredata", "-d", database] + arguments)
    try #require(outcome.code == 0, "\(tool): \(outcome.output + outcome.error)")
  }

  /// Restores the store into a database of its own, as an owner would.
  private func _restored(_ format: String) throws -> URL {
    let session = try ServerSession(_url)
    let (database, file) = ("restored_\(UUID().uuidString.prefix(8).lowercased())", "\(_directory.path)/dump")
    let schema = PostgreSQLNames.plain(session.schema)
    try _run("pg_dump", ["--schema", schema, "--format", format, "--file", file])
    try session.connection.execute("CREATE DATABASE \(database)")
    // An extension belongs to the database and not to the schema.
    try _run("psql", ["-qc", "CREATE EXTENSION IF NOT EXISTS pg_trgm"], database: database)
    if format == "plain" {
      try _run("psql", ["-q", "-v", "ON_ERROR_STOP=1", "-f", file], database: database)
    } else {
      try _run("pg_restore", ["--exit-on-error", "--jobs", "2", file], database: database)
    }
    return URL(string: _url.absoluteString.replacing("/postgres?", with: "/\(database)?"))!
  }

  private func _drop(_ stack: ServerStack) throws {
    let database = try #require(stack.url.path.split(separator: "/").first)
    try stack.coordinator.remove(stack.store)
    try ServerSession(_url).connection.execute("DROP DATABASE \(database) WITH (FORCE)")
    try FileManager.default.removeItem(at: _directory)
  }

  @Test(arguments: ["plain", "custom"]) func `a restored store is the store that was dumped`(_ format: String)
    throws
  {
    let stack = try _fill()
    let content = try _content(stack)
    let restored = try ServerStack(Self._model(), at: _restored(format), options: Self._options)
    #expect(content.count == 20)
    try #expect(_content(restored) == content)
    #expect(restored.store.identifier == stack.store.identifier)
    let token = { (stack: ServerStack) in stack.coordinator.currentPersistentHistoryToken(fromStores: nil) }
    #expect(token(restored) == token(stack))
    try _drop(restored)
  }

  @Test func `a restored store is written, searched and kept like any other`() throws {
    _ = try _fill()
    let restored = try ServerStack(Self._model(), at: _restored("custom"), options: Self._options)
    let context = restored.context()
    try context.performAndWait {
      let document = context.make("Document", ["text": "STRASSE"])
      document.setValue(NSOrderedSet(array: [context.make("Part", [:])]), forKey: "parts")
      try context.save()
      context.refresh(document, mergeChanges: false)
      #expect(document.value(forKey: "partCount") as? Int == 1)
      try #expect(context.all("Document", "text CONTAINS[cd] 'strasse'").count == 21)
      try #expect(context.all("Document", "text CONTAINS[cd] 'STRAßE 1'").count == 11)
      context.make("Tag", ["name": "new"])
      #expect(throws: CocoaError.self) { try context.save() }
    }
    let session = try ServerSession(restored.url)
    try #expect(
      session.number(
        """
        SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
        JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am a ON a.oid = x.relam \
        WHERE n.nspname = $1::text AND a.amname = 'gin' AND i.indisvalid
        """, PostgreSQLNames.plain(session.schema)) == 1)
    try #expect(PostgreSQLAdministration(restored.url).check { _, _ in }.isEmpty)
    try _drop(restored)
  }
}
