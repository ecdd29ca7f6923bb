import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import Synchronization

/// Keeps the rows that a coordinator has cached current by the history: drops those that other programs have changed, and has all others
/// shown beyond their age.
///
/// Transactions are numbered without gaps, in the order of their commits. A gap means that some were purged unseen, and a lower
/// number that the server has another history: all rows are then dropped.
final class PostgreSQLHistoryFollower: Sendable {
  private struct State {
    /// Number of the last transaction that was looked at; nil before the first.
    var last: Int64?
    /// Later ones of this store: the cache has their rows.
    var own: Set<Int64> = []
    /// How often it has begun.
    var round = 0
  }

  private struct Target: @unchecked Sendable {
    // Unchecked: a weak reference, and a coordinator may be used on any thread.
    weak var coordinator: NSPersistentStoreCoordinator?
    var spaces: [ObjectIDSpace] = []
  }

  private let _state = Mutex(State())
  private let _target = Mutex(Target())
  /// Held while a look goes on: a slow one does not undo what a later one has found.
  private let _looking = NSLock()

  /// Changes that are looked at one by one; after more, all rows are dropped.
  private static let _most = 20_000

  /// Begins to follow the history; the rows cached by now may be of any age.
  func begin(_ engine: PostgreSQLStoreEngine, _ coordinator: NSPersistentStoreCoordinator) {
    // What triggers change with other objects is in no history.
    let derived = Set(
      engine.mapping.layout.layouts.filter {
        !engine.derivations.distantSlots[$0.entityNumber - 1].isEmpty
      }.map(\.rootNumber))
    let spaces = engine.spaces.filter { !derived.contains($0.layout.rootNumber) }
    _target.withLock { $0 = Target(coordinator: coordinator, spaces: spaces) }
    restart()
  }

  /// Begins anew: the server has another history.
  func restart() { _state.withLock { $0 = State(round: $0.round + 1) } }

  /// Notes a transaction of this store once it has committed: the cache has all rows that it has changed.
  func skip(_ transaction: Int64) {
    _state.withLock { state in
      if transaction > state.last ?? 0 { state.own.insert(transaction) }
    }
  }

  /// Looks at what other programs have done since the last look.
  ///
  /// - Returns: The number of the last transaction.
  /// - Throws: `PostgreSQLStoreError`; rows then age.
  func follow(_ engine: PostgreSQLStoreEngine) throws -> Int64 {
    _looking.lock()
    defer { _looking.unlock() }
    let (last, own, round) = _state.withLock { ($0.last, $0.own, $0.round) }
    let moment = NSPersistentStoreCoordinator.RowMoment()
    var number = try engine.lastTransaction()
    var changed: [ObjectKey]? = []
    if let last, number > last {
      (number, changed) = try engine._changes(after: last, but: own, atMost: Self._most)
    } else if number != last {
      changed = nil
    }
    let (coordinator, spaces) = _target.withLock { ($0.coordinator, $0.spaces) }
    let isCurrent = _state.withLock { state in
      guard state.round == round else { return false }
      state.last = number
      state.own = state.own.filter { $0 > number }
      return true
    }
    if isCurrent { coordinator?.rowsAreCurrent(of: spaces, at: moment, but: changed) }
    return number
  }
}

extension PostgreSQLStoreEngine {
  /// Returns the number of the last transaction, and the objects that those after another one have changed; nil for objects that are not
  /// known.
  ///
  /// - Parameters:
  ///   - own: Transactions that are left out.
  ///   - limit: The most changes that are looked at.
  fileprivate func _changes(
    after last: Int64, but own: Set<Int64>, atMost limit: Int
  ) throws -> (number: Int64, changed: [ObjectKey]?) {
    let schema = PostgreSQLNames.quoted(address.schema)
    var parameters = PostgreSQLParameters()
    parameters.add(last)
    parameters.add(PostgreSQLArray(Array(own)))
    parameters.add(Int64(limit + 1))
    return try reading("the history") { connection in
      // One statement, and so one state of the database: nothing is purged between counting and reading.
      let found = try connection.run(
        """
        WITH c AS MATERIALIZED (SELECT n."n", (SELECT pg_catalog.count(*) FROM \(schema)."_history" h WHERE h."number" > $1::int8 \
        AND h."number" <= n."n") AS k FROM \(schema)."_history_counter" n) \
        SELECT c."n", c.k, x."entity", x."key" FROM c LEFT JOIN \(schema)."_history_change" x ON x."transaction" > $1::int8 \
        AND x."transaction" <= c."n" AND x."transaction" <> ALL($2::int8[]) LIMIT $3::int8
        """, parameters)
      guard found.rowCount > 0 else { return (last, nil) }
      let number = found.int64(0, 0)
      guard found.int64(0, 1) == number - last, found.rowCount <= limit else { return (number, nil) }
      var changed: [ObjectKey] = []
      for row in 0..<found.rowCount where !found.isNull(row, 2) {
        // Objects of entities that only a later version knows are in no cache.
        guard let entity = mapping.numbers.number(forStored: found.int64(row, 2)) else { continue }
        changed.append(ObjectKey(space: spaces[entity - 1], reference: found.int64(row, 3)))
      }
      return (number, changed)
    }
  }
}
