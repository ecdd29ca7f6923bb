import Foundation

/// The value of a property of a model that isn't inserted yet. Frequent types are stored inline.
enum DetachedValue {
  /// The property has no value yet.
  case none
  case text(String)
  case whole(Int)
  case number(Double)
  case flag(Bool)
  /// Seconds since 2001.
  case date(Double)
  /// A value of the property's own type.
  case other(DetachedBox)

  /// The value, of the property's type or, for an optional one, of its wrapped type; nil without one.
  var any: Any? {
    switch self {
    case .none: nil
    case .text(let text): text
    case .whole(let number): number
    case .number(let number): number
    case .flag(let flag): flag
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .other(let box): box.value
    }
  }
}

/// A boxed value, which keeps the enumeration small for frequent types.
final class DetachedBox {
  let value: Any
  init(_ value: Any) { self.value = value }
}
