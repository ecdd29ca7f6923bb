import Foundation

/// Formats numbers for display.
enum Amount {
  /// A whole number with separators: "1,000,000".
  static func text(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var result = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result += "," }
      result.append(digit)
    }
    return (number < 0 ? "-" : "") + result
  }

  /// A number without needless decimals.
  static func text(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? String(Int(number)) : String(format: "%.1f", number)
  }

  /// "1 row", "3 rows", "2 entities".
  static func text(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(text(count)) \(count == 1 ? noun : plural ?? noun + "s")"
  }

  /// A duration: "0.4 ms", "12 ms", "1.3 s".
  static func text(_ duration: Duration) -> String {
    let milliseconds =
      Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
    if milliseconds < 10 { return String(format: "%.1f ms", milliseconds) }
    if milliseconds < 1000 { return String(format: "%.0f ms", milliseconds) }
    return String(format: "%.1f s", milliseconds / 1000)
  }
}
