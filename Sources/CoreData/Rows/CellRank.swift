/// A cell's place among the values of its attribute: a number that does not decrease where the values increase.
///
/// Different values may have the same rank, as texts with the same first eight bytes do: a rank narrows down, a
/// comparison decides.
struct CellRank: Comparable {
  private let _number: UInt64

  /// Creates the rank of a cell; nil for null and for values that have none.
  init?(_ value: Value) {
    switch value {
    case .int(let int): _number = UInt64(bitPattern: int) ^ Self._sign
    case .double(let double): _number = Self._number(double)
    case .string(var text): _number = text.withUTF8 { Self._number($0, padding: 0) }
    default: return nil
    }
  }

  private init(_ number: UInt64) { _number = number }

  static func < (left: CellRank, right: CellRank) -> Bool { left._number < right._number }

  static let least = CellRank(UInt64.min)
  static let greatest = CellRank(UInt64.max)

  /// The greatest rank of a text with a prefix.
  static func last(with prefix: String) -> CellRank {
    var prefix = prefix
    return CellRank(prefix.withUTF8 { _number($0, padding: 0xFF) })
  }

  private static let _sign: UInt64 = 1 << 63

  /// As `Value.order` has it, both zeros are equal, and what is not a number is greater than all numbers.
  private static func _number(_ double: Double) -> UInt64 {
    if double.isNaN { return .max }
    let bits = (double + 0.0).bitPattern
    return bits & _sign == 0 ? bits | _sign : ~bits
  }

  private static func _number(_ bytes: UnsafeBufferPointer<UInt8>, padding: UInt8) -> UInt64 {
    var number: UInt64 = 0
    for position in 0..<8 {
      number = number << 8 | UInt64(position < bytes.count ? bytes[position] : padding)
    }
    return number
  }
}

/// The ranks of an attribute's cells that may satisfy a predicate.
struct CellRange {
  let slot: Int
  var least = CellRank.least
  var greatest = CellRank.greatest

  func contains(_ rank: CellRank) -> Bool { least <= rank && rank <= greatest }

  /// The ranks in both ranges, which are of the same slot.
  func intersection(_ other: CellRange) -> CellRange {
    CellRange(slot: slot, least: max(least, other.least), greatest: min(greatest, other.greatest))
  }
}
