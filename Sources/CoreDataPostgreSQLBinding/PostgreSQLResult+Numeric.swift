import Foundation

extension PostgreSQLResult {
  /// Returns a `numeric`, which is sent as base-10,000 digits; nil if it exceeds a decimal.
  package func decimal(_ row: Int, _ column: Int) -> Decimal? {
    let bytes = UnsafeRawBufferPointer(bytes(row, column))
    guard bytes.count >= 8 else { return nil }
    func word(_ place: Int) -> UInt16 {
      UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: place * 2, as: UInt16.self))
    }
    let count = Int(word(0)), weight = Int(Int16(bitPattern: word(1))), sign = word(2)
    if sign == 0xC000 { return .nan }
    guard sign == 0 || sign == 0x4000, bytes.count >= 8 + 2 * count else { return nil }
    if count == 0 { return 0 }
    // Formatted as an integer and a power of ten, which `Decimal` parses without loss.
    var digits = sign == 0x4000 ? "-" : ""
    for place in 0..<count {
      let text = String(word(4 + place))
      digits += place == 0 ? text : String(repeating: "0", count: 4 - text.count) + text
    }
    var exponent = (weight - count + 1) * 4
    while digits.last == "0" {
      digits.removeLast()
      exponent += 1
    }
    return Decimal(string: "\(digits)e\(exponent)", locale: nil)
  }
}
