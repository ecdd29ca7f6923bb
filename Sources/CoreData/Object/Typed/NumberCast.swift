import Foundation

/// Casts a number to the numeric type that a class declares for a property, which may differ from the
/// model's.
enum NumberCast<Target> {
  /// Returns a number as the declared type. Nil becomes zero, as with Core Data's scalar accessors, or nil if
  /// the declared type is optional. Returns nil if the value or the type is not numeric.
  static func value(_ found: Any?) -> Target? {
    guard found == nil || found is NSNumber else { return nil }
    let number = found as? NSNumber ?? 0
    switch Target.self {
    case let type as any FixedWidthInteger.Type: return _integer(number, type) as? Target
    case let type as any BinaryFloatingPoint.Type: return _floating(number, type) as? Target
    case let type as any OptionalNumber.Type: return found == nil ? nil : type.wrapped(number) as? Target
    default: return nil
    }
  }

  private static func _integer<Integer: FixedWidthInteger>(_ number: NSNumber, _ type: Integer.Type) -> Any {
    Integer(truncatingIfNeeded: WholeNumber.of(number) ?? 0)
  }

  private static func _floating<Floating: BinaryFloatingPoint>(_ number: NSNumber, _ type: Floating.Type)
    -> Any
  {
    Floating(number.doubleValue)
  }
}

/// An optional numeric type.
private protocol OptionalNumber {
  static func wrapped(_ number: NSNumber) -> Any?
}

extension Optional: OptionalNumber {
  fileprivate static func wrapped(_ number: NSNumber) -> Any? { NumberCast<Wrapped>.value(number) }
}
