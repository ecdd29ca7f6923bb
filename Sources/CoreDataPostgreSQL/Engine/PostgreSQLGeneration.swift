import CoreData
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage
import Dispatch
import Synchronization

/// A snapshot of the store: a connection outside the pool with an open REPEATABLE READ transaction, whose
/// first read takes the snapshot.
///
/// While it exists, the server cannot vacuum row versions visible to it, in the whole database. Generations
/// are therefore limited in number and expire at a certain age. May be used from any thread; reads are
/// serialized.
final class PostgreSQLGeneration: StoreReading {
  private struct State: @unchecked Sendable {
    // Unchecked: accessed under the lock only.
    var connection: PostgreSQLConnection?
    var isCounted = false
  }

  private let _engine: PostgreSQLStoreEngine
  private let _state: Mutex<State>

  /// - Throws: `PostgreSQLError` if no further connection can be opened.
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

  /// Closes the connection and frees the slot among the generations.
  private func _end() {
    let isFirst = _state.withLock { state in
      defer { state = State() }
      return state.isCounted
    }
    if isFirst { _engine.generations.close() }
  }

  /// Runs a read under a savepoint, so that an error in it does not end the transaction and lose the
  /// snapshot.
  private func _read<Result: Sendable>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    try PostgreSQLStoreError.translating {
      try _state.withLock { state in
        guard let connection = state.connection else {
          throw PostgreSQLStoreError.generationGone("it was kept for \(_engine.generations.maximumAge) s")
        }
        connection.deadline = _engine.deadline
        do {
          try connection.execute("SAVEPOINT read")
          do {
            let found = try body(connection)
            try connection.execute("RELEASE SAVEPOINT read")
            return found
          } catch {
            // The read's deadline may be why it failed.
            connection.deadline = _engine.deadline
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

/// Counts the open generations of a store against their limit.
final class PostgreSQLGenerations: Sendable {
  /// Zero if the store keeps no generations.
  let maximumCount: Int
  /// Seconds after which a generation expires.
  let maximumAge: Double
  private let _count = Mutex(0)

  init(maximumCount: Int, maximumAge: Double) {
    self.maximumCount = max(0, maximumCount)
    self.maximumAge = max(0.1, maximumAge)
  }

  /// - Throws: `PostgreSQLStoreError.timeout` if the limit is reached.
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
  /// Returns nil unless `NSPostgreSQLQueryGenerationsOption` is set.
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
