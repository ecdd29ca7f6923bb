import Foundation

/// The value of a property of a model that isn't inserted yet. The frequent types lie in it as they are.
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

  /// The value, of the property's type or, for an optional one, of what it wraps; nil while there is none.
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

/// A value that is kept elsewhere, so that those of the frequent types need less space.
final class DetachedBox {
  let value: Any
  init(_ value: Any) { self.value = value }
}
