import Synchronization

extension SQLiteStoreEngine {
  /// With a write-ahead log, compares its index. Without one, and for a store that is only read, compares the files' sizes and
  /// times, which this process's own commits change, too.
  func checkForeignCommits() -> Bool {
    if let watch = pool.commitWatch { return watch.check() }
    if isAlone { return false }
    let now = FileState(path)
    let before = lastFileState.withLock { state in
      defer { state = now }
      return state
    }
    return before != nil && before != now
  }
}
