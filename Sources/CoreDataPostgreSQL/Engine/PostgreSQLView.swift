import CoreData
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage

/// A view of the store through one connection, for reads that belong together.
final class PostgreSQLView: StoreReading, @unchecked Sendable {
  // Unchecked: one thread at a time uses the view and its connection.
  private let _engine: PostgreSQLStoreEngine
  private let _connection: PostgreSQLConnection

  init(_ engine: PostgreSQLStoreEngine, _ connection: PostgreSQLConnection) {
    _engine = engine
    _connection = connection
  }

  var spaces: [ObjectIDSpace] { _engine.spaces }
  func fetch(_ plan: FetchPlan) throws -> [StoredObject] { try _engine.fetch(plan, on: _connection) }
  func count(_ plan: FetchPlan) throws -> Int { try _engine.count(plan, on: _connection) }
  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    keys.isEmpty ? [] : try _engine.rows(for: keys, on: _connection)
  }
  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    try _engine.related(to: owners, slot: slot, on: _connection)
  }
  // `table` is derived from these methods.
}
