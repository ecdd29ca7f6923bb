import CoreDataSQLiteBinding
import Synchronization

/// Collects the rows whose derived values have been changed by triggers in the current transaction.
///
/// Core Data's triggers report each row through an SQL function that every writer must provide.
final class DerivedReports: Sendable {
  /// A row as identified by a trigger: `Z_ENT` and key.
  struct Reported: Hashable, Sendable {
    let entity: Int64
    let key: Int64
  }

  private let _rows = Mutex<Set<Reported>>([])

  /// Registers the reporting functions on a connection.
  func listen(on connection: Connection) throws {
    for name in [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    ] {
      try connection.register(function: name, argumentCount: -1, isDeterministic: false) { call in
        if call.count >= 3 {
          let row = Reported(entity: call.int64(1), key: call.int64(2))
          self._rows.withLock { _ = $0.insert(row) }
        }
        call.answerNull()
      }
    }
  }

  /// Removes and returns the rows reported so far.
  func drain() -> Set<Reported> {
    _rows.withLock { rows in
      if rows.isEmpty { return [] }
      defer { rows = [] }
      return rows
    }
  }
}

extension SQLiteStoreEngine {
  /// Returns the current rows that triggers of this transaction have changed.
  func computedRows(on connection: Connection) throws -> [StoredObject] {
    let reported = derivedReports.drain()
    if reported.isEmpty { return [] }
    let keys = reported.compactMap { row in
      mapping.numbers.number(forStored: row.entity).map {
        ObjectKey(space: spaces[$0 - 1], reference: row.key)
      }
    }
    return try zip(keys, rows(for: keys, on: connection)).compactMap { key, row in
      row.map { StoredObject(key: key, row: $0) }
    }
  }
}
