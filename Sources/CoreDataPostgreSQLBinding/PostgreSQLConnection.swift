import CoreDataCPostgreSQL
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A connection to a server. `PostgreSQLPool` ensures that one thread at a time uses it.
package final class PostgreSQLConnection {
  /// libpq's connection.
  let handle: OpaquePointer
  /// Names of prepared statements by their text; empty if statements are not prepared.
  private var _prepared: [String: String] = [:]
  private let _prepares: Bool
  /// Number of round trips for statements, not counting preparation.
  package private(set) var statementCount = 0
  /// Called with each of them.
  package var onStatement: (@Sendable () -> Void)?
  /// Told of each statement, with its duration. Nil by default.
  var listener: PostgreSQLOccurrenceHandler?

  /// Number of warnings that the server has sent.
  package private(set) var warningCount = 0

  /// Queries to send along with each statement, in the same round trip; nil for none.
  package var companions: PostgreSQLCompanions?
  /// Statements to send before the next one, in the same round trip.
  var pending: [PendingStatement] = []

  /// Maximum number of statements kept prepared; beyond it, all are discarded.
  private static let _capacity = 512

  /// When the statements of the present borrower must be over. Statements in progress are then cancelled, with
  /// an error whose `isCancelled` is true.
  package var deadline = PostgreSQLDeadline.never {
    didSet { overdue = nil }
  }
  /// Number of the history of its database that the connection's server has, among those that its owner has met. Results
  /// carry it on.
  package var timeline: Int64 = 0
  /// The connection's session; nil if it is not known, or a pooler's.
  package var session: Session?
  /// Whether the connection was closed from here. The server may not know, if the network is at fault.
  package private(set) var isGivenUp = false
  /// Whether a statement is not cancelled at the deadline, and the connection is given up at once instead: a COMMIT
  /// that is cancelled may have taken effect.
  var endsAtDeadline = false
  /// The seconds of the deadline, once a statement has been cancelled because of it.
  var overdue: Double?

  /// Connects.
  ///
  /// - Parameters:
  ///   - settings: libpq's keywords and their values.
  ///   - prepares: Whether statements are prepared in the session. Pass false behind a pooler that assigns a
  ///     session to each transaction.
  ///   - deadline: When connecting must be over.
  /// - Throws: `PostgreSQLError`; its message names host, port and user, never a password.
  ///   `PostgreSQLDeadlineError`.
  package init(
    _ settings: [String: String], prepares: Bool = true, until deadline: PostgreSQLDeadline = .never
  ) throws {
    _prepares = prepares
    let connection = try PostgreSQLConnecting.handle(settings, until: deadline)
    guard PQstatus(connection) == CONNECTION_OK else {
      defer { PQfinish(connection) }
      throw PostgreSQLConnecting.error(Self._message(PQerrorMessage(connection)))
    }
    PQsetnonblocking(connection, 1)
    handle = connection
    // Notices are meant for interactive use; of warnings a commit wants to know.
    PQsetNoticeReceiver(
      connection,
      { context, notice in
        guard let context, let severity = coredata_pq_severity(notice), strcmp(severity, "WARNING") == 0
        else { return }
        Unmanaged<PostgreSQLConnection>.fromOpaque(context).takeUnretainedValue().warningCount += 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { PQfinish(handle) }

  private static func _message(_ text: UnsafePointer<CChar>?) -> String {
    var message = text.map { String(cString: $0) } ?? ""
    while message.last?.isWhitespace ?? false { message.removeLast() }
    return message
  }

  /// Whether the connection is usable.
  package var isUsable: Bool { PQstatus(handle) == CONNECTION_OK }

  /// Whether a transaction is open, aborted or not.
  package var isInTransaction: Bool {
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  /// Version of the server, such as 150018.
  package var serverVersion: Int { Int(PQserverVersion(handle)) }

  /// Encoding of the database, as UTF8; nil behind a pooler that does not pass it on.
  package var databaseEncoding: String? {
    PQparameterStatus(handle, "server_encoding").map { String(cString: $0) }
  }

  // MARK: Statements

  /// Runs one statement and returns its rows in binary form.
  ///
  /// - Parameter isRepeated: Whether the statement is worth preparing.
  @discardableResult
  package func run(
    _ sql: String, _ parameters: PostgreSQLParameters = PostgreSQLParameters(), isRepeated: Bool = true
  ) throws -> PostgreSQLResult {
    noteStatement()
    let statement = try _pending(sql, parameters, isRepeated: isRepeated)
    return try heard(sql) { try checked(accompanied { send(statement) }, sql) }
  }

  /// Queues a statement to run before the next one, in the same round trip. The next one throws its errors.
  ///
  /// - Parameter isObserved: Whether the listener is told of it. It has no time of its own.
  package func runLater(
    _ sql: String, _ parameters: PostgreSQLParameters = PostgreSQLParameters(), isRepeated: Bool = true,
    isObserved: Bool = true
  ) throws {
    var statement = try _pending(sql, parameters, isRepeated: isRepeated)
    statement.isObserved = isObserved
    pending.append(statement)
  }

  private func _pending(
    _ sql: String, _ parameters: PostgreSQLParameters, isRepeated: Bool
  ) throws -> PendingStatement {
    PendingStatement(
      sql: sql, parameters: parameters,
      name: _prepares && isRepeated ? try _name(of: sql, parameters) : nil)
  }

  /// Counts a statement.
  func noteStatement() {
    statementCount += 1
    onStatement?()
  }

  /// Runs one or more statements without parameters that return no rows.
  package func execute(_ sql: String) throws {
    try runPending()
    noteStatement()
    _ = try heard(sql) { try checked(result(ofSending: PQsendQuery(handle, sql)), sql) }
  }

  /// Runs statements without parameters in order, in one round trip. After one that fails, none runs.
  ///
  /// - Throws: `PostgreSQLError` of the one that failed; `PostgreSQLDeadlineError`.
  package func execute(inOrder statements: [String]) throws {
    for statement in statements { try runLater(statement, isRepeated: false) }
    try runPending()
  }

  private func _name(of sql: String, _ parameters: PostgreSQLParameters) throws -> String {
    if let name = _prepared[sql] { return name }
    if _prepared.count >= Self._capacity {
      try runPending()
      _prepared.removeAll()
      try execute("DEALLOCATE ALL")
    }
    let name = "s\(_prepared.count)"
    // Preparing a statement waits for locks of its tables, as running it does.
    try parameters.withArrays { count, types, _, _, _ in
      _ = try checked(result(ofSending: PQsendPrepare(handle, name, sql, count, types)), sql)
    }
    _prepared[sql] = name
    return name
  }

  /// - Throws: `PostgreSQLError`; `PostgreSQLDeadlineError` if the statement has failed because of the deadline.
  func checked(_ result: OpaquePointer?, _ sql: String) throws -> PostgreSQLResult {
    guard let result else {
      if let overdue { throw PostgreSQLDeadlineError(seconds: overdue, what: sql) }
      throw PostgreSQLError(state: nil, message: Self._message(PQerrorMessage(handle)), sql: sql)
    }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
      return PostgreSQLResult(result, timeline: timeline)
    default:
      defer { PQclear(result) }
      if let overdue { throw PostgreSQLDeadlineError(seconds: overdue, what: sql) }
      func field(_ text: UnsafePointer<CChar>?) -> String? { text.map { String(cString: $0) } }
      throw PostgreSQLError(
        state: field(coredata_pq_state(result)),
        message: field(coredata_pq_primary(result)) ?? Self._message(PQerrorMessage(handle)),
        constraint: field(coredata_pq_constraint(result)), table: field(coredata_pq_table(result)), sql: sql)
    }
  }

  // MARK: Transactions

  /// Runs `body` in a transaction under READ COMMITTED, and commits.
  ///
  /// - Throws: Errors of `body`, after rolling back.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try begin()
    let result: Result
    do {
      result = try body()
    } catch {
      rollBack()
      throw error
    }
    try commit()
    return result
  }

  /// Begins a transaction under READ COMMITTED, with the next statement.
  package func begin() throws {
    try runLater("BEGIN ISOLATION LEVEL READ COMMITTED", isRepeated: false, isObserved: false)
  }

  /// Whether statements are queued to be sent with the next one.
  package var hasPending: Bool { !pending.isEmpty }

  /// Commits.
  ///
  /// - Parameter sendsPending: Whether queued statements are sent in the same round trip. If one fails, the server does not
  ///   reach COMMIT, and the transaction is to be rolled back.
  /// - Returns: Whether the server sent a warning meanwhile: it may not have waited for a synchronous replica.
  /// - Throws: `PostgreSQLError`; if it has `isConnectionLost`, the outcome is unknown. `PostgreSQLDeadlineError`;
  ///   the outcome is unknown, and the connection lost.
  @discardableResult
  package func commit(sendingPending sendsPending: Bool = false) throws -> Bool {
    // Pending statements belong to the transaction: if one fails, nothing is committed. Companions check the first statement of
    // a transaction, and must not do so once it is committed.
    if !sendsPending || companions != nil { try runPending() }
    let warnings = warningCount
    endsAtDeadline = true
    defer { endsAtDeadline = false }
    let sql = "COMMIT"
    noteStatement()
    // As one message: a network that takes some of several makes more outcomes unknown.
    let answer = try heard(sql) {
      try checked(
        companions == nil && pending.isEmpty
          ? result(ofSending: PQsendQuery(handle, sql))
          : accompanied { PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) }, sql)
    }
    guard answer.command != "ROLLBACK" else {
      throw PostgreSQLError(
        state: "25P02", message: "a statement of the transaction had failed, and COMMIT rolled it back")
    }
    return warningCount != warnings
  }

  /// Whether an open transaction stays open when the connection returns to its pool.
  package var keepsTransaction = false

  /// Rolls back the open transaction, if there is one and the connection is alive.
  package func rollBack() {
    pending = []
    guard isUsable, isInTransaction, !keepsTransaction else { return }
    let limit = deadline
    if limit.isPast { deadline = PostgreSQLDeadline(after: Self.grace) }
    defer { deadline = limit }
    try? execute("ROLLBACK")
  }

  // MARK: State

  private let _opened = DispatchTime.now()
  /// By how much the connection outlives another of the same age: not all are closed at once.
  private let _endurance = Double.random(in: 0.9...1.1)

  /// Whether it was opened before about as many seconds.
  func isOlder(than seconds: Double) -> Bool { _opened + seconds * _endurance < .now() }

  /// Whether nothing has arrived on an idle connection: what a server says unasked is that it ends.
  package var isQuiet: Bool {
    var byte: UInt8 = 0
    return recv(PQsocket(handle), &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0
      && (errno == EAGAIN || errno == EWOULDBLOCK)
  }

  /// Makes the connection useless: it is closed when it is returned to its pool.
  package func giveUp() {
    shutdown(PQsocket(handle), Int32(SHUT_RDWR))
    _ = PQconsumeInput(handle)
    isGivenUp = true
  }

  /// A session of the server; its process number may be another one's later.
  package struct Session: Sendable {
    package let process: Int32
    package let start: String

    package init(process: Int32, start: String) {
      self.process = process
      self.start = start
    }
  }

  /// The number of the server's process.
  package var processID: Int32 { PQbackendPID(handle) }

  // MARK: Notifications

  /// The socket, for polling.
  package var socket: Int32 { PQsocket(handle) }

  /// Reads all that has arrived, and returns whether a notification is in it. The connection is no longer usable if
  /// the server has closed it: a source may report that once only, together with the server's last message.
  package func hasNotifications() -> Bool {
    var found = false
    var arrived = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    repeat {
      guard PQconsumeInput(handle) == 1 else { return found }
      while let notification = PQnotifies(handle) {
        PQfreemem(notification)
        found = true
      }
    } while isUsable && poll(&arrived, 1, 0) > 0
    return found
  }

  // MARK: Cancelling

  /// Returns an object that cancels the running statement from any thread.
  package func canceller() -> PostgreSQLCanceller? {
    PQgetCancel(handle).map { PostgreSQLCanceller($0) }
  }
}

/// Cancels the statement that a connection runs. May be used on any thread.
package final class PostgreSQLCanceller: @unchecked Sendable {
  // Unchecked: libpq allows PQcancel on any thread, and the handle is immutable.
  private let _cancel: OpaquePointer
  init(_ cancel: OpaquePointer) { _cancel = cancel }
  deinit { PQfreeCancel(_cancel) }

  /// Asks the server to cancel the statement, and waits for its answer. A request that does not arrive is left at that.
  package func cancel() {
    Self._withoutPipeSignal {
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
        _ = PQcancel(_cancel, text.baseAddress, 256)
      }
    }
  }

  /// Calls a function with SIGPIPE held back on this thread. Before version 17 libpq sends the request without that, so that a
  /// server that is stopping and closes the connection would end this process.
  private static func _withoutPipeSignal(_ body: () -> Void) {
    var (signals, former, pending) = (sigset_t(), sigset_t(), sigset_t())
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, &former)
    sigpending(&pending)
    body()
    if sigismember(&pending, SIGPIPE) == 0 {
      var atOnce = timespec()
      sigtimedwait(&signals, nil, &atOnce)
    }
    pthread_sigmask(SIG_SETMASK, &former, nil)
  }
}
