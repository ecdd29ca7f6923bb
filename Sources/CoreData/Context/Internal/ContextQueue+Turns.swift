import Dispatch
import Synchronization

/// Merges waiting for the main queue, in order of arrival.
///
/// Each merge has its own slot on the queue, so that any block enqueued after a save sees the save merged.
/// Once `mostPlaces` merges wait, the queue has fallen far behind, and further merges alternate with its
/// other work; otherwise they would delay all user interaction.
final class Turns: Sendable {
  /// Maximum number of slots waiting on the queue at the same time.
  static let mostPlaces = 16

  private struct Line {
    var waiting: [@Sendable () -> Void] = []
    /// Slots enqueued and not yet reached.
    var places = 0
  }

  private let _line = Mutex(Line())
  /// Whether any work waits; cheap to poll.
  private let _isWaited = Atomic<Bool>(false)

  /// Adds a piece of work. Returns true if the caller must enqueue a slot.
  fileprivate func _add(_ work: @escaping @Sendable () -> Void) -> Bool {
    _line.withLock { line in
      line.waiting.append(work)
      _isWaited.store(true, ordering: .releasing)
      guard line.places < Self.mostPlaces else { return false }
      line.places += 1
      return true
    }
  }

  /// Runs the oldest piece of work.
  ///
  /// - Returns: Whether more work waits than there are slots, which requires another turn.
  fileprivate func _runNext() -> Bool {
    _next()?()
    return _line.withLock { line in
      if line.waiting.count >= line.places { return true }
      line.places -= 1
      return false
    }
  }

  /// Runs all waiting work. Called before one of the context's own blocks, which must see every save made
  /// before it was enqueued.
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
  /// Enqueues work that no caller waits for. On the main queue it runs before any block sent to the context
  /// later; see `Turns`.
  func inTurn(_ work: @escaping @Sendable () -> Void) {
    guard case .main = kind else { return async(work) }
    if turns._add(work) { _askForTurn() }
  }

  private func _askForTurn() {
    DispatchQueue.main.async { [self] in
      if inItsPlace({ turns._runNext() }) { _askForTurn() }
    }
  }
}
