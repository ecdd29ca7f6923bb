import CoreDataSQLiteBinding

/// The settings for opening a SQLite store.
struct SQLiteStoreOptions: Sendable {
  /// Nothing is written, and the file must exist.
  var isReadOnly = false
  /// Seconds to wait for another process's lock.
  var timeout: Double = 240
  /// Maximum number of concurrent readers.
  var maximumReaders = 4
  /// Pragmas set on every connection after the defaults (`journal_mode` WAL, `synchronous` NORMAL), such as
  /// `["cache_size": "-20000"]`.
  var pragmas: [String: String] = [:]
  /// Whether to collect statistics for the query planner when the store is opened.
  var analyzes = false
  /// Whether to vacuum the file when the store is opened.
  var vacuums = false
  /// Whether to record a history of the transactions.
  var tracksHistory = false
  /// Called with every statement of every connection; for SQL logs.
  var trace: (@Sendable (TracedStatement) -> Void)?
  /// Whether traced statements include bound values.
  var tracesValues = false

  init() {}

  /// The requested journal mode, in lower case.
  var journalMode: String { _pragma("journal_mode") ?? "wal" }

  /// The requested `synchronous` mode, in lower case. NORMAL with a write-ahead log: a power failure can lose
  /// the last commits but never damages the file. Core Data's own default is undocumented.
  var synchronous: String { _pragma("synchronous") ?? "normal" }

  private func _pragma(_ name: String) -> String? {
    pragmas.first { $0.key.lowercased() == name }?.value.lowercased()
  }

  /// Whether the first connection keeps the file locked against all others.
  var locksExclusively: Bool { _pragma("locking_mode") == "exclusive" }

  /// Returns the pragma statements for one connection, except `journal_mode`, `synchronous` and
  /// `locking_mode`, whose order matters and which have their own methods.
  ///
  /// - Parameter isNew: Whether the connection may be about to create the file.
  /// - Throws: `StoreOpenError.invalidOption` for a name or value that is not a plain word or number, which
  ///   prevents SQL injection.
  func pragmaStatements(isNew: Bool) throws -> [String] {
    var result: [String] = []
    // Both take effect only before the first table is created.
    if isNew { result += ["PRAGMA page_size = 4096", "PRAGMA auto_vacuum = INCREMENTAL"] }
    for (name, value) in pragmas.ordered(by: { $0.key < $1.key }) {
      if ["journal_mode", "synchronous", "locking_mode"].contains(name.lowercased()) { continue }
      result.append("PRAGMA \(try _checked(name, name)) = \(try _checked(name, value))")
    }
    return result
  }

  /// Returns the statement that sets the journal mode, which belongs to the file.
  func journalModeStatement() throws -> String {
    "PRAGMA journal_mode = \(try _checked("journal_mode", journalMode))"
  }

  func synchronousStatement() throws -> String {
    "PRAGMA synchronous = \(try _checked("synchronous", synchronous))"
  }

  /// - Throws: `StoreOpenError.invalidOption` for invalid pragmas.
  func check() throws {
    _ = try (pragmaStatements(isNew: false), journalModeStatement(), synchronousStatement())
    _ = try lockingModeStatement()
  }

  /// Returns the statement that sets the locking mode; nil if none is requested.
  func lockingModeStatement() throws -> String? {
    try _pragma("locking_mode").map { "PRAGMA locking_mode = \(try _checked("locking_mode", $0))" }
  }

  private func _checked(_ name: String, _ value: String) throws -> String {
    let isPlain = value.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard isPlain, !value.isEmpty else {
      throw StoreOpenError.invalidOption(
        name: "pragma \(name)", reason: "'\(value)' is neither a word nor a number")
    }
    return value
  }
}
