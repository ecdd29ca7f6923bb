import CoreDataSQLiteBinding
import Foundation

/// A store file as a whole: what can be done to it without opening it as a store.
struct SQLiteStoreFile: Sendable {
  let location: StoreLocation
  /// Seconds to wait for the lock of another connection.
  let timeout: Double

  init(url: URL, timeout: Double = 240) {
    location = StoreLocation(url)
    self.timeout = timeout
  }

  private init(_ location: StoreLocation, timeout: Double) {
    self.location = location
    self.timeout = timeout
  }

  /// The same file with another timeout.
  func waiting(_ timeout: Double) -> SQLiteStoreFile { SQLiteStoreFile(location, timeout: timeout) }

  /// Path of the real file.
  var path: String { location.path }

  /// Whether the URL means a database that lives in memory only.
  var isInMemory: Bool { location.isInMemory }

  /// Metadata of a store that need not be open. Neither the file nor its log changes.
  ///
  /// - Throws: `StoreOpenError`.
  func metadata() throws -> [String: Any] {
    try checkIsFile(mayBeMissing: false)
    return try translating {
      let connection = try openForReading()
      if try Self.isEmpty(connection) {
        throw StoreOpenError.typeMismatch(path: path, found: "the file is empty")
      }
      return try StoreMetadata.read(connection, path: path)
    }
  }

  /// Writes metadata into the file at once.
  func setMetadata(_ metadata: [String: Any]) throws {
    try translating {
      let connection = try openForWriting()
      _ = try StoreMetadata.read(connection, path: path)
      try connection.transaction { try StoreMetadata.write(metadata, to: connection) }
    }
  }

  /// Whether there is nothing at the path, or a database without tables: a store that was never created whole.
  func isVacant() throws -> Bool {
    guard !isInMemory, FileManager.default.fileExists(atPath: path) else { return true }
    return try translating { try Self.isEmpty(openForReading()) }
  }

  /// Whether a database has no tables. So has a file of no bytes, and one whose creation was cut short between
  /// the journal mode, which writes the header, and the tables.
  static func isEmpty(_ connection: Connection) throws -> Bool {
    try connection.firstValue("SELECT COUNT(*) FROM sqlite_master") == .int(0)
  }

  /// Whether the store keeps, or has kept, a history of its transactions.
  func keepsHistory() throws -> Bool {
    guard !isInMemory, FileManager.default.fileExists(atPath: path) else { return false }
    return try translating { try HistoryTables.exist(on: openForReading()) }
  }

  /// Empties the store in place; see `StoreDestruction`.
  ///
  /// - Throws: `StoreOpenError` when what is at the URL is no store.
  func destroy(isForced: Bool = false) throws {
    try translating { try StoreDestruction(location, timeout: timeout, isForced: isForced).run() }
  }

  /// Runs `body`; what SQLite throws comes out as `StoreOpenError`.
  func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw StoreOpenError(error, path: path)
    }
  }
}
