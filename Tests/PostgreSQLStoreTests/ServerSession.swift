import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// A separate connection to a store's server, which locks tables and observes the store's connections.
final class ServerSession {
  let connection: PostgreSQLConnection
  /// The store's schema in quotes.
  let schema: String

  convenience init(_ stack: ServerStack) throws { try self.init(stack.url) }

  /// - Parameter url: URL of a store; connects to its server without a pooler.
  init(_ url: URL) throws {
    let address = try PostgreSQLAddress(PostgreSQLServer.shared?.directURL(url) ?? url)
    schema = PostgreSQLNames.quoted(address.schema)
    connection = try PostgreSQLConnection(address.settings)
  }

  /// Returns the URL of a new store in a database of its own.
  ///
  /// For what waits for all transactions of a database, as building an index does: those of suspended tests end only
  /// when their turn comes, which may take as long as all other tests do.
  static func newDatabaseURL() throws -> URL {
    let url = try #require(PostgreSQLServer.shared).newURL()
    let session = try ServerSession(url)
    try session.connection.execute("CREATE DATABASE \(session.schema)")
    let name = PostgreSQLNames.plain(session.schema)
    return try #require(URL(string: url.absoluteString.replacing("@/postgres?", with: "@/\(name)?")))
  }

  /// Locks a table of the store exclusively until the session ends.
  func lock(_ table: String) throws {
    try connection.execute("BEGIN")
    try connection.execute("LOCK TABLE \(schema).\(PostgreSQLNames.quoted(table)) IN ACCESS EXCLUSIVE MODE")
  }

  /// Sets the replica that each COMMIT of the server waits for; empty for none.
  func setReplica(_ name: String) throws {
    try connection.execute(
      "ALTER SYSTEM SET synchronous_standby_names = \(PostgreSQLNames.literal(name))")
    try connection.execute("SELECT pg_reload_conf()")
  }

  /// Returns the number of sessions that wait for a replica after a COMMIT.
  func commitsWaitingForReplica() throws -> Int64 {
    try number("SELECT count(*) FROM pg_stat_activity WHERE wait_event = $1::text", "SyncRep")
  }

  func endCommitsWaitingForReplica() throws {
    _ = try number(
      "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = $1::text", "SyncRep")
  }

  /// Returns the number of receipts in the store.
  func receipts() throws -> Int64 {
    try number("SELECT count(*) FROM \(schema).\"_receipt\" WHERE $1::text = ''", "")
  }

  func cancelCommitsWaitingForReplica() throws {
    _ = try number(
      "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = $1::text", "SyncRep")
  }

  /// Commits writing transactions until the session is terminated.
  func writeUntilEnded() throws {
    while true {
      try connection.execute("SELECT pg_current_xact_id(), pg_logical_emit_message(true, 'test', '')")
    }
  }

  /// Returns the number of statements that wait for a lock of a table.
  func waitingStatements(_ table: String) throws -> Int64 {
    try number(
      "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = $1::text::regclass",
      "\(schema).\(PostgreSQLNames.quoted(table))")
  }

  /// Returns the number of sessions that listen to a channel.
  func listeners(_ channel: String) throws -> Int64 {
    try number(
      "SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN ' || $1::text",
      PostgreSQLNames.quoted(channel))
  }

  /// Returns the only number in the result of a statement with one text parameter.
  func number(_ sql: String, _ text: String) throws -> Int64 {
    var parameters = PostgreSQLParameters()
    parameters.add(text)
    return try connection.run(sql, parameters).int64(0, 0)
  }

  /// Polls a condition; returns false after a minute.
  func waits(_ isSo: (ServerSession) throws -> Bool) throws -> Bool {
    for _ in 0..<6000 {
      if try isSo(self) { return true }
      usleep(10_000)
    }
    return false
  }
}
