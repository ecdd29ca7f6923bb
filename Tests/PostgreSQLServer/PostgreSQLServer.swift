import Foundation
import Synchronization

/// The PostgreSQL server of a test process: a cluster of its own, which ends with the process.
///
/// Started by `Scripts/lib/postgresql.bash` when it is first asked for. Where no server is installed there is none, and
/// tests that need one are skipped.
public final class PostgreSQLServer: Sendable {
  /// The server; nil where none is installed.
  public static let shared: PostgreSQLServer? = try? PostgreSQLServer()

  /// Said where tests are skipped.
  public static let absence: String =
    "there is no PostgreSQL server here; install one with 'Scripts/lib/postgresql.bash need'"

  /// Directory of the socket.
  public let directory: String
  public let port: Int
  private let _number = Atomic<Int>(0)

  private struct Failure: Error {}

  private static let _servers = Atomic<Int>(0)

  /// A server beside the shared one, for tests that stop it.
  public static func another() throws -> PostgreSQLServer { try PostgreSQLServer() }

  private init() throws {
    let process = ProcessInfo.processInfo.processIdentifier
    let number = Self._servers.wrappingAdd(1, ordering: .relaxed).newValue
    let words = try Self._run("start", "/tmp/coredata-postgresql-\(process)-\(number)", String(process))
      .split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let port = Int(words[1]) else { throw Failure() }
    directory = String(words[0])
    self.port = port
  }

  /// Runs the script; what it prints.
  private static func _run(_ arguments: String...) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = [root.appendingPathComponent("Scripts/lib/postgresql.bash").path] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure() }
    return text
  }

  /// Stops the server at once, as a crash does, and starts it again.
  public func restart() throws { _ = try Self._run("restart", directory) }

  /// Ends the server.
  public func stop() { _ = try? Self._run("stop", directory) }

  /// URL of a store that is not there yet, in a schema of its own.
  public func newURL(query: String = "") -> URL {
    let number = _number.wrappingAdd(1, ordering: .relaxed).newValue
    return URL(
      string: "postgresql://coredata@/postgres?host=\(directory)&port=\(port)&schema=store_\(number)\(query)")!
  }

  /// URL of the same by TCP.
  public func newTCPURL() -> URL {
    let number = _number.wrappingAdd(1, ordering: .relaxed).newValue
    return URL(string: "postgresql://coredata@127.0.0.1:\(port)/postgres?schema=store_\(number)")!
  }
}
