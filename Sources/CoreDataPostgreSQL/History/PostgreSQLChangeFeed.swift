import CoreDataPostgreSQLBinding
import Dispatch
import Foundation
import Synchronization

/// Tells of saves into one store, by any program, by looking at the counter of its history: twice a second, and at once when
/// the server says that a save was committed.
///
/// The server's notifications are a hint: they do not pass poolers, and miss a listener that is away. The counter is right
/// whatever happens.
final class PostgreSQLChangeFeed: Sendable {
  private struct Timer: @unchecked Sendable {
    // Unchecked: made in `init`, cancelled in `deinit`.
    let source: any DispatchSourceTimer
  }

  private let _timer: Timer
  private let _listener: PostgreSQLListener?

  /// - Parameters:
  ///   - listens: Whether the server's notifications are listened to, on a connection beside the pool.
  ///   - interval: Time between two looks at the counter.
  init(
    _ engine: PostgreSQLStoreEngine, listens: Bool, interval: DispatchTimeInterval = .milliseconds(500),
    _ changed: @escaping @Sendable () -> Void
  ) throws {
    let state = Last(try engine.lastTransaction())
    let queue = DispatchQueue(label: "CoreData.remote-change", qos: .utility)
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(100))
    let look: @Sendable () -> Void = { [weak engine] in
      // A server that is away for a while is asked again.
      guard let engine, let number = try? engine.lastTransaction() else { return }
      if state.advance(to: number) { changed() }
    }
    source.setEventHandler { look() }
    source.activate()
    _timer = Timer(source: source)
    _listener = listens ? try? PostgreSQLListener(engine, on: queue, look) : nil
  }

  /// The counter as it was seen last.
  private final class Last: Sendable {
    private let _number: Mutex<Int64>

    init(_ number: Int64) { _number = Mutex(number) }

    /// Whether the counter has another number now.
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
  // Unchecked: the connection is used on the queue alone once the source is there.
  private let _connection: PostgreSQLConnection
  private let _source: any DispatchSourceRead

  /// - Throws: `PostgreSQLError` when there is no further connection.
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
      // A lost connection is always readable; the timer goes on without it.
      if !_connection.isUsable { _source.cancel() }
    }
    // The connection stays open until nothing waits on its socket.
    _source.setCancelHandler { [connection] in _ = connection }
    _source.activate()
  }

  func stop() { _source.cancel() }
}
