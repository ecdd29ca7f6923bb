import CoreDataStoreTools
import Foundation
import Synchronization

/// The last check of a store, repeated when the store has changed. A check reads the whole file, on a thread of its own and one
/// at a time, and goes on if the page that began it is left: the next one shows its result.
final class StoreHealth: Sendable {
  struct Result: Sendable {
    let findings: [StoreFinding]
    let duration: Duration
    fileprivate let time: Int
  }

  enum State: Sendable {
    case finished(Result)
    /// How much is done, from 0 to 1, and what is checked now.
    case running(Double, String)
  }

  private struct Progress {
    var last: Result?
    /// The running check's.
    var running: (fraction: Double, part: String)?
    /// The failure of the last check, until it is shown.
    var failure: (any Error)?
  }

  private let _progress = Mutex(Progress())

  /// Begins a check if there is none that is as new as the store was at a time, and returns its result if it ends soon.
  ///
  /// - Throws: Errors of the check; `QueryBudget.Exceeded`.
  func state(of store: ExploredStore, since time: Int) throws -> State {
    let deadline = ContinuousClock.now + .seconds(store.limits.checkPatience)
    while true {
      if let result = try _result(store, since: time) { return .finished(result) }
      guard ContinuousClock.now < deadline else { break }
      Thread.sleep(forTimeInterval: 0.01)
    }
    let running = _progress.withLock { $0.running }
    return .running(running?.fraction ?? 0, running?.part ?? "pages")
  }

  /// The result of a check that has ended; nil while one is running, which is begun if necessary.
  private func _result(_ store: ExploredStore, since time: Int) throws -> Result? {
    let (result, failure, begins) = _progress.withLock { progress -> (Result?, (any Error)?, Bool) in
      if let failure = progress.failure {
        progress.failure = nil
        return (nil, failure, false)
      }
      if let last = progress.last, last.time >= time { return (last, nil, false) }
      guard progress.running == nil else { return (nil, nil, false) }
      progress.running = (0, "pages")
      return (nil, nil, true)
    }
    if let failure { throw failure }
    if begins { Thread.detachNewThread { self._check(store, store.clock.time) } }
    return result
  }

  private func _check(_ store: ExploredStore, _ time: Int) {
    let begin = ContinuousClock.now
    let budget = QueryBudget(seconds: store.limits.checkSeconds, client: nil)
    do {
      let findings = try budget.run {
        try StoreChecker.findings(
          in: store.path, model: store.layout.schema, metadata: store.metadata, limit: 10,
          progress: { fraction, part in self._progress.withLock { $0.running = (fraction, part) } })
      }
      let duration = ContinuousClock.now - begin
      _progress.withLock {
        $0.last = Result(findings: findings, duration: duration, time: time)
        $0.running = nil
      }
    } catch {
      _progress.withLock {
        $0.failure = error
        $0.running = nil
      }
    }
  }
}
