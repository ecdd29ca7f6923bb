import CoreDataPostgreSQLBinding
import Dispatch
import Foundation
import Synchronization

/// Reports saves to one store by any program. Polls the counter of the store's history twice a second, and at
/// once when the server notifies of a commit.
///
/// Notifications are a hint: they do not pass through poolers, and a disconnected listener misses them. The
/// counter is always right.
final class PostgreSQLChangeFeed: Sendable {
  private struct Timer: @unchecked Sendable {
    // Unchecked: created in `init`, cancelled in `deinit`.
    let source: any DispatchSourceTimer
  }

  private let _timer: Timer
  private let _listener: PostgreSQLListener?

  /// - Parameters:
  ///   - listens: Whether to listen to the server's notifications, on a connection outside the pool.
  ///   - interval: Polling interval.
  init(
    _ engine: PostgreSQLStoreEngine, listens: Bool, interval: DispatchTimeInterval = .milliseconds(500),
    _ changed: @escaping @Sendable () -> Void
  ) throws {
    @Sendable func number(_ engine: PostgreSQLStoreEngine) throws -> Int64 {
      try engine.follower?.follow(engine) ?? engine.lastTransaction()
    }
    let state = Last(try number(engine))
    let queue = DispatchQueue(label: "CoreData.remote-change", qos: .utility)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(100))
    let look: @Sendable () -> Void = { [weak engine] in
      // Ignores errors: a server that is temporarily unavailable is polled again.
      guard let engine, let number = try? number(engine) else { return }
      if state.advance(to: number) { changed() }
    }
    let listener = listens ? PostgreSQLListener(engine, on: queue, look) : nil
    source.setEventHandler {
      look()
      listener?.renew()
    }
    source.activate()
    _timer = Timer(source: source)
    _listener = listener
  }

  /// The last value of the counter.
  private final class Last: Sendable {
    private let _number: Mutex<Int64>

    init(_ number: Int64) { _number = Mutex(number) }

    /// Stores the new value, and returns whether it differs.
    func advance(to number: Int64) -> Bool {
      _number.withLock { last in
        defer { last = number }
        return last != number
      }
    }
  }

  deinit {
    _timer.source.cancel()
    _listener?.stop()
  }
}

/// Listens to the notifications of one store, on a connection outside the pool, and connects again after a loss.
final class PostgreSQLListener: Sendable {
  private struct Line: @unchecked Sendable {
    // Unchecked: once the source exists, only the queue uses the connection.
    let connection: PostgreSQLConnection
    let source: any DispatchSourceRead
  }

  private struct State {
    var line: Line?
    /// When to connect again.
    var resumption = DispatchTime.now()
    var isStopped = false
  }

  private let _state = Mutex(State())
  private let _engine: @Sendable () -> PostgreSQLStoreEngine?
  private let _queue: DispatchQueue
  private let _heard: @Sendable () -> Void

  /// Seconds that connecting may take, and after which it is tried again.
  private static let (_patience, _pause) = (5.0, 10.0)

  init(
    _ engine: PostgreSQLStoreEngine, on queue: DispatchQueue, _ heard: @escaping @Sendable () -> Void
  ) {
    _engine = { [weak engine] in engine }
    (_queue, _heard) = (queue, heard)
    renew()
  }

  /// Connects if there is no connection and it is time to. Ignores errors: polling continues without it.
  func renew() {
    let isDue = _state.withLock { !$0.isStopped && $0.line == nil && $0.resumption <= .now() }
    guard isDue, let engine = _engine() else { return }
    let line = try? _connect(engine)
    let isStopped = _state.withLock { state in
      state.line = state.isStopped ? nil : line
      if line == nil { state.resumption = .now() + Self._pause }
      return state.isStopped
    }
    line?.source.activate()
    if isStopped { line?.source.cancel() }
  }

  private func _connect(_ engine: PostgreSQLStoreEngine) throws -> Line {
    let deadline = PostgreSQLDeadline(after: Self._patience)
    let connection = try engine.pool.makeConnection(until: deadline)
    connection.deadline = deadline
    try connection.execute("LISTEN \(PostgreSQLNames.quoted(engine.channel))")
    connection.deadline = .never
    // libpq closes its socket when the server does. The source then would watch whatever opens that number next, so it
    // has a number of its own.
    let watched = fcntl(connection.socket, F_DUPFD_CLOEXEC, 0)
    guard watched >= 0 else {
      throw PostgreSQLError(state: nil, message: "the socket cannot be watched: errno \(errno)")
    }
    let line = Line(
      connection: connection, source: DispatchSource.makeReadSource(fileDescriptor: watched, queue: _queue))
    line.source.setEventHandler { [weak self] in
      guard let self else { return }
      if line.connection.hasNotifications() { _heard() }
      // A lost connection stays readable.
      if !line.connection.isUsable {
        line.source.cancel()
        _state.withLock { $0.line = nil }
      }
    }
    line.source.setCancelHandler { close(watched) }
    return line
  }

  func stop() {
    let line = _state.withLock { state in
      state.isStopped = true
      defer { state.line = nil }
      return state.line
    }
    line?.source.cancel()
  }
}
