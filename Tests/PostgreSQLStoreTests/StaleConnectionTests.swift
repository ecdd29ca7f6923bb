import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Idle connections that the server has terminated.
@Suite(
  .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"),
  .enabled(if: PostgreSQLServer.shared?.poolerPort == nil, "a pooler keeps its own sessions with the server"))
struct StaleConnectionTests {
  private let _stack: ServerStack
  private let _context: NSManagedObjectContext
  private let _name = "stale \(UUID().uuidString)"

  init() throws {
    let server = try #require(PostgreSQLServer.shared)
    let name = _name.replacing(" ", with: "%20")
    _stack = try ServerStack(at: server.newURL(query: "&application_name=\(name)"))
    _context = _stack.context()
    try _context.performAndWait {
      for _ in 0..<5 { _context.make("Company", ["name": "old"]) }
      try _context.save()
    }
  }

  /// Terminates the sessions of the store's idle connections.
  private func _endConnections() throws {
    let session = try ServerSession(_stack)
    let others = "FROM pg_stat_activity WHERE application_name = $1::text AND pid <> pg_backend_pid()"
    let endAll = "SELECT count(pg_terminate_backend(pid)) \(others)"
    let ended = try session.number(endAll, _name)
    try #require(ended > 0)
    // What the save has left to do afterwards may connect meanwhile.
    let isOver = try session.waits { try $0.number(endAll, _name) == 0 }
    try #require(isOver)
  }

  @Test(arguments: [ReceiptTests.Work.insertion, .update, .deletion])
  func `a batch finds another connection`(_ work: ReceiptTests.Work) throws {
    try _endConnections()
    try _context.performAndWait {
      try work.run(_context)
      let counts = try ["old", "new"].map { try _context.all("Company", "name == '\($0)'").count }
      #expect(counts == work.outcome)
    }
  }

  @Test func `a save finds another connection`() throws {
    try _context.performAndWait {
      _context.make("Company", ["name": "new"])
      try _endConnections()
      try _context.save()
      #expect(try _context.texts("Company", "name") == ["new", "old", "old", "old", "old", "old"])
    }
  }

  @Test func `an insertion by a handler takes no object twice`() throws {
    try _endConnections()
    var number = 0
    let request = NSBatchInsertRequest(entityName: "Tag") { (values: NSMutableDictionary) in
      number += 1
      values["name"] = "\(number)"
      return number > 3
    }
    try _context.performAndWait {
      try _context.execute(request)
      #expect(try _context.texts("Tag", "name") == ["1", "2", "3"])
    }
  }
}
