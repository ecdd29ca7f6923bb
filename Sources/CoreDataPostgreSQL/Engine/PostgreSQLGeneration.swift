import CoreData
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage
import Dispatch
import Synchronization

/// The store as it was at one moment: a connection beside the pool that holds a transaction open under REPEATABLE READ,
/// whose snapshot the first read takes.
///
/// As long as it lasts the server removes no row version of the whole database that it may still see. So generations are
/// counted, and end by themselves at a certain age. May be used from any thread; reads follow one another.
final class PostgreSQLGeneration: StoreReading {
  private struct State: @unchecked Sendable {
    // Unchecked: used under the lock.
    var connection: PostgreSQLConnection?
    var isCounted = false
  }

  private let _engine: PostgreSQLStoreEngine
  private let _state: Mutex<State>

  /// - Throws: `PostgreSQLError` when no further connection can be made.
  init(_ engine: PostgreSQLStoreEngine) throws {
    _engine = engine
    let connection = try engine.pool.makeConnection()
    try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    _state = Mutex(State(connection: connection, isCounted: true))
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + engine.generations.maximumAge) {
      [weak self] in self?._end()
    }
  }

  deinit { _end() }

  /// Gives the connection back, and the place among the generations.
  private func _end() {
    let isFirst = _state.withLock { state in
      defer { state = State() }
      return state.isCounted
    }
    if isFirst { _engine.generations.close() }
  }

  /// Runs a read. What fails inside does not end the transaction, and with it the state.
  private func _read<Result: Sendable>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    try PostgreSQLStoreError.translating {
      try _state.withLock { state in
        guard let connection = state.connection else {
          throw PostgreSQLStoreError.generationGone("it was kept for \(_engine.generations.maximumAge) s")
        }
        do {
          try connection.execute("SAVEPOINT read")
          do {
            let found = try body(connection)
            try connection.execute("RELEASE SAVEPOINT read")
            return found
          } catch {
            if connection.isUsable { try? connection.execute("ROLLBACK TO SAVEPOINT read") }
            throw error
          }
        } catch let error as PostgreSQLError where error.isConnectionLost {
          state.connection = nil
          throw PostgreSQLStoreError.generationGone(error.message)
        }
      }
    }
  }

  var spaces: [ObjectIDSpace] { _engine.spaces }

  func fetch(_ plan: FetchPlan) throws -> [StoredObject] { try _read { try _engine.fetch(plan, on: $0) } }

  func count(_ plan: FetchPlan) throws -> Int { try _read { try _engine.count(plan, on: $0) } }

  func table(_ plan: DictionaryPlan) throws -> [[Value]] {
    do {
      return try _read { connection in
        do {
          return try _engine.table(plan, on: connection)
        } catch let error as PostgreSQLError where error.isUngrouped {
          throw Ungrouped()
        }
      }
    } catch is Ungrouped {
      return try _read { try PostgreSQLView(_engine, $0).table(plan) }
    }
  }

  private struct Ungrouped: Error {}

  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    if keys.isEmpty { return [] }
    return try _read { try _engine.rows(for: keys, on: $0) }
  }

  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    try _read { try _engine.related(to: owners, slot: slot, on: $0) }
  }
}

/// How many generations of a store there may be, and how many there are.
final class PostgreSQLGenerations: Sendable {
  /// Zero where the store keeps none.
  let maximumCount: Int
  /// Seconds after which a generation ends.
  let maximumAge: Double
  private let _count = Mutex(0)

  init(maximumCount: Int, maximumAge: Double) {
    self.maximumCount = max(0, maximumCount)
    self.maximumAge = max(0.1, maximumAge)
  }

  /// - Throws: `PostgreSQLStoreError.timeout` when there are as many as there may be.
  func open() throws {
    try _count.withLock { count in
      guard count < maximumCount else {
        throw PostgreSQLStoreError.timeout(
          "\(count) query generations are in use, as many as NSPostgreSQLQueryGenerationsOption allows; unpin contexts, or "
            + "raise it")
      }
      count += 1
    }
  }

  func close() { _count.withLock { $0 -= 1 } }
}

extension PostgreSQLStoreEngine: GenerationKeeping {
  /// Nil unless `NSPostgreSQLQueryGenerationsOption` is given.
  func openGeneration() throws -> (any StoreReading)? {
    guard generations.maximumCount > 0 else { return nil }
    try generations.open()
    do {
      return try PostgreSQLStoreError.translating { try PostgreSQLGeneration(self) }
    } catch {
      generations.close()
      throw error
    }
  }
}
