import Synchronization

extension SQLiteStoreEngine {
  /// With a write-ahead log, compares its index. Without one, and for a store that is only read, compares the files' sizes and
  /// times, which this process's own commits change, too.
  func checkForeignCommits() -> ForeignCommits {
    if let watch = pool.commitWatch {
      return switch watch.check() {
      case .unchanged: .none
      case .changed: .some
      case .unknown: .unknown
      }
    }
    if isAlone { return .none }
    let now = FileState(path)
    let before = lastFileState.withLock { state in
      defer { state = now }
      return state
    }
    return before == nil || before == now ? .none : .some
  }
}
