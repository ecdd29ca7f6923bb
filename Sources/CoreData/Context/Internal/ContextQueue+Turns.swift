import Dispatch
import Synchronization

/// Work for a context of the main queue that comes by itself: of many pieces one at a time waits on the
/// queue.
///
/// Merges that come faster than the main queue takes them would otherwise stand in line before everything
/// that a user does.
final class Turns: Sendable {
  private struct Line {
    var waiting: [@Sendable () -> Void] = []
    /// Whether a piece of work waits on the queue, or is being done.
    var isTaken = false
  }

  private let _line = Mutex(Line())
  /// Whether anything waits, for those who look often.
  private let _isWaited = Atomic<Bool>(false)

  /// Takes a piece of work; true for the first, whose turn has to be asked for.
  fileprivate func add(_ work: @escaping @Sendable () -> Void) -> Bool {
    _line.withLock { line in
      line.waiting.append(work)
      _isWaited.store(true, ordering: .releasing)
      defer { line.isTaken = true }
      return !line.isTaken
    }
  }

  /// Does the work that has waited longest.
  ///
  /// - Returns: Whether more waits, for which another turn is to be asked.
  fileprivate func takeOne() -> Bool {
    _next()?()
    return _line.withLock { line in
      line.isTaken = !line.waiting.isEmpty
      return line.isTaken
    }
  }

  /// Does all the work that waits: for a block of the context's own, which is to see what was saved before it
  /// was sent.
  func takeAll() {
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
  /// Appends work that nobody waits for by name. On the main queue its pieces take turns with whatever else
  /// that has to do, but come before any block that is sent to the context later.
  func inTurn(_ work: @escaping @Sendable () -> Void) {
    guard case .main = kind else { return async(work) }
    if turns.add(work) { _askForTurn() }
  }

  private func _askForTurn() {
    DispatchQueue.main.async { [self] in
      if inItsPlace({ turns.takeOne() }) { _askForTurn() }
    }
  }
}
