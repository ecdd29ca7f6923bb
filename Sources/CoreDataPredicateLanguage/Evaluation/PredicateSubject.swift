import Foundation

/// The subject of a predicate, with access to the objects encountered during evaluation.
///
/// Implement `predicateValue` and the two methods that read a key; the rest has defaults. Values are never
/// retained beyond the evaluation. Return every number as one of the number cases and every absent value as
/// `.null`.
package protocol PredicateSubject {
  /// The evaluated object itself: SELF.
  var predicateValue: PredicateValue { get }

  /// Whether keys are read from the subject itself: it is neither nil nor a collection, through which keys
  /// are read. Determined from `predicateValue` by default; overriding it avoids creating that value for
  /// every key.
  var isReadByKey: Bool { get }

  /// Returns the evaluated object's value for one key (not a key path).
  /// - Throws: `PredicateEvaluationError.unknownKey` if there is no such key.
  func predicateValue(forKey key: String) throws -> PredicateValue

  /// Returns the value for one key of an object encountered in the evaluation, such as the destination of a
  /// relationship.
  /// - Throws: `PredicateEvaluationError.unknownKey` if there is no such key.
  func predicateValue(forKey key: String, of object: PredicateObject) throws -> PredicateValue

  /// Returns the number of members of a to-many, without making a value of each; nil if the key names none, and
  /// its value is read.
  /// - Parameter object: The object encountered in the evaluation that has them; nil for the evaluated object.
  func predicateMemberCount(forKey key: String, of object: PredicateObject?) throws -> Int?

  /// Returns the value by which an object is compared: the same for a managed object and its ID.
  func predicateIdentity(of object: PredicateObject) -> AnyHashable

  /// Whether the identity of an object can no longer change. An object without a row has a temporary one.
  func hasFinalIdentity(_ object: PredicateObject) -> Bool

  /// A number that changes whenever the identity of any object may have changed; nil while one is changing.
  var identityVersion: Int? { get }

  /// Whether a key path from the evaluated object passes through a to-many. By default true for paths of more
  /// than one key, since the schema is unknown.
  func isToMany(_ path: [String]) -> Bool

  /// Returns the result of FUNCTION(target, 'selector', …), and of a comparison by selector, for selectors
  /// that are not predefined; nil if the target does not implement it.
  func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue?

  /// Returns the result of FETCH(request, context, countOnly).
  func predicateResult(
    ofFetch request: PredicateValue, in context: PredicateValue, countOnly: Bool
  ) throws -> PredicateValue

  /// Returns the result of a closure: for a predicate, with `arguments` nil, a boolean; for an expression,
  /// its value.
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

  package func predicateMemberCount(forKey key: String, of object: PredicateObject?) throws -> Int? { nil }

  package func predicateIdentity(of object: PredicateObject) -> AnyHashable { object.base }

  package func hasFinalIdentity(_ object: PredicateObject) -> Bool { true }

  package var identityVersion: Int? { 0 }

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
    throw PredicateEvaluationError.unknownKey(key, of: String(describing: object.wrapped))
  }
}

extension PredicateValue {
  /// Value for a key of a value that is not one of the caller's objects: an entry of a dictionary, the length
  /// of a string.
  /// - Throws: `PredicateEvaluationError.unknownKey`.
  package func plainValue(forKey key: String) throws -> PredicateValue {
    if case .dictionary(let entries) = self { return entries[key] ?? .null }
    if key == "self" { return self }
    if let value = try SelectorCall.value(of: key, on: self, arguments: []) { return value }
    throw PredicateEvaluationError.unknownKey(key, of: kindName.prefix(1).uppercased() + kindName.dropFirst())
  }
}
