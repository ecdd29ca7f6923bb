import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import Foundation
import Synchronization

/// Counts and sizes of a store's tables, gathered in the background, since exact counts scan every row.
final class StoreNumbers: Sendable {
  /// The known numbers, and their time.
  struct Known: Sendable {
    var counts: [Int: Int] = [:]
    /// Bytes of tables and their indexes, by table name; empty if SQLite cannot report them.
    var sizes: [String: Int] = [:]
    var time = -1
    /// The time of the last attempt, so that a store that cannot be counted is not retried endlessly.
    fileprivate var tried = -1
    var isBeingGathered = false
  }

  private let _known = Mutex(Known())
  private let _readers: ReaderPool
  private let _clock: ChangeClock

  init(_ readers: ReaderPool, _ clock: ChangeClock) {
    _readers = readers
    _clock = clock
  }

  /// Returns the numbers if they are current; otherwise collects them and waits briefly for the result.
  func now(wait seconds: Double) -> Known {
    let time = _clock.time
    _gather(time)
    let end = Date(timeIntervalSinceNow: seconds)
    while Date() < end {
      let known = _known.withLock { $0 }
      if known.time >= time || known.tried >= time { return known }
      Thread.sleep(forTimeInterval: 0.002)
    }
    return _known.withLock { $0 }
  }

  /// The number of an entity's objects; nil if unknown.
  func count(of entity: PropertyLayout, _ includesSubentities: Bool) -> Int? {
    let time = _clock.time
    _gather(time)
    return _known.withLock { known in
      guard known.time == time else { return nil }
      let family = includesSubentities ? entity.family : [entity.entityNumber]
      return family.reduce(0) { $0 + (known.counts[$1] ?? 0) }
    }
  }

  private func _gather(_ time: Int) {
    let isWanted = _known.withLock { known in
      guard known.tried < time, !known.isBeingGathered else { return false }
      known.isBeingGathered = true
      return true
    }
    guard isWanted else { return }
    let thread = Thread { [self] in
      let budget = QueryBudget(seconds: 30, client: nil)
      let counts = try? _readers.read(budget) { try $0.counts() }
      let sizes = try? _readers.read(budget) { reader in try Self._sizes(reader) }
      _known.withLock { known in
        known.isBeingGathered = false
        known.tried = time
        if let counts { (known.counts, known.time) = (counts, time) }
        known.sizes = sizes ?? known.sizes
      }
    }
    thread.name = "explorer numbers"
    thread.start()
  }

  private static func _sizes(_ reader: StoreReader) throws -> [String: Int] {
    var sizes: [String: Int] = [:]
    try reader.connection.query(
      """
      SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name \
      WHERE s.aggregate = TRUE GROUP BY 1
      """
    ) { sizes[$0.string(0)] = Int(clamping: $0.int64(1)) }
    return sizes
  }
}
