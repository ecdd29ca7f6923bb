import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// What operators ask of a store, and the deletion of old receipts.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct AdministrationTests {
  private let _url: URL
  private let _administration: PostgreSQLAdministration

  init() throws {
    _url = try #require(PostgreSQLServer.shared).newURL()
    _administration = try PostgreSQLAdministration(_url)
  }

  /// Persons, with further attributes.
  private func _model(_ attributes: [String], _ change: (NSEntityDescription) -> Void = { _ in })
    -> NSManagedObjectModel
  {
    let person = TestModel.entity("Person")
    person.properties = attributes.map { TestModel.attribute($0, .stringAttributeType) }
    change(person)
    let model = NSManagedObjectModel()
    model.entities = [person]
    return model
  }

  private func _outlook(_ model: NSManagedObjectModel) throws -> String {
    switch try _administration.outlook(of: model) {
    case .nothing: "nothing"
    case .outdated: "outdated"
    case .expansion(let hidden): "expansion" + hidden.map { ", hides \($0)" }.joined()
    case .barrier(let reason, let copied): reason + copied.map { ", copies \($0)" }.joined()
    case .refused(let changes): "refused: \(changes.map(\.subject).joined(separator: ","))"
    }
  }

  @Test func `the outlook of a migration is what it then does`() throws {
    _ = try ServerStack(_model(["name"]), at: _url)
    try #expect(_outlook(_model(["name"])) == "nothing")
    try #expect(_outlook(_model(["name", "alias"])) == "expansion")
    try #expect(_outlook(_model([])) == "expansion, hides Person.name")
    let longer = _model(["full"]) { $0.attributesByName["full"]!.attributeType = .doubleAttributeType }
    try #expect(_outlook(longer) == "expansion, hides Person.name")
    let nameless = _model([]) { $0.uniquenessConstraints = [] }
    nameless.entities[0].isAbstract = true
    try #expect(_outlook(nameless).hasPrefix("refused: Person"))
    let mandatory = _model(["name", "alias"]) { $0.attributesByName["alias"]!.isOptional = false }
    try #expect(_outlook(mandatory) == "Person.alias is mandatory")
    let unique = _model(["name", "alias"]) { $0.uniquenessConstraints = [["name"]] }
    try #expect(_outlook(unique) == "Person has other uniqueness constraints")
    try _administration.migrate(to: _model(["name", "alias"]))
    try _administration.migrate(to: unique)
    try #expect(_outlook(_model(["name"])) == "outdated")
    let versions = try _administration.status().versions
    #expect(versions.map(\.epoch) == [3, 2, 1])
    #expect(versions.map(\.mayWrite) == [true, false, false])
  }

  @Test func `a store's size, receipts and history are counted`() throws {
    let stack = try ServerStack(
      _model(["name"]), at: _url, options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    try context.performAndWait {
      for name in ["Ada", "Bob"] {
        context.make("Person", ["name": name])
        try context.save()
      }
    }
    let status = try _administration.status()
    #expect(status.receiptCount == 2)
    #expect(status.historyCount == 2)
    #expect(status.size > 0)
    try #expect(_administration.deleteHistory(olderThan: 1) == 0)
    try #expect(_administration.deleteHistory(olderThan: -1) == 2)
    try #expect(_administration.status().historyCount == 0)
  }

  /// Makes receipts that are older than a day.
  private func _makeOldReceipts(_ count: Int) throws -> ServerSession {
    let session = try ServerSession(_url)
    try session.connection.execute(
      """
      INSERT INTO \(session.schema)."_receipt" ("id", "epoch", "written") \
      SELECT gen_random_uuid(), 1, now() - interval '25 hours' FROM generate_series(1, \(count))
      """)
    return session
  }

  @Test func `old receipts are deleted on request`() throws {
    _ = try ServerStack(_model(["name"]), at: _url)
    let session = try _makeOldReceipts(600)
    try session.connection.execute(
      "INSERT INTO \(session.schema).\"_receipt\" (\"id\", \"epoch\") VALUES (gen_random_uuid(), 1)")
    try #expect(_administration.deleteOldReceipts() == 600)
    try #expect(session.receipts() == 1)
  }

  @Test func `old receipts are deleted while a program saves`() throws {
    let stack = try ServerStack(_model(["name"]), at: _url)
    let session = try _makeOldReceipts(100)
    let context = stack.context()
    try context.performAndWait {
      for number in 0..<PostgreSQLReceiptPruning.interval {
        context.make("Person", ["name": "\(number)"])
        try context.save()
      }
    }
    let isTidy = try session.waits { try $0.receipts() == Int64(PostgreSQLReceiptPruning.interval) }
    #expect(isTidy)
  }

  @Test func `a schema that is no store is not tidied, and the error says so`() throws {
    #expect {
      try _administration.deleteOldReceipts()
    } throws: {
      "\($0)".contains("holds no store")
    }
  }

  @Test func `a role that may not delete receipts goes on saving`() throws {
    let prepared = try PreparedSchema(_model(["name"]))
    let session = try ServerSession(prepared.owner)
    for role in try PostgreSQLRoles.having(
      .delete, of: "_receipt", PostgreSQLNames.plain(session.schema), on: session.connection)
    {
      try session.connection.execute("REVOKE DELETE, SELECT ON \(session.schema).\"_receipt\" FROM \(role)")
    }
    let context = try ServerStack(_model(["name"]), at: prepared.url).context()
    try context.performAndWait {
      for number in 0..<(2 * PostgreSQLReceiptPruning.interval) {
        context.make("Person", ["name": "\(number)"])
        try context.save()
      }
    }
    try #expect(session.receipts() == Int64(2 * PostgreSQLReceiptPruning.interval))
  }

  // MARK: The tool

  private func _run(_ arguments: [String]) throws -> (code: Int32, output: String) {
    let outcome = try ChildProcess.run(
      ChildProcess.built("coredata-postgresql"), arguments, input: Data("\(_url.absoluteString)\n".utf8))
    return (outcome.code, outcome.output + outcome.error)
  }

  @Test func `the tool plans, migrates, shows and tidies`() throws {
    _ = try ServerStack(_model(["name"]), at: _url)
    let model = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).xcdatamodel")
    try _model(["name", "alias"]).write(to: model)
    defer { try? FileManager.default.removeItem(at: model) }
    let plan = try _run(["migrate", model.path])
    #expect(plan.code == 0 && plan.output.contains("only adds"), "\(plan.output)")
    try #expect(_administration.status().versions.count == 1)
    let done = try _run(["migrate", model.path, "--apply"])
    #expect(done.code == 0 && done.output.contains("Done."), "\(done.output)")
    let status = try _run(["status"])
    #expect(status.code == 0 && status.output.contains("version 2, the present one"), "\(status.output)")
    let lean = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).xcdatamodel")
    try _model(["alias"]).write(to: lean)
    defer { try? FileManager.default.removeItem(at: lean) }
    let hiding = try _run(["migrate", lean.path, "--plan"])
    #expect(hiding.output.contains("Person.name: stays in the store, hidden"), "\(hiding.output)")
    _ = try _run(["migrate", lean.path, "--apply"])
    let hidden = try _run(["status"])
    #expect(hidden.output.contains("only: Person.name; "), "\(hidden.output)")
    // A connection through a pooler holds no lock of its version.
    let opened = try ServerStack(
      _model(["name", "alias"]), at: #require(PostgreSQLServer.shared).directURL(_url))
    let refused = try _run(["migrate", lean.path, "--contract"])
    #expect(refused.code == 75 && refused.output.contains("version 2: 'CoreData'"), "\(refused.output)")
    let contracted = try _run(["migrate", lean.path, "--contract", "--force"])
    #expect(contracted.output.hasPrefix("Dropped: Person.name."), "\(contracted.output)")
    let again = try _run(["migrate", lean.path, "--contract"])
    #expect(again.output == "No earlier version may write: nothing to do.\n", "\(again.output)")
    #expect(try _run(["migrate", lean.path, "--contract", "--apply"]).code == 64)
    #expect(try _run(["migrate", lean.path, "--force"]).code == 64)
    withExtendedLifetime(opened) {}
    let tidy = try _run(["tidy", "--history", "30"])
    #expect(tidy.output == "receipts deleted: 0\ntransactions deleted: 0\n", "\(tidy.output)")
    let wrong = try _run(["tidy", "--history", "soon"])
    #expect(wrong.code == 64, "\(wrong.output)")
  }
}
