import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// `coredata postgres`, run by a shell.
@Suite struct SchemaToolTests {
  private let _directory: URL

  init() throws {
    _directory = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)")
    let model = _directory.appendingPathComponent("Books.xcdatamodel")
    try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Author" syncable="YES"><attribute name="penName" optional="YES" attributeType="String"/></entity>
      </model>
      """
    try Data(text.utf8).write(to: model.appendingPathComponent("contents"))
  }

  /// Built beside the tests, which depend on it.
  private static var _tool: URL {
    URL(fileURLWithPath: ChildProcess.built("coredata"))
  }

  private func _run(
    _ tool: URL, _ arguments: [String], command: String = "schema", path: String, input: String = ""
  ) throws -> ChildProcess.Outcome {
    let model = _directory.appendingPathComponent("Books.xcdatamodel").path
    return try ChildProcess.run(
      tool.path, ["postgres", command, model] + arguments, environment: ["PATH": path],
      input: Data(input.utf8))
  }

  @Test(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
  func `the tool prints a schema that its model opens`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let url = try #require(PostgreSQLServer.shared).newURL()
    let session = try ServerSession(url)
    let schema = String(session.schema.dropFirst().dropLast())
    let printed = try _run(Self._tool, ["--schema", schema, "--role", "coredata"], path: "")
    #expect(printed.code == 0, "\(printed.error)")
    try session.connection.execute(printed.output)
    let model = try #require(
      NSManagedObjectModel(contentsOf: _directory.appendingPathComponent("Books.xcdatamodel")))
    let context = try ServerStack(model, at: url).context()
    try context.performAndWait {
      context.make("Author", ["penName": "Voltaire"])
      try context.save()
    }
    #expect(
      try session.number(
        "SELECT count(*) FROM \(session.schema).author WHERE pen_name = $1::text", "Voltaire") == 1)
  }

  @Test(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
  func `the tool builds the indexes that a store lacks`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let url = try ServerSession.newDatabaseURL()
    let file = _directory.appendingPathComponent("Books.xcdatamodel")
    _ = try ServerStack(try #require(NSManagedObjectModel(contentsOf: file)), at: url)
    func migrate(_ options: String...) throws -> ChildProcess.Outcome {
      try _run(Self._tool, options, command: "migrate", path: "", input: url.absoluteString)
    }
    try #expect(migrate().output == "The store has this version: nothing to do.\n")
    let contents = file.appendingPathComponent("contents")
    let text = try String(contentsOf: contents, encoding: .utf8).replacing(
      "attributeType=\"String\"/>", with: "attributeType=\"String\" indexed=\"YES\"/>")
    try Data(text.utf8).write(to: contents)
    let lacking = try migrate()
    #expect(
      lacking.output == "The store has this version, and lacks indexes: author (pen_name). "
        + "Add --apply to build them beside the programs.\n", "\(lacking.error)")
    let built = try migrate("--apply")
    #expect(built.output == "Indexes built: author (pen_name).\n")
    #expect(built.error == "Building the index of author (pen_name) ...\n")
    try #expect(migrate().output == "The store has this version: nothing to do.\n")
  }

  @Test func `a missing program for PostgreSQL is named`() throws {
    defer { try? FileManager.default.removeItem(at: _directory) }
    let alone = _directory.appendingPathComponent("coredata")
    do {
      try FileManager.default.linkItem(at: Self._tool, to: alone)
    } catch {
      try FileManager.default.copyItem(at: Self._tool, to: alone)
    }
    let printed = try _run(alone, [], path: "")
    #expect(printed.code == 66)
    #expect(printed.error.contains("There is no program 'coredata-postgresql' beside 'coredata'"))
  }
}
