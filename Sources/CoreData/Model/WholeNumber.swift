import Foundation

/// Truncates numbers for integer attributes.
enum WholeNumber {
  /// Returns the integer part of a number, clamped to the range, zero for NaN. Nil if `any` is not a number.
  static func of(_ any: Any) -> Int64? {
    func wide(_ number: some BinaryFloatingPoint) -> Double { Double(number) }
    return switch any {
    case let number as NSNumber: _of(number)
    case let number as Int: Int64(number)
    case let flag as Bool: flag ? 1 : 0
    case let number as any BinaryInteger: Int64(truncatingIfNeeded: number)
    case let number as any BinaryFloatingPoint: _of(wide(number))
    case let number as Decimal: _of(number)
    default: nil
    }
  }

  private static func _of(_ number: NSNumber) -> Int64 {
    if let decimal = number as? NSDecimalNumber { return _of(decimal.decimalValue) }
    return switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): _of(number.doubleValue)
    case UInt8(ascii: "Q"): Int64(bitPattern: number.uint64Value)
    default: number.int64Value
    }
  }

  private static func _of(_ number: Double) -> Int64 {
    if number.isNaN { return 0 }
    return Int64(exactly: number.rounded(.towardZero)) ?? (number < 0 ? .min : .max)
  }

  private static func _of(_ decimal: Decimal) -> Int64 {
    if decimal.isNaN { return 0 }
    var (size, whole) = (decimal.magnitude, Decimal())
    NSDecimalRound(&whole, &size, 0, .down)
    // By its text, which contains all digits.
    return Int64((decimal.isSignMinus ? "-" : "") + whole.description) ?? (decimal.isSignMinus ? .min : .max)
  }
}
