import CoreDataPostgreSQL
import CoreDataPostgreSQLBinding
import CoreDataTesting
import Foundation
import Synchronization

/// The schemas of tests in a database: `coredata_test_HOST_PROCESS_START_NUMBER`.
enum TestSchemas {
  private static let _prefix = "coredata_test_"
  private static let _number = Atomic<Int>(0)
  /// Databases that were swept in this process.
  private static let _swept = Mutex<Set<URL>>([])

  /// The host, as a number: processes of another one cannot be asked for.
  private static let _host = ProcessInfo.processInfo.hostName.utf8.reduce(2_166_136_261 as UInt32) {
    ($0 ^ UInt32($1)) &* 16_777_619
  }

  static func newName() -> String {
    let process = ProcessIdentity.current
    return
      "\(_prefix)\(_host)_\(process.id)_\(process.start)_\(_number.wrappingAdd(1, ordering: .relaxed).newValue)"
  }

  /// The address with another schema.
  static func url(_ url: URL, schema: String) -> URL {
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return url }
    let others = (components.queryItems ?? []).filter { $0.name != "schema" }
    components.queryItems = others + [URLQueryItem(name: "schema", value: schema)]
    return components.url ?? url
  }

  /// Drops the schemas of this host's processes that have ended, once in a process.
  static func sweep(_ url: URL) throws {
    guard _swept.withLock({ $0.insert(url).inserted }) else { return }
    let connection = try PostgreSQLConnection(PostgreSQLAddress(url).settings, prepares: false)
    let found = try connection.run(
      "SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname::text, '\(_prefix)')",
      isRepeated: false)
    for row in 0..<found.rowCount {
      let name = found.string(row, 0)
      // Other names that begin alike belong to other programs.
      let parts = name.dropFirst(_prefix.count).split(separator: "_", omittingEmptySubsequences: false)
        .map { Int($0) }
      guard parts.count == 4, let host = parts[0], let id = parts[1], let start = parts[2], parts[3] != nil,
        host == Int(_host), let id = Int32(exactly: id), !ProcessIdentity(id: id, start: start).isAlive
      else { continue }
      // Another run may drop it at the same time; what stays is dropped by the next one.
      try? connection.execute("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE")
    }
  }
}
