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

  /// What the file is by its first bytes.
  enum Kind: Sendable {
    case missing
    case empty
    case database
    case other
  }

  /// - Throws: `StoreOpenError` for what can be no store, or may not be read.
  func kind() throws -> Kind {
    switch try location.occupant() {
    case .nothing: return .missing
    case .directory: return .other
    case .file: break
    }
    guard let head = DatabaseHead.bytes(path, count: 108) else {
      throw StoreOpenError.unreadable(
        path: path, SQLiteError(code: 14, message: "no permission to read the file"))
    }
    if head.isEmpty { return .empty }
    guard head.starts(with: DatabaseHead.magic) else { return .other }
    return _hasNoTables(head) ? .empty : .database
  }

  /// Whether a database has been emptied, or its making was cut short: the first page, which lists the tables, has no
  /// entries, and nothing is left to be played over it.
  private func _hasNoTables(_ head: [UInt8]) -> Bool {
    // Type of the page and number of its cells, behind the 100 bytes of the file's header.
    guard head.count >= 105, head[100] == 13, head[103] == 0, head[104] == 0 else { return false }
    return FileState.part(path + "-journal") == nil
      && (FileState.part(path + "-wal")?.size ?? 0) <= 32
  }

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

  /// Replaces this store, which need not exist, by a copy of another with all that is still in its log.
  func replace(with source: SQLiteStoreFile) throws {
    guard try source.kind() == .database else { throw StoreOpenError.missing(path: source.path) }
    if try kind() == .other { throw StoreOpenError.notADatabase(path: path) }
    try translating {
      let from = try source.openForReading()
      let to = try openForWriting(creates: true)
      try from.backUp(to: to)
      try? to.checkpoint(.truncate)
    }
    try _copyExternalData(from: source)
  }

  private func _copyExternalData(from source: SQLiteStoreFile) throws {
    let files = FileManager.default
    let from = ExternalDataDirectory(storePath: source.path).supportPath
    let to = ExternalDataDirectory(storePath: path).supportPath
    guard from != to else { return }
    if files.fileExists(atPath: to) { try files.removeItem(atPath: to) }
    if files.fileExists(atPath: from) { try files.copyItem(atPath: from, toPath: to) }
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
