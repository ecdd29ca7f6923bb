import Synchronization

/// Rows recently read or saved by the coordinator's contexts, by identity. Two generations: when the younger
/// is full, the older one is dropped, with all rows not used meanwhile.
final class RowCache: Sendable {
  private struct Generations {
    var young: [IdentityKey: Row] = [:]
    var old: [IdentityKey: Row] = [:]
  }

  private let _rows = Mutex(Generations())
  /// Incremented by every commit, under the lock, so that a slow reader cannot restore rows that a commit has
  /// replaced.
  private let _commits = Atomic<Int>(0)
  private let _capacity: Int

  /// - Parameter capacity: Rows per generation.
  init(capacity: Int = 4096) { _capacity = capacity }

  func row(for key: ObjectKey) -> Row? {
    let key = IdentityKey(key)
    return _rows.withLock { rows in
      if let row = rows.young[key] { return row }
      guard let row = rows.old[key] else { return nil }
      rows.young[key] = row
      return row
    }
  }

  /// The current epoch; take it before a read.
  @inline(__always)
  var epoch: Int { _commits.load(ordering: .acquiring) }

  /// Caches rows that a read returned, unless a commit has happened since it began.
  func keep(_ found: [StoredObject], readAt epoch: Int) {
    _rows.withLock { rows in
      guard self.epoch == epoch else { return }
      for object in found {
        if let row = object.row { rows.young[IdentityKey(object.key)] = row }
      }
      _age(&rows)
    }
  }

  /// Caches a row that a read returned, unless a commit has happened since it began.
  func keep(_ row: Row, for key: ObjectKey, readAt epoch: Int) {
    _rows.withLock { rows in
      guard self.epoch == epoch else { return }
      rows.young[IdentityKey(key)] = row
      _age(&rows)
    }
  }

  /// Applies the rows that a save has written and deleted.
  ///
  /// - Returns: The epoch after the save.
  @discardableResult
  func commit(_ entries: [Layer.Entry]) -> Int {
    _rows.withLock { rows in
      let epoch = _beginEpoch()
      entries.forEachHeld { entry in
        let key = IdentityKey(entry.id)
        if key.isTemporary { return }
        switch entry.kind {
        case .inserted, .updated:
          if let row = entry.row { _insertUnlessOlder(row, key, &rows) }
        case .deleted, .annihilated: _drop(key, &rows)
        }
      }
      _age(&rows)
      return epoch
    }
  }

  /// Applies the rows that a commit has written and deleted.
  ///
  /// - Returns: The epoch after the commit.
  @discardableResult
  func commit(written: [(ObjectKey, Row)], deleted: [ObjectKey]) -> Int {
    _rows.withLock { rows in
      let epoch = _beginEpoch()
      for (key, row) in written { _insertUnlessOlder(row, IdentityKey(key), &rows) }
      for key in deleted { _drop(IdentityKey(key), &rows) }
      _age(&rows)
      return epoch
    }
  }

  private func _beginEpoch() -> Int { _commits.wrappingAdd(1, ordering: .releasing).newValue }

  @inline(__always)
  private func _insertUnlessOlder(_ row: Row, _ key: IdentityKey, _ rows: inout Generations) {
    // Rows of other coordinators may arrive late; keep the newer row.
    if let known = rows.young.updateValue(row, forKey: key) ?? rows.old[key], known.version > row.version {
      rows.young[key] = known
    }
  }

  private func _drop(_ key: IdentityKey, _ rows: inout Generations) {
    rows.young[key] = nil
    rows.old[key] = nil
  }

  /// Invalidates some rows.
  func forget(_ keys: [ObjectKey]) { commit(written: [], deleted: keys) }

  /// Invalidates all rows.
  func removeAll() {
    _rows.withLock { rows in
      _ = _beginEpoch()
      rows.young = [:]
      rows.old = [:]
    }
  }

  private func _age(_ rows: inout Generations) {
    if rows.young.count > _capacity {
      // The storage of the older generation is reused: growing again would move each row several times.
      swap(&rows.old, &rows.young)
      rows.young.removeAll(keepingCapacity: true)
    }
  }
}
