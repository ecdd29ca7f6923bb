import Synchronization

/// Caches compiled queries by shape.
package final class QueryCache<Shape: Hashable & Sendable, Query: Sendable>: Sendable {
  /// Maximum number of shapes; the cache is cleared when it overflows.
  private static var _capacity: Int { 1024 }
  private struct Known {
    var queries: [Shape: Query] = [:]
    /// The latest query, which spares a program that fetches in a loop from hashing the shape each time.
    var last: (shape: Shape, query: Query)?
  }

  private let _known = Mutex(Known())

  package init() {}

  /// Returns the query for `shape`; compiles it with `make` on the first use.
  package func query(_ shape: Shape, _ make: () throws -> Query) rethrows -> Query {
    let known = _known.withLock { known -> Query? in
      if let last = known.last, last.shape == shape { return last.query }
      guard let query = known.queries[shape] else { return nil }
      known.last = (shape, query)
      return query
    }
    if let known { return known }
    // Outside the lock: two threads may both compile the query; either result will do.
    let made = try make()
    return _known.withLock { known in
      if let query = known.queries[shape] { return query }
      if known.queries.count >= Self._capacity { known.queries.removeAll(keepingCapacity: true) }
      known.queries[shape] = made
      return made
    }
  }

  /// Number of shapes, for tests.
  package var count: Int { _known.withLock { $0.queries.count } }
}
