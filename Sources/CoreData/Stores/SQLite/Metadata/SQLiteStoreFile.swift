import CoreDataSQLiteBinding
import Foundation

/// A store file: operations that do not require opening it as a store.
struct SQLiteStoreFile: Sendable {
  let location: StoreLocation
  /// Seconds to wait for another connection's lock.
  let timeout: Double

  init(url: URL, timeout: Double = 240) {
    location = StoreLocation(url)
    self.timeout = timeout
  }

  private init(_ location: StoreLocation, timeout: Double) {
    self.location = location
    self.timeout = timeout
  }

  /// Returns the same file with another timeout.
  func waiting(_ timeout: Double) -> SQLiteStoreFile { SQLiteStoreFile(location, timeout: timeout) }

  /// Path of the real file.
  var path: String { location.path }

  /// Whether the URL denotes a database in memory.
  var isInMemory: Bool { location.isInMemory }

  /// Reads the metadata of a store that need not be open. Changes neither the file nor its log.
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

  /// Writes metadata into the file immediately.
  func setMetadata(_ metadata: [String: Any]) throws {
    try translating {
      let connection = try openForWriting()
      _ = try StoreMetadata.read(connection, path: path)
      try connection.transaction { try StoreMetadata.write(metadata, to: connection) }
    }
  }

  /// Whether there is no file, or a database without tables, as an interrupted creation leaves it.
  func isVacant() throws -> Bool {
    guard !isInMemory, FileManager.default.fileExists(atPath: path) else { return true }
    return try translating { try Self.isEmpty(openForReading()) }
  }

  /// Whether a database has no tables. True for an empty file, and after a creation was interrupted between
  /// setting the journal mode, which writes the header, and creating the tables.
  static func isEmpty(_ connection: Connection) throws -> Bool {
    try connection.firstValue("SELECT COUNT(*) FROM sqlite_master") == .int(0)
  }

  /// Whether the store has a history of its transactions, current or past.
  func keepsHistory() throws -> Bool {
    guard !isInMemory, FileManager.default.fileExists(atPath: path) else { return false }
    return try translating { try HistoryTables.exist(on: openForReading()) }
  }

  /// Empties the store in place; see `StoreDestruction`.
  ///
  /// - Throws: `StoreOpenError` if the file is not a store.
  func destroy(isForced: Bool = false) throws {
    try translating { try StoreDestruction(location, timeout: timeout, isForced: isForced).run() }
  }

  /// Runs `body` and translates SQLite errors to `StoreOpenError`.
  func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw StoreOpenError(error, path: path)
    }
  }
}
