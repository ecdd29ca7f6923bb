import CoreDataCSQLite
import Synchronization

/// An open database.
package final class Connection: @unchecked Sendable {
  // Unchecked: only one thread at a time uses a connection, the one that borrowed it from the pool (or holds
  // the writer's lock); `interrupt` alone may be called on any thread, which SQLite allows.

  /// How a database file is opened.
  package enum Mode: Sendable {
    case readOnly
    case readWrite
    /// Creates the file if it is missing.
    case create
    /// The file cannot change: no locks, no shared memory, any write-ahead log is ignored.
    case immutable
    /// For reading; the write-ahead log's shared memory, which must exist, is not written either.
    case readOnlyBeside
  }

  @usableFromInline let handle: OpaquePointer
  package let path: String
  /// Whether the files have changed in a way that the connection does not detect itself; the pool then no
  /// longer lends it.
  package var isOutdated: (() -> Bool)?
  /// The files that the database must still consist of; nil if that is not checked.
  var files: DatabaseFiles?
  /// Restricts what of the file's schema runs, if that is trusted.
  var schemaGuard: SchemaGuard?
  private let _statements: StatementCache
  private var _trace: Trace?
  let steps = StepCounter()
  private let _wasInterrupted = Atomic<Bool>(false)
  /// A read transaction kept open between reads; used by the pool's readers only.
  @exclusivity(unchecked) var heldRead = HeldRead()
  /// The write-ahead log that the connection writes to.
  @exclusivity(unchecked) var log = LogFile()
  /// Told of each write transaction.
  @exclusivity(unchecked) var commitWatch: CommitWatch?
  /// Whether the connection encountered an I/O fault, or was opened read-only although writing was requested:
  /// a pool does not lend it again.
  @exclusivity(unchecked) package private(set) var isFaulty = false

  /// This connection's part in the write-ahead log's shared memory; nil if it has no say in its rights.
  private let _memoryUse: SharedMemoryRights.Use?
  private let _isBeside: Bool

  private final class Trace {
    let receive: (TracedStatement) -> Void
    let showsValues: Bool
    init(_ receive: @escaping (TracedStatement) -> Void, showsValues: Bool) {
      self.receive = receive
      self.showsValues = showsValues
    }
  }

  /// Opens `path` (":memory:" for an in-memory database).
  ///
  /// - Parameters:
  ///   - busyTimeout: seconds to wait for another connection's lock.
  ///   - statementCapacity: number of prepared statements kept.
  /// - Throws: `SQLiteError`. A file that is not a database fails only at the first statement.
  package init(
    path: String, mode: Mode = .create, busyTimeout: Double = 5, statementCapacity: Int = 128
  ) throws {
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE
    var name = path
    var mode = mode
    var memoryUse: SharedMemoryRights.Use?
    switch mode {
    case .readWrite, .create:
      memoryUse = try SharedMemoryRights.shared.beginWriting(path: path, timeout: busyTimeout)
    case .readOnlyBeside:
      memoryUse = SharedMemoryRights.shared.beginReading(path: path)
      if memoryUse == nil { mode = .readOnly }
    case .readOnly, .immutable: break
    }
    switch mode {
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:\(Self._escaped(path))?immutable=1"
    case .readOnlyBeside:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = "file:\(Self._escaped(path))?readonly_shm=1"
    }
    // A plain path must not be parsed as a URI, as builds of SQLite with SQLITE_USE_URI do.
    if flags & SQLITE_OPEN_URI == 0, name.hasPrefix("file:") { name = "./" + name }
    _ = SQLiteLibrary.isPrepared
    var opened: OpaquePointer?
    let result = sqlite3_open_v2(name, &opened, flags, nil)
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteError(result, on: opened, sql: nil)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    self.path = path
    // A file that was created just now had no readers.
    if memoryUse == nil, mode == .create {
      memoryUse = try SharedMemoryRights.shared.beginWriting(path: path, timeout: busyTimeout)
    }
    _memoryUse = memoryUse
    _isBeside = mode == .readOnlyBeside
    _statements = StatementCache(connection: opened, capacity: statementCapacity)
    setBusyTimeout(busyTimeout)
    // SQLite opens a file read-only if it cannot open it for writing, for any reason.
    if mode == .readWrite || mode == .create { isFaulty = sqlite3_db_readonly(opened, "main") == 1 }
    if mode == .readOnlyBeside, let memoryUse, !memoryUse.isTolerated {
      isOutdated = { SharedMemoryRights.shared.isUnwanted(memoryUse) }
    }
    // The contents of the file are untrusted.
    _ = coredata_set_defensive(opened, 1)
    _ = coredata_set_trusted_schema(opened, 0)
    watchSteps()
    try ValueArray.register(on: opened)
  }

  deinit {
    _statements.removeAll()
    // An interruption lasts until the next statement, and would prevent the checkpoint on closing.
    if _wasInterrupted.load(ordering: .relaxed) { sqlite3_exec(handle, "SELECT 1", nil, nil, nil) }
    sqlite3_close_v2(handle)
  }

  /// The part of a reader that must not write the shared memory, and so is in the way of writers.
  var readingUse: SharedMemoryRights.Use? { _isBeside ? _memoryUse : nil }

  /// Whether the connection is in the way of one that writes.
  var isUnwanted: Bool { readingUse.map(SharedMemoryRights.shared.isUnwanted) ?? false }

  private static func _escaped(_ path: String) -> String {
    path.replacing("%", with: "%25").replacing("?", with: "%3F").replacing("#", with: "%23")
  }

  // MARK: Statements

  /// Lends the prepared statement for `sql`; return it with `giveBack`.
  package func lend(_ sql: SQLText) throws -> Statement {
    steps.strides = 0
    do {
      return try _statements.lend(sql)
    } catch {
      throw explained(error)
    }
  }

  /// Returns a lent statement.
  package func giveBack(_ statement: Statement) { _statements.giveBack(statement) }

  /// Runs `body` with the prepared statement for `sql`.
  package func withStatement<Result>(_ sql: SQLText, _ body: (Statement) throws -> Result) throws -> Result {
    let statement = try lend(sql)
    defer { _statements.giveBack(statement) }
    return try body(statement)
  }

  /// Prepares a statement that is used once and not cached.
  package func prepare(_ sql: String) throws -> Statement {
    steps.strides = 0
    do {
      return try Statement(sql, on: handle, persistent: false)
    } catch {
      throw explained(error)
    }
  }

  /// Runs the statements in `sql` and ignores their results.
  package func execute(_ sql: String) throws {
    steps.strides = 0
    let result = sqlite3_exec(handle, sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw explained(SQLiteError(result, on: handle, sql: sql)) }
  }

  /// Runs one statement, without caching it, and calls `body` for each row.
  package func query(_ sql: String, _ values: [Binding] = [], _ body: (Statement) throws -> Void = { _ in })
    throws
  {
    let statement = try prepare(sql)
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    while try statement.step() { try body(statement) }
  }

  /// First column of the first row; nil without a row.
  package func firstValue(_ sql: String, _ values: [Binding] = []) throws -> Binding? {
    let statement = try prepare(sql)
    for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
    return try statement.step() ? statement.value(0) : nil
  }

  /// Number of cached statements, for tests.
  package var cachedStatementCount: Int { _statements.count }

  // MARK: State

  /// Whether no transaction is open.
  package var isInAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }

  /// Rows changed since the connection was opened; changes of the schema do not count.
  var totalChanges: Int32 { sqlite3_total_changes(handle) }

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  @inlinable package var changes: Int { Int(sqlite3_changes(handle)) }

  /// Whether the file was opened, or can only be used, for reading.
  package var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  /// Marks the connection as faulty if `error` reports a fault of the medium.
  func recordFault(in error: any Error) {
    if (error as? any SQLiteFailure)?.underlying?.isFault == true { isFaulty = true }
  }

  /// Interrupts the running statement with an `isInterrupted` error. Callable on any thread.
  package func interrupt() {
    _wasInterrupted.store(true, ordering: .relaxed)
    sqlite3_interrupt(handle)
  }

  // MARK: Tracing

  /// Calls `receive` with each statement after it has run; nil stops tracing.
  ///
  /// - Parameter showsValues: whether the text includes the bound values.
  package func trace(showsValues: Bool = false, _ receive: ((TracedStatement) -> Void)?) {
    guard let receive else {
      sqlite3_trace_v2(handle, 0, nil, nil)
      _trace = nil
      return
    }
    let trace = Trace(receive, showsValues: showsValues)
    _trace = trace
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_PROFILE),
      { _, context, statement, nanoseconds in
        guard let context, let statement else { return 0 }
        let trace = Unmanaged<Trace>.fromOpaque(context).takeUnretainedValue()
        let handle = OpaquePointer(statement)
        let expanded = trace.showsValues ? sqlite3_expanded_sql(handle) : nil
        let text =
          expanded.map { String(cString: $0) } ?? sqlite3_sql(handle).map { String(cString: $0) } ?? ""
        sqlite3_free(expanded)
        let elapsed = nanoseconds?.assumingMemoryBound(to: Int64.self).pointee ?? 0
        trace.receive(TracedStatement(sql: text, nanoseconds: elapsed))
        return 0
      }, Unmanaged.passUnretained(trace).toOpaque())
  }
}

/// A statement that has run.
package struct TracedStatement: Sendable, Hashable {
  package let sql: String
  /// Time spent in SQLite and in between its steps.
  package let nanoseconds: Int64
}
