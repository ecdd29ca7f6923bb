import CoreDataPostgreSQLBinding
import Foundation
import Synchronization

/// Tells of saves into one store, by any program, by looking at the counter of its history twice a second.
///
/// A notification of the server would come sooner, but takes a lock of the whole server with every commit, does not pass
/// poolers, and misses who is away. The counter is right whatever happens.
final class PostgreSQLChangeFeed: Sendable {
  private static let _interval = DispatchTimeInterval.milliseconds(500)

  private struct Timer: @unchecked Sendable {
    // Unchecked: made in `init`, cancelled in `deinit`.
    let source: any DispatchSourceTimer
  }

  private let _timer: Timer

  init(_ engine: PostgreSQLStoreEngine, _ changed: @escaping @Sendable () -> Void) throws {
    let state = Last(try engine.lastTransaction())
    let source = DispatchSource.makeTimerSource(
      queue: DispatchQueue(label: "CoreData.remote-change", qos: .utility))
    source.schedule(deadline: .now() + Self._interval, repeating: Self._interval, leeway: .milliseconds(100))
    source.setEventHandler { [weak engine] in
      // A server that is away for a while is asked again.
      guard let engine, let number = try? engine.lastTransaction() else { return }
      if state.advance(to: number) { changed() }
    }
    source.activate()
    _timer = Timer(source: source)
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

  deinit { _timer.source.cancel() }
}
