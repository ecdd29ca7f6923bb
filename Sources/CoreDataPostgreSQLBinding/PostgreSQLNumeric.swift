/// The binary form of a `numeric`.
enum PostgreSQLNumeric {
  /// Returns the number of base-10,000 digits, the weight of the first one, the sign, the number of decimal
  /// places, and the digits.
  static func words(of text: String) -> [UInt16] {
    if text == "NaN" { return [0, 0, 0xC000, 0] }
    let isNegative = text.first == "-"
    let parts = (isNegative ? text.dropFirst() : Substring(text)).split(
      separator: ".", omittingEmptySubsequences: false)
    let (whole, fraction) = (Array(parts[0].utf8), parts.count > 1 ? Array(parts[1].utf8) : [])
    let zero = UInt8(ascii: "0")
    let padded =
      Array(repeating: zero, count: (4 - whole.count % 4) % 4) + whole + fraction
      + Array(repeating: zero, count: (4 - fraction.count % 4) % 4)
    var digits = stride(from: 0, to: padded.count, by: 4).map { start in
      padded[start..<start + 4].reduce(UInt16(0)) { $0 * 10 + UInt16($1 - zero) }
    }
    var weight = (whole.count + 3) / 4 - 1
    while digits.first == 0 {
      digits.removeFirst()
      weight -= 1
    }
    while digits.last == 0 { digits.removeLast() }
    if digits.isEmpty { weight = 0 }
    return [
      UInt16(digits.count), UInt16(bitPattern: Int16(weight)), isNegative ? 0x4000 : 0,
      UInt16(fraction.count),
    ] + digits
  }
}
