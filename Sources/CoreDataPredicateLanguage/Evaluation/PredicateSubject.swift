import Foundation

/// What a predicate is evaluated on, and what it may ask about the objects it meets on the way.
///
/// Give `predicateValue` and the two ways to read a key; the rest has defaults. Values found are never kept
/// beyond the evaluation. Answer every number as one of the number cases and every absent value as `.null`.
package protocol PredicateSubject {
  /// The evaluated object itself: SELF.
  var predicateValue: PredicateValue { get }

  /// Whether it is something that keys are read of, not nil nor a collection, which keys are read through. By
  /// default `predicateValue` tells; a subject that knows better saves making one for every key.
  var isReadByKey: Bool { get }

  /// Value of the evaluated object for one key, no path.
  /// - Throws: `PredicateEvaluationError.unknownKey` if there is no such key.
  func predicateValue(forKey key: String) throws -> PredicateValue

  /// Value for one key of an object that the evaluation came upon, such as the end of a relationship.
  /// - Throws: `PredicateEvaluationError.unknownKey` if there is no such key.
  func predicateValue(forKey key: String, of object: PredicateObject) throws -> PredicateValue

  /// What an object is compared by: the same for a managed object and for its ID.
  func predicateIdentity(of object: PredicateObject) -> AnyHashable

  /// Whether a key path from the evaluated object passes through a to-many. By default true for paths of more than
  /// one key, since the schema is unknown.
  func isToMany(_ path: [String]) -> Bool

  /// Result of FUNCTION(target, 'selector', …), and of a comparison by selector, for selectors that the
  /// language does not know by itself; nil if the target does not answer to it.
  func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue?

  /// Result of FETCH(request, context, countOnly).
  func predicateResult(
    ofFetch request: PredicateValue, in context: PredicateValue, countOnly: Bool
  ) throws -> PredicateValue

  /// Result of a closure: of a predicate, a boolean, with `arguments` nil; of an expression, its value.
  func predicateResult(
    ofBlock block: PredicateObject, arguments: [PredicateValue]?, variables: [String: PredicateValue]
  ) throws -> PredicateValue
}

extension PredicateSubject {
  package var isReadByKey: Bool {
    switch predicateValue {
    case .null, .collection: false
    default: true
    }
  }

  package func predicateIdentity(of object: PredicateObject) -> AnyHashable { object.base }

  package func isToMany(_ path: [String]) -> Bool { path.count > 1 }

  package func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue? { nil }

  package func predicateResult(
    ofFetch request: PredicateValue, in context: PredicateValue, countOnly: Bool
  ) throws -> PredicateValue {
    throw PredicateEvaluationError.unsupported("FETCH can only be evaluated where there is a context.")
  }

  package func predicateResult(
    ofBlock block: PredicateObject, arguments: [PredicateValue]?, variables: [String: PredicateValue]
  ) throws -> PredicateValue {
    throw PredicateEvaluationError.unsupported("A predicate made of a closure cannot be evaluated here.")
  }
}

/// A plain value as the subject: a number, a string, a dictionary, a collection of those.
package struct ValueSubject: PredicateSubject {
  package let predicateValue: PredicateValue

  package init(_ value: PredicateValue) { predicateValue = value }

  package func predicateValue(forKey key: String) throws -> PredicateValue {
    try predicateValue.plainValue(forKey: key)
  }

  package func predicateValue(forKey key: String, of object: PredicateObject) throws -> PredicateValue {
    throw PredicateEvaluationError.unknownKey(key, of: String(describing: object.base.base))
  }
}

extension PredicateValue {
  /// Value for a key of something that is no object of the caller's: an entry of a dictionary, the length of
  /// a string.
  /// - Throws: `PredicateEvaluationError.unknownKey`.
  package func plainValue(forKey key: String) throws -> PredicateValue {
    if case .dictionary(let entries) = self { return entries[key] ?? .null }
    if key == "self" { return self }
    if let value = try SelectorCall.value(of: key, on: self, arguments: []) { return value }
    throw PredicateEvaluationError.unknownKey(key, of: kindName.prefix(1).uppercased() + kindName.dropFirst())
  }
}
