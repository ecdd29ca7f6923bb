import Foundation

/// A value that is opaque to the language: a managed object, an object ID, any object of the caller's. Equal
/// by `isEqual`/`==` of the wrapped value.
package struct PredicateObject: @unchecked Sendable, Hashable {
  // Unchecked: the language only compares and returns the object; its owner determines on which threads that
  // is allowed.
  package let base: AnyHashable

  package init(_ base: AnyHashable) { self.base = base }
}

/// A constant in a predicate, and equally the value of an expression when it is evaluated in memory.
package enum PredicateValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case decimal(Decimal)
  case string(String)
  /// Seconds since 2001-01-01 00:00 UTC.
  case date(Double)
  case data(Data)
  case uuid(UUID)
  case url(URL)
  case object(PredicateObject)
  /// An array, a set or the values of a dictionary; ordered if the original was.
  case collection([PredicateValue])
  /// String-keyed dictionary, for `dict["key"]`.
  case dictionary([String: PredicateValue])
}
