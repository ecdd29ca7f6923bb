import Foundation

/// Shows a number as the numeric type that a class declares its property with, whatever numeric type the model
/// gives it.
enum NumberCast<Target> {
  /// The number as the declared type; for nil zero, as Core Data's scalar accessors have it, or nil where the declared
  /// type is an optional number. Nil if it is no number, or if the declared type is no numeric one.
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

/// An optional of a numeric type.
private protocol OptionalNumber {
  static func wrapped(_ number: NSNumber) -> Any?
}

extension Optional: OptionalNumber {
  fileprivate static func wrapped(_ number: NSNumber) -> Any? { NumberCast<Wrapped>.value(number) }
}
