/// Converts times to ISO 8601 text and back without loss, with as many decimals of a second as the stored
/// number needs.
///
/// Times are seconds since 2001-01-01 00:00 UTC, as Core Data stores them.
package enum ISODate {
  /// Returns text such as `2024-02-29T12:00:00.25Z`. A number that is not finite or exceeds a six-digit year
  /// is returned as a number.
  package static func text(_ seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 3.1e13 else { return "\(seconds)" }
    let parts = decimal(seconds)
    var whole = Int64(parts.whole) ?? 0
    var fraction = parts.fraction
    if parts.isNegative {
      whole = -whole
      if !fraction.isEmpty {
        whole -= 1
        fraction = _complement(fraction)
      }
    }
    let (day, second) = _divided(whole, by: 86_400)
    let date = _date(day + 11_323)
    let year = (0...9999).contains(date.year) ? _padded(date.year, 4) : _signed(date.year)
    let time = "\(_padded(second / 3600, 2)):\(_padded(second / 60 % 60, 2)):\(_padded(second % 60, 2))"
    let end = fraction.isEmpty ? "" : "." + fraction
    return "\(year)-\(_padded(date.month, 2))-\(_padded(date.day, 2))T\(time)\(end)Z"
  }

  /// The moment for display: `2024-02-29 12:00:00`, in UTC.
  package static func shown(_ seconds: Double) -> String {
    let text = Self.text(seconds.rounded(.down))
    guard text.hasSuffix("Z") else { return text }
    return String(text.dropLast()).replacing("T", with: " ")
  }

  /// Parses a time: the output of `text`, also without time, seconds or zone (UTC), or with another zone; or
  /// a plain number of seconds. Nil for any other text.
  package static func seconds(_ text: String) -> Double? {
    var scanner = Scanner(text)
    guard let date = scanner.date() else { return Double(text) }
    var whole = (_days(date) - 11_323) * 86_400
    var fraction = ""
    if scanner.consume("T") || scanner.consume(" ") {
      guard let time = scanner.time() else { return nil }
      whole += time.seconds
      fraction = time.fraction
    }
    guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
    whole -= offset
    while fraction.last == "0" { fraction.removeLast() }
    if whole >= 0 { return Double("\(whole).\(fraction.isEmpty ? "0" : fraction)") }
    if fraction.isEmpty { return Double(whole) }
    return Double("-\(-whole - 1).\(_complement(fraction))")
  }

  // MARK: Decimals

  /// The shortest decimal digits that read back as the same number, without exponent.
  package static func decimal(_ number: Double) -> (isNegative: Bool, whole: String, fraction: String) {
    var text = "\(abs(number))"
    var exponent = 0
    if let mark = text.firstIndex(of: "e") {
      exponent = Int(text[text.index(after: mark)...]) ?? 0
      text = String(text[..<mark])
    }
    let parts = text.split(separator: ".")
    var whole = String(parts[0])
    var fraction = parts.count > 1 ? String(parts[1]) : ""
    if exponent > 0 {
      let moved = fraction.prefix(exponent)
      whole += moved + String(repeating: "0", count: exponent - moved.count)
      fraction = String(fraction.dropFirst(exponent))
    } else if exponent < 0 {
      let digits = String(repeating: "0", count: -exponent) + whole
      whole = String(digits.dropLast(-exponent))
      fraction = String(digits.suffix(-exponent)) + fraction
      whole = String(whole.drop { $0 == "0" })
    }
    while fraction.last == "0" { fraction.removeLast() }
    return (number < 0, whole.isEmpty ? "0" : whole, fraction)
  }

  /// Digits of 1 - 0.`fraction`, for a fraction that does not end in 0.
  private static func _complement(_ fraction: String) -> String {
    var digits = fraction.utf8.map { 9 - ($0 - 48) }
    digits[digits.count - 1] += 1
    return String(decoding: digits.map { $0 + 48 }, as: UTF8.self)
  }

  private static func _padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func _signed(_ year: Int64) -> String { (year < 0 ? "-" : "+") + _padded(abs(year), 6) }

  // MARK: Calendar

  private static func _divided(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let quotient = number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
    return (quotient, number - quotient * divisor)
  }

  /// Days since 1970-01-01 of a Gregorian date, by whole cycles of 400 years that begin in March.
  private static func _days(_ date: (year: Int64, month: Int64, day: Int64)) -> Int64 {
    let year = date.month <= 2 ? date.year - 1 : date.year
    let (era, yearOfEra) = _divided(year, by: 400)
    let dayOfYear = (153 * ((date.month + 9) % 12) + 2) / 5 + date.day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func _date(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = _divided(days + 719_468, by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  // MARK: Scanning

  private struct Scanner {
    private var _rest: Substring.UTF8View

    init(_ text: String) { _rest = Substring(text).utf8 }

    var isAtEnd: Bool { _rest.isEmpty }

    mutating func consume(_ character: Character) -> Bool {
      guard _rest.first == character.asciiValue else { return false }
      _rest.removeFirst()
      return true
    }

    mutating func digits(_ counts: ClosedRange<Int>) -> String? {
      let found = _rest.prefix(while: { (48...57).contains($0) }).prefix(counts.upperBound)
      guard found.count >= counts.lowerBound else { return nil }
      _rest.removeFirst(found.count)
      return String(Substring(found))
    }

    mutating func number(_ count: Int, in allowed: ClosedRange<Int64>) -> Int64? {
      guard let text = digits(count...count), let number = Int64(text), allowed.contains(number) else {
        return nil
      }
      return number
    }

    mutating func date() -> (year: Int64, month: Int64, day: Int64)? {
      let isNegative = consume("-")
      let isLong = isNegative || consume("+")
      guard let text = digits(isLong ? 4...6 : 4...4), let year = Int64(text), consume("-"),
        let month = number(2, in: 1...12), consume("-"), let day = number(2, in: 1...31)
      else { return nil }
      return (isNegative ? -year : year, month, day)
    }

    mutating func time() -> (seconds: Int64, fraction: String)? {
      guard let hour = number(2, in: 0...24), consume(":"), let minute = number(2, in: 0...59) else {
        return nil
      }
      guard consume(":") else { return (hour * 3600 + minute * 60, "") }
      guard let second = number(2, in: 0...60) else { return nil }
      guard consume(".") || consume(",") else { return (hour * 3600 + minute * 60 + second, "") }
      guard let fraction = digits(1...400) else { return nil }
      return (hour * 3600 + minute * 60 + second, fraction)
    }

    /// Seconds east of Greenwich; 0 without a zone.
    mutating func zone() -> Int64? {
      if isAtEnd || consume("Z") { return 0 }
      let isWest = consume("-")
      guard isWest || consume("+"), let hours = number(2, in: 0...23) else { return nil }
      _ = consume(":")
      let minutes = isAtEnd ? 0 : number(2, in: 0...59)
      guard let minutes else { return nil }
      return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
  }
}
