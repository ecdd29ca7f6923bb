import Foundation

/// Something a predicate can hold that the language itself knows nothing about: a managed object, an object
/// ID, any object of the caller's. Equal by `isEqual`/`==` of what it wraps.
package struct PredicateObject: @unchecked Sendable, Hashable {
  // Unchecked: the language only compares and hands back what it was given; the owner of the object decides
  // from which thread that may happen.
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
