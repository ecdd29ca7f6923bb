import CoreDataSQLiteBinding

/// How an SQLite store is opened.
struct SQLiteStoreOptions: Sendable {
  /// Nothing is written, the file must exist.
  var isReadOnly = false
  /// Seconds to wait for another process's lock.
  var timeout: Double = 240
  /// Readers that may work at once.
  var maximumReaders = 4
  /// Pragmas set on every connection after the defaults (`journal_mode` WAL, `synchronous` NORMAL), such as
  /// `["cache_size": "-20000"]`.
  var pragmas: [String: String] = [:]
  /// Gathers statistics for the query planner when the store is opened.
  var analyzes = false
  /// Rebuilds the file when the store is opened.
  var vacuums = false
  /// Keeps a history of the transactions.
  var tracksHistory = false
  /// Told about every statement of every connection; for SQL logs.
  var trace: (@Sendable (TracedStatement) -> Void)?
  /// Whether traced statements show bound values.
  var tracesValues = false

  init() {}

  /// Journal mode asked for, in lower case.
  var journalMode: String { _pragma("journal_mode") ?? "wal" }

  /// `synchronous` asked for, in lower case. NORMAL with a write-ahead log: a power cut can lose the last
  /// commits but never damages the file. Core Data's own default is not documented.
  var synchronous: String { _pragma("synchronous") ?? "normal" }

  private func _pragma(_ name: String) -> String? {
    pragmas.first { $0.key.lowercased() == name }?.value.lowercased()
  }

  /// Whether the first connection keeps the file locked, so that no other one gets in.
  var locksExclusively: Bool { _pragma("locking_mode") == "exclusive" }

  /// The pragmas as statements for one connection, but for `journal_mode`, `synchronous` and
  /// `locking_mode`, which have methods of their own as their order matters.
  ///
  /// - Parameter isNew: Whether the connection may be about to create the file.
  /// - Throws: `StoreOpenError.invalidOption` for a name or value that is not a plain word or number: a
  ///   pragma is not a place for other SQL.
  func pragmaStatements(isNew: Bool) throws -> [String] {
    var result: [String] = []
    // Both only take effect before the first table is made.
    if isNew { result += ["PRAGMA page_size = 4096", "PRAGMA auto_vacuum = INCREMENTAL"] }
    for (name, value) in pragmas.sorted(by: { $0.key < $1.key }) {
      if ["journal_mode", "synchronous", "locking_mode"].contains(name.lowercased()) { continue }
      result.append("PRAGMA \(try _checked(name, name)) = \(try _checked(name, value))")
    }
    return result
  }

  /// Sets the journal mode, which belongs to the file.
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

  /// Sets the locking mode; nil if none is asked for.
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
