import Foundation
import Synchronization

/// Notifies observers of a file about commits by this process's stores.
final class CommitBoard: Sendable {
  static let shared = CommitBoard()

  private struct State {
    var followers: [String: [(id: Int, handler: @Sendable () -> Void)]] = [:]
    var nextID = 0
  }

  private let _state = Mutex(State())
  /// Number of observers, so that a commit without observers costs one load.
  private let _count = Atomic<Int>(0)

  /// Calls `handler` after each commit to the file, on the committing thread, until the observation ends.
  func follow(_ file: String, _ handler: @escaping @Sendable () -> Void) -> Int {
    _count.wrappingAdd(1, ordering: .relaxed)
    return _state.withLock { state in
      state.nextID += 1
      state.followers[file, default: []].append((state.nextID, handler))
      return state.nextID
    }
  }

  func end(_ id: Int, of file: String) {
    _state.withLock { state in
      guard let index = state.followers[file]?.firstIndex(where: { $0.id == id }) else { return }
      state.followers[file]!.remove(at: index)
      if state.followers[file]!.isEmpty { state.followers[file] = nil }
      _count.wrappingSubtract(1, ordering: .relaxed)
    }
  }

  /// Notifies the file's observers of a commit.
  func didCommit(_ file: String) {
    guard _count.load(ordering: .relaxed) > 0 else { return }
    for follower in _state.withLock({ $0.followers[file] ?? [] }) { follower.handler() }
  }
}
