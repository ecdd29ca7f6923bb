import Dispatch
import Synchronization

/// Merges that wait for the main queue, in the order in which they came.
///
/// Each has a place of its own on the queue, so that whatever is sent there after a save finds the save merged,
/// until so many wait that the queue has fallen far behind. From there on the pieces take turns with whatever
/// else the queue has to do: they would stand in line before everything that a user does.
final class Turns: Sendable {
  /// Places that may wait on the queue at the same time.
  static let mostPlaces = 16

  private struct Line {
    var waiting: [@Sendable () -> Void] = []
    /// Places asked for on the queue that have not come up.
    var places = 0
  }

  private let _line = Mutex(Line())
  /// Whether anything waits; cheap enough to poll.
  private let _isWaited = Atomic<Bool>(false)

  /// Takes a piece of work; true if a place on the queue is to be asked for.
  fileprivate func add(_ work: @escaping @Sendable () -> Void) -> Bool {
    _line.withLock { line in
      line.waiting.append(work)
      _isWaited.store(true, ordering: .releasing)
      guard line.places < Self.mostPlaces else { return false }
      line.places += 1
      return true
    }
  }

  /// Runs the work that has waited longest.
  ///
  /// - Returns: Whether more work waits than there are places, so that another turn is needed.
  fileprivate func runNext() -> Bool {
    _next()?()
    return _line.withLock { line in
      if line.waiting.count >= line.places { return true }
      line.places -= 1
      return false
    }
  }

  /// Runs all waiting work. Called before a block of the context's own, which sees every save made before it
  /// was enqueued.
  func runAll() {
    guard _isWaited.load(ordering: .acquiring) else { return }
    while let work = _next() { work() }
  }

  private func _next() -> (@Sendable () -> Void)? {
    _line.withLock { line in
      guard !line.waiting.isEmpty else { return nil }
      let work = line.waiting.removeFirst()
      if line.waiting.isEmpty { _isWaited.store(false, ordering: .releasing) }
      return work
    }
  }
}

extension ContextQueue {
  /// Appends work that no caller waits for. On the main queue its pieces come before any block that is sent to
  /// the context later; see `Turns` for their places.
  func inTurn(_ work: @escaping @Sendable () -> Void) {
    guard case .main = kind else { return async(work) }
    if turns.add(work) { _askForTurn() }
  }

  private func _askForTurn() {
    DispatchQueue.main.async { [self] in
      if inItsPlace({ turns.runNext() }) { _askForTurn() }
    }
  }
}
