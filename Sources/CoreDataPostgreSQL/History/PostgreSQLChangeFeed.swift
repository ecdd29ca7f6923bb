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
    let state = Last(try engine.lastTransaction())
    let queue = DispatchQueue(label: "CoreData.remote-change", qos: .utility)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(100))
    let look: @Sendable () -> Void = { [weak engine] in
      // Ignores errors: a server that is temporarily unavailable is polled again.
      guard let engine, let number = try? engine.lastTransaction() else { return }
      if state.advance(to: number) { changed() }
    }
    source.setEventHandler { look() }
    source.activate()
    _timer = Timer(source: source)
    _listener = listens ? try? PostgreSQLListener(engine, on: queue, look) : nil
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

/// A connection that listens to the notifications of one store.
final class PostgreSQLListener: @unchecked Sendable {
  // Unchecked: once the source exists, only the queue uses the connection.
  private let _connection: PostgreSQLConnection
  private let _source: any DispatchSourceRead

  /// - Throws: `PostgreSQLError` if no further connection can be opened.
  init(
    _ engine: PostgreSQLStoreEngine, on queue: DispatchQueue, _ heard: @escaping @Sendable () -> Void
  ) throws {
    let connection = try engine.pool.makeConnection()
    try connection.execute("LISTEN \(PostgreSQLNames.quoted(engine.channel))")
    _connection = connection
    _source = DispatchSource.makeReadSource(fileDescriptor: connection.socket, queue: queue)
    _source.setEventHandler { [weak self] in
      guard let self else { return }
      if _connection.hasNotifications() { heard() }
      // A lost connection stays readable. Polling continues without it.
      if !_connection.isUsable { _source.cancel() }
    }
    // Keeps the connection open until the source has stopped watching its socket.
    _source.setCancelHandler { [connection] in _ = connection }
    _source.activate()
  }

  func stop() { _source.cancel() }
}
