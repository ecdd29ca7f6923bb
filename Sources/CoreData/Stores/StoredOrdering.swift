import CoreDataPredicateLanguage

/// Sorts stored objects by key paths through to-one relationships.
struct StoredOrdering {
  private let _terms: [FetchPlan.SortTerm]
  private let _source: StoredObjectSource

  /// - Parameter rows: Returns the row of an object; nil if it has none.
  init(terms: [FetchPlan.SortTerm], rows: @escaping (ObjectKey) throws -> Row?) {
    _terms = terms
    _source = StoredObjectSource(
      fetch: { _ in [] }, rows: { try $0.map(rows) }, related: { _, _ in [] })
  }

  /// Returns the objects, stably sorted.
  func sorted(_ objects: [StoredObject]) throws -> [StoredObject] {
    _source.keep(objects)
    let keyed = try objects.map { object in
      let subject = StoredSubject(key: object.key, source: _source)
      return (object: object, keys: try _terms.map { try _key($0.keyPath, of: subject) })
    }
    return try keyed.enumerated().sorted { left, right in
      for (index, term) in _terms.enumerated() {
        let verdict = try left.element.keys[index].sorted(
          against: right.element.keys[index], term.comparison.ordering)
        if verdict != .orderedSame { return (verdict == .orderedAscending) == term.ascending }
      }
      return left.offset < right.offset
    }.map(\.element.object)
  }

  /// Returns the value at the end of a path; an object sorts by its primary key.
  private func _key(_ path: [String], of subject: StoredSubject<StoredObjectSource>) throws -> PredicateValue
  {
    let path = path.filter { !RowOrdering.namesTheObject($0) }
    let value = try path.isEmpty ? subject.predicateValue : ExpressionTree.keyPath(path).value(for: subject)
    guard case .object(let object) = value, let id = object.objectID else {
      return value
    }
    return .int(id.key?.reference ?? .max)
  }
}
