import CoreData
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQL

/// Ways to connect to a server: TLS, passwords, services, several hosts. Uses a separate server whose role
/// `guarded` requires a password and TLS.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct ConnectionTests {
  /// A server with a certificate for `db.test`, signed by its own authority.
  private final class GuardedServer {
    static let password = "s3cr\u{e9}t/&"
    let server: PostgreSQLServer
    let authority: String
    let session: ServerSession
    let directory: URL

    init() throws {
      server = try PostgreSQLServer.another()
      authority = try server.secure("db.test")
      directory = FileManager.default.temporaryDirectory.appendingPathComponent("access-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      session = try ServerSession(server.newURL())
      let password = PostgreSQLNames.literal(Self.password)
      try session.connection.execute("CREATE ROLE guarded LOGIN PASSWORD \(password)")
      try session.connection.execute("GRANT CREATE ON DATABASE postgres TO guarded")
    }

    deinit {
      server.stop()
      try? FileManager.default.removeItem(at: directory)
    }

    /// Returns the URL of a new store over TCP.
    func url(_ user: String, host: String = "db.test", _ query: String) -> URL {
      URL(
        string: "postgresql://\(user)@\(host):\(server.port)/postgres?hostaddr=127.0.0.1&schema=guarded&"
          + "sslmode=verify-full&sslrootcert=\(authority)\(query)")!
    }

    /// Writes a file that only its owner can read.
    func write(_ text: String, to name: String) throws -> String {
      let file = directory.appendingPathComponent(name)
      try Data(text.utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      return file.path
    }

    /// Writes a password file.
    func passwordFile(_ password: String = password) throws -> String {
      // A colon or backslash would need escaping; the password has none.
      try write("db.test:\(server.port):*:guarded:\(password)\n", to: "passwords-\(password.count)")
    }
  }

  @Test func `TLS accepts a server by the name in its certificate`() throws {
    let guarded = try GuardedServer()
    let stack = try ServerStack(at: guarded.url("coredata", ""))
    let encrypted = try guarded.session.number(
      """
      SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
      WHERE ssl AND application_name = $1::text AND client_addr IS NOT NULL
      """, "CoreData")
    #expect(encrypted >= 1)
    withExtendedLifetime(stack) {}
    let error = #expect(throws: CocoaError.self) {
      try ServerStack(at: guarded.url("coredata", host: "other.test", ""))
    }
    #expect(error?.localizedDescription.contains("does not match host name \"other.test\"") ?? false)
  }

  @Test func `a password comes from a file`() throws {
    let guarded = try GuardedServer()
    let file = try guarded.passwordFile()
    let stack = try ServerStack(at: guarded.url("guarded", "&passfile=\(file)"))
    let context = stack.context()
    try context.performAndWait { try #expect(context.all("Company").isEmpty) }
    #expect(throws: CocoaError.self) { try ServerStack(at: guarded.url("guarded", "&passfile=/nowhere")) }
  }

  @Test func `a service file says where the server is`() throws {
    let guarded = try GuardedServer()
    let services = try guarded.write(
      """
      [shop]
      host=db.test
      hostaddr=127.0.0.1
      port=\(guarded.server.port)
      dbname=postgres
      user=guarded
      passfile=\(try guarded.passwordFile())
      sslmode=verify-full
      sslrootcert=\(guarded.authority)

      """, to: "services")
    // The environment belongs to the whole process, so the test runs in another one.
    let prepared = try ChildProcess.run(
      ChildProcess.built("postgresql-torture"), ["prepare", "postgresql:///?service=shop&schema=service"],
      environment: ["PGSERVICEFILE": services])
    #expect(prepared.code == 0, "\(prepared.error)")
    let owned = try guarded.session.number(
      "SELECT count(*) FROM pg_namespace WHERE nspname = $1::text AND nspowner = 'guarded'::regrole",
      "service")
    #expect(owned == 1)
  }

  @Test func `no error shows a password`() throws {
    let guarded = try GuardedServer()
    let word = "wr\u{f6}ng-w0rd"
    let encoded = word.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
    let places = [
      guarded.url("guarded:\(encoded)", ""), guarded.url("guarded", "&password=\(encoded)"),
      guarded.url("guarded", "&passfile=\(try guarded.passwordFile(word))"),
      URL(string: "postgresql://guarded:\(encoded)@db.test/postgres?schema=public")!,
      URL(string: "postgresql://guarded:\(encoded)@db.test/postgres?hostaddr=127.0.0.1&unknown=1")!,
    ]
    for place in places {
      let error = #expect(throws: CocoaError.self, "\(place)") { try ServerStack(at: place) }
      let nserror = error.map { $0 as NSError }
      let text =
        "\(String(describing: error)) \(nserror?.userInfo ?? [:]) \(error?.localizedDescription ?? "")"
      #expect(!text.contains(word) && !text.contains(encoded), "\(text)")
    }
    let right = GuardedServer.password.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
    let stack = try ServerStack(at: guarded.url("guarded:\(right)", ""))
    #expect(!(stack.store.url?.absoluteString.contains("s3cr") ?? true))
    #expect(!"\(stack.store) \(stack.coordinator)".contains("s3cr"))
  }

  @Test func `of several hosts the one that writes is found`() throws {
    let server = try PostgreSQLServer.another()
    defer { server.stop() }
    let replica = try server.startReplica()
    defer { replica.stop() }
    let url = URL(
      string: "postgresql://coredata@/postgres?host=/nowhere,\(replica.directory),\(server.directory)"
        + "&port=1,\(replica.port),\(server.port)&target_session_attrs=read-write&schema=hosts")!
    let context = try ServerStack(at: url).context()
    try context.performAndWait {
      context.make("Company", ["name": "a"])
      try context.save()
    }
    #expect(
      try ServerSession(url).number("SELECT count(*) FROM hosts.company WHERE name = $1::text", "a") == 1)
  }
}
