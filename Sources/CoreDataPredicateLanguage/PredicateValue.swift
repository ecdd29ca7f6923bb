import Foundation

/// A value that is opaque to the language: a managed object, an object ID, any object of the caller's. Equal
/// by `isEqual`/`==` of the wrapped value.
package struct PredicateObject: @unchecked Sendable, Hashable {
  // Unchecked: the language only compares and returns the object; its owner determines on which threads that
  // is allowed.
  private enum _Storage {
    case value(AnyHashable)
    /// An object that `isEqual` compares. Wrapping it as AnyHashable would search for the class that made it
    /// hashable, each time.
    case reference(NSObject)
  }

  private let _storage: _Storage

  package init(_ base: AnyHashable) { _storage = .value(base) }

  package init(reference: NSObject) { _storage = .reference(reference) }

  /// The wrapped value, for comparing and hashing it.
  package var base: AnyHashable {
    switch _storage {
    case .value(let base): base
    case .reference(let object): AnyHashable(object)
    }
  }

  /// The wrapped object, if it was given as one.
  package var reference: NSObject? {
    if case .reference(let object) = _storage { object } else { nil }
  }

  /// The wrapped value itself.
  package var wrapped: Any {
    switch _storage {
    case .value(let base): base.base
    case .reference(let object): object
    }
  }

  package static func == (left: PredicateObject, right: PredicateObject) -> Bool {
    if case .reference(let mine) = left._storage, case .reference(let theirs) = right._storage {
      return mine === theirs || mine.isEqual(theirs)
    }
    return left.base == right.base
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(base) }
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
  /// Dictionary, for `dict["key"]` and `dict[4]`. Keys of other types than text are given as their text.
  case dictionary([String: PredicateValue])
}
