import Foundation
import Synchronization
import TestSupport

/// The PostgreSQL server of a test process: a separate cluster, which is stopped with the process.
///
/// `Scripts/lib/postgresql.bash` starts it on first use. If no server is installed, tests that need one are
/// skipped.
public final class PostgreSQLServer: Sendable {
  /// The server; nil if none is installed.
  public static let shared: PostgreSQLServer? = {
    let isPooled = ProcessInfo.processInfo.environment["COREDATA_TEST_POOLER"] != nil
    if !isPooled, let server = _ofParent { return server }
    return try? PostgreSQLServer(named: "shared", isPooled: isPooled)
  }()

  /// The server of the test process that has started this one, which tests how a process ends.
  private static var _ofParent: PostgreSQLServer? {
    let directory = _directory(of: getppid(), "shared")
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory),
      let socket = names.first(where: { $0.hasPrefix(".s.PGSQL.") && !$0.hasSuffix(".lock") }),
      let port = Int(socket.dropFirst(".s.PGSQL.".count))
    else { return nil }
    return PostgreSQLServer(directory: directory, port: port, prefix: "store_\(getpid())")
  }

  private static func _directory(of process: Int32, _ name: String) -> String {
    "\(_parent)/coredata-postgresql-\(process)-\(name)"
  }

  /// The message for skipped tests.
  public static let absence: String =
    "there is no PostgreSQL server here; install one with 'Scripts/lib/postgresql.bash need'"

  /// Directory of the socket.
  public let directory: String
  public let port: Int
  /// Port of a pooler in front of the server, in the same directory; nil without one.
  ///
  /// With `COREDATA_TEST_POOLER` in the environment, stores of the shared server use it.
  public let poolerPort: Int?
  /// What the names of schemas begin with.
  private let _prefix: String
  private let _number = Atomic<Int>(0)

  /// What did not work; the script's own messages are in the output of the tests.
  private struct Failure: Error, CustomStringConvertible { let description: String }

  private static let _servers = Atomic<Int>(0)

  /// Where servers have their files: in memory if there is plenty, since the thousands of tables of the tests are as many
  /// files.
  private static let _parent: String = {
    let memory = "/dev/shm"
    let free = try? FileManager.default.attributesOfFileSystem(forPath: memory)[.systemFreeSize] as? NSNumber
    return (free?.int64Value ?? 0) > 8 << 30 && FileManager.default.isWritableFile(atPath: memory)
      ? memory : "/tmp"
  }()

  /// Returns a server beside the shared one, for tests that stop it.
  public static func another() throws -> PostgreSQLServer {
    try PostgreSQLServer(named: "\(_servers.wrappingAdd(1, ordering: .relaxed).newValue)")
  }

  private init(named name: String, isPooled: Bool = false) throws {
    let words = try Self._run("start", Self._directory(of: getpid(), name), String(getpid()))
      .split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let port = Int(words[1]) else { throw Failure(description: "no port: \(words)") }
    directory = String(words[0])
    self.port = port
    _prefix = "store"
    poolerPort = isPooled ? try Self._pooler(directory, port) : nil
  }

  /// Starts a pooler in front of the server.
  private static func _pooler(_ directory: String, _ port: Int) throws -> Int {
    let text = try _run("pool", directory, String(port))
    guard let pooler = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      throw Failure(description: "no port of a pooler: '\(text)'")
    }
    return pooler
  }

  /// Starts a pooler in transaction mode in front of a server without one.
  ///
  /// - Returns: Its port.
  public func startPooler() throws -> Int { try Self._pooler(directory, port) }

  private init(directory: String, port: Int, prefix: String = "store") {
    self.directory = directory
    self.port = port
    _prefix = prefix
    poolerPort = nil
  }

  /// Creates a streaming replica of the server, which is stopped separately.
  ///
  /// - Parameter name: Distinguishes replicas of one server.
  public func startReplica(named name: String = "replica") throws -> PostgreSQLServer {
    let process = String(getpid())
    let words = try Self._run("replica", directory, String(port), "\(directory)-\(name)", process)
      .split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let port = Int(words[1]) else { throw Failure(description: "no port: \(words)") }
    return PostgreSQLServer(directory: String(words[0]), port: port)
  }

  /// Enables TLS on the server, with a certificate for a name. The role `guarded` requires TLS and a
  /// password.
  ///
  /// - Returns: Path of the certificate of the authority that signed the server's.
  public func secure(_ name: String) throws -> String {
    try Self._run("secure", directory, String(port), name).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs the script and returns its output.
  private static func _run(_ arguments: String...) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let script = root.appendingPathComponent("Scripts/lib/postgresql.bash").path
    let outcome = try ChildProcess.run("/bin/bash", [script] + arguments)
    guard outcome.code == 0 else {
      let command = arguments.joined(separator: " ")
      throw Failure(description: "'postgresql.bash \(command)' exited with \(outcome.code): \(outcome.error)")
    }
    return outcome.output
  }

  /// Returns the directory of the server's programs.
  public static func programs() throws -> String {
    try _run("programs").trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Stops the server immediately, as a crash would, and restarts it.
  public func restart() throws { _ = try Self._run("restart", directory) }

  /// Stops the server immediately, as a crash would, and keeps its files.
  public func halt() throws { _ = try Self._run("halt", directory) }

  /// Stops the server.
  public func stop() { _ = try? Self._run("stop", directory) }

  /// Returns the URL of a new store, in its own schema.
  public func newURL(query: String = "") -> URL {
    let number = _number.wrappingAdd(1, ordering: .relaxed).newValue
    let place = poolerPort.map { "port=\($0)&pooler=transaction" } ?? "port=\(port)"
    let schema = "\(_prefix)_\(number)"
    return URL(
      string: "postgresql://coredata@/postgres?host=\(directory)&\(place)&schema=\(schema)\(query)")!
  }

  /// Returns the same URL without the pooler.
  public func directURL(_ url: URL) -> URL {
    guard let poolerPort else { return url }
    return URL(
      string: url.absoluteString.replacing("port=\(poolerPort)&pooler=transaction", with: "port=\(port)"))!
  }

  /// Returns the URL of a new store over TCP.
  public func newTCPURL() -> URL {
    let number = _number.wrappingAdd(1, ordering: .relaxed).newValue
    return URL(string: "postgresql://coredata@127.0.0.1:\(port)/postgres?schema=\(_prefix)_\(number)")!
  }
}
