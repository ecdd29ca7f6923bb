import Foundation

/// Dates in ISO 8601, in UTC, with as many decimals as they have.
enum TextDate {
  /// The date of a text, with or without decimals; nil for another text.
  static func date(_ text: String) -> Date? {
    var whole = text
    var fraction = 0.0
    if let point = text.firstIndex(of: ".") {
      let rest = text[text.index(after: point)...]
      let digits = rest.prefix { $0.isNumber }
      guard !digits.isEmpty, let value = Double("0.\(digits)") else { return nil }
      fraction = value
      whole = String(text[..<point] + rest.dropFirst(digits.count))
    }
    let formatter = ISO8601DateFormatter()
    return formatter.date(from: whole)?.addingTimeInterval(fraction)
  }

  /// The text of a date, with milliseconds if it has a fraction.
  static func text(_ date: Date) -> String {
    let formatter = ISO8601DateFormatter()
    let seconds = date.timeIntervalSinceReferenceDate
    let milliseconds = (seconds * 1000).rounded()
    if milliseconds.truncatingRemainder(dividingBy: 1000) != 0 {
      formatter.formatOptions.insert(.withFractionalSeconds)
      return formatter.string(from: Date(timeIntervalSinceReferenceDate: milliseconds / 1000))
    }
    return formatter.string(from: Date(timeIntervalSinceReferenceDate: milliseconds / 1000))
  }
}
