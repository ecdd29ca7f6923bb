import CoreDataModelSchema
import CoreDataSQLiteBinding
import Synchronization

/// A snapshot of the store: a dedicated connection with an open read transaction.
///
/// In SQLite, the first read of a transaction fixes the state that it sees until it ends, regardless of later
/// commits. Meanwhile, the log cannot be checkpointed beyond that state. Thread-safe; reads are serialized.
final class SQLiteGeneration: StoreReading {
  private let _engine: SQLiteStoreEngine
  private let _connection: Mutex<Connection>

  /// - Throws: `SQLiteError` if no further connection can be opened.
  init(_ engine: SQLiteStoreEngine) throws {
    _engine = engine
    let connection = try engine.pool.openConnection()
    try connection.execute("BEGIN")
    _connection = Mutex(connection)
    engine.generations.open()
  }

  deinit {
    // Files first: they are deleted once no generation needs them.
    _engine.context.externalData.remove(_engine.generations.close())
  }

  private func _read<Result: Sendable>(_ body: (Connection) throws -> Result) throws -> Result {
    try SQLiteStoreError.translating { try _connection.withLock { try body($0) } }
  }

  func fetch(_ plan: FetchPlan) throws -> [StoredObject] { try _read { try _engine.fetch(plan, on: $0) } }

  func count(_ plan: FetchPlan) throws -> Int { try _read { try _engine.count(plan, on: $0) } }

  func table(_ plan: DictionaryPlan) throws -> [[Value]] { try _read { try _engine.table(plan, on: $0) } }

  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    if keys.isEmpty { return [] }
    return try _read { try _engine.rows(for: keys, on: $0) }
  }

  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    try _read { try _engine.related(to: owners, slot: slot, on: $0) }
  }

  var spaces: [ObjectIDSpace] { _engine.spaces }
}

/// The open generations of a store, and the external data files that only they refer to.
final class OpenGenerations: Sendable {
  private struct State {
    var count = 0
    var files: [String] = []
  }

  private let _state = Mutex(State())

  func open() { _state.withLock { $0.count += 1 } }

  /// Whether an older state is in use.
  var isHeld: Bool { _state.withLock { $0.count > 0 } }

  /// Closes a generation.
  ///
  /// - Returns: The files that no generation needs any longer.
  func close() -> [String] {
    _state.withLock { state in
      state.count -= 1
      guard state.count == 0 else { return [] }
      defer { state.files = [] }
      return state.files
    }
  }

  /// Returns the unreferenced files that can be deleted immediately. The others are returned by the `close()`
  /// of the last generation.
  func released(_ files: [String]) -> [String] {
    if files.isEmpty { return files }
    return _state.withLock { state in
      if state.count == 0 { return files }
      state.files += files
      return []
    }
  }
}

extension SQLiteStoreEngine: GenerationKeeping {
  /// Opens a generation; nil without a write-ahead log, which retains older states, or without a second
  /// connection.
  func openGeneration() throws -> (any StoreReading)? {
    if isAlone { return nil }
    return try SQLiteStoreError.translating {
      let mode = try pool.read { try $0.pragma("journal_mode") }
      return mode?.lowercased() == "wal" ? try SQLiteGeneration(self) : nil
    }
  }

  /// Deletes unreferenced external data files, either now or once the last generation that may need them is
  /// closed.
  func discard(_ files: [String]) { context.externalData.remove(generations.released(files)) }
}
