import CoreDataCSQLite

/// The write-ahead log of an open database, which SQLite itself never checks: it goes on writing to a log that was deleted, and
/// a crash then loses every commit since.
///
/// A log keeps its file for as long as any connection has the database open, so that another file, or none, at its path means
/// that somebody took it away. Belongs to a connection that writes.
struct LogFile {
  /// The log that was there when the database was opened, or when the connection first wrote.
  private var _identity: FileIdentity?
  private let _isExpected: Bool

  /// No log is expected.
  init() { _isExpected = false }

  /// The log of a database that has one.
  init(of files: DatabaseFiles?) {
    _isExpected = true
    _identity = files?.log
  }

  /// Expects the log of the transaction that `connection` has open to be the file at its path, with all frames that the
  /// database file does not have yet. Costs one file system look-up; nothing without a write-ahead log.
  ///
  /// - Throws: `SQLiteError` with `isLogLost`.
  mutating func expectWhole(_ connection: Connection) throws {
    // Asking for the index would create one for a database without a log.
    guard _isExpected, let index = coredata_log_state(connection.handle) else { return }
    let state = State(index)
    guard state.isInUse else { return }
    let path = connection.path + "-wal"
    guard let file = FileStatus(path) else { throw SQLiteError.logLost(path, "was deleted") }
    if let _identity, _identity != file.identity { throw SQLiteError.logLost(path, "was replaced by another file") }
    _identity = file.identity
    // Another process's checkpoint may have emptied the log, whose frames the database file has then.
    guard file.size >= state.size || state.isInDatabase else { throw SQLiteError.logLost(path, "was cut") }
  }

  /// The index of the log, which all connections share; see SQLite's "WAL-mode File Format".
  private struct State {
    /// Whether the index was ever filled.
    let isInUse: Bool
    /// Whether the database file has all frames.
    let isInDatabase: Bool
    /// The bytes that the frames take.
    let size: Int64

    init(_ index: UnsafeRawPointer) {
      func word(_ offset: Int) -> UInt32 { index.load(fromByteOffset: offset, as: UInt32.self) }
      isInUse = index.load(fromByteOffset: 12, as: UInt8.self) != 0
      let code = Int64(index.load(fromByteOffset: 14, as: UInt16.self))
      let pageSize = (code & 0xFE00) + ((code & 1) << 16)
      let frames = Int64(word(16))
      isInDatabase = Int64(word(96)) >= frames
      size = frames == 0 ? 0 : 32 + frames * (24 + pageSize)
    }
  }
}

extension SQLiteError {
  /// SQLITE_CANTOPEN_DIRTYWAL, which SQLite does not use.
  private static let _logLost: Int32 = 1294

  /// The write-ahead log of an open database was taken away.
  package var isLogLost: Bool { code == Self._logLost }

  static func logLost(_ path: String, _ fate: String) -> SQLiteError {
    SQLiteError(code: _logLost, message: "the log \(path) \(fate) while the database was open")
  }
}
