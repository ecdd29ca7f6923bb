import Synchronization

/// Compiled queries by shape.
final class QueryCache<Shape: Hashable & Sendable, Query: Sendable>: Sendable {
  /// Shapes kept; a program that makes up more starts over.
  private static var _capacity: Int { 1024 }
  private let _queries = Mutex<[Shape: Query]>([:])

  /// The query for `shape`, compiled by `make` when it is new.
  func query(_ shape: Shape, _ make: () throws -> Query) rethrows -> Query {
    if let known = _queries.withLock({ $0[shape] }) { return known }
    // Outside the lock: two threads may compile the same once, and either result will do.
    let made = try make()
    return _queries.withLock { queries in
      if let known = queries[shape] { return known }
      if queries.count >= Self._capacity { queries.removeAll(keepingCapacity: true) }
      queries[shape] = made
      return made
    }
  }

  /// Number of shapes, for tests.
  var count: Int { _queries.withLock { $0.count } }
}
