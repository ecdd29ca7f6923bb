import CoreDataToolKit

/// A moment as people type it: `2021`, `2021-03`, `2021-03-07`, `2021-03-07 14:05`, with seconds, with their decimals, and with a
/// zone. It stands for the whole year, month, day, minute or second.
package struct TypedMoment {
  /// When it begins, in seconds since 2001-01-01 00:00 UTC.
  package let begin: Double
  /// The last moment of it.
  package let end: Double

  /// Reads ISO 8601; nil for any other text.
  ///
  /// - Parameter zone: The zone of text that names none.
  package init?(_ text: String, in zone: TimeZoneText) {
    let words = text.wholeMatch(of: /([+-]?[0-9]{4,6})(?:-([0-9]{2})(?:-([0-9]{2}))?)?(?:[T ](.*))?/)
    guard let words, let year = Int(words.1) else { return nil }
    let day = "\(words.1)-\(words.2 ?? "01")-\(words.3 ?? "01")"
    // February 31 would be a day in March.
    guard let first = ISODate.seconds(day), day.count != 10 || ISODate.text(first).hasPrefix(day) else {
      return nil
    }
    guard let time = words.4 else {
      guard let next = Self._next(year, words.2, words.3, first) else {
        return nil
      }
      begin = zone.moment(ofClock: first)
      end = zone.moment(ofClock: next).nextDown
      return
    }
    guard words.3 != nil, let clock = time.wholeMatch(of: /([0-9:.,]+)(Z|[+-][0-9:]{2,6})?/),
      let seconds = ISODate.seconds("\(day)T\(time)")
    else { return nil }
    begin = clock.2 == nil ? zone.moment(ofClock: seconds) : seconds
    let colons = clock.1.count { $0 == ":" }
    let hasDecimals = clock.1.contains { $0 == "." || $0 == "," }
    end = hasDecimals ? begin : (begin + (colons < 2 ? 60 : 1)).nextDown
  }

  /// The first moment after a year, a month or a day, on the same clock.
  private static func _next(_ year: Int, _ month: Substring?, _ day: Substring?, _ first: Double) -> Double? {
    func text(_ year: Int, _ month: Int) -> String {
      let digits = String(abs(year))
      let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
      return sign + padded + (month < 10 ? "-0" : "-") + "\(month)-01"
    }
    guard let month = month.flatMap({ Int($0) }) else { return ISODate.seconds(text(year + 1, 1)) }
    if day != nil { return first + 86_400 }
    return ISODate.seconds(month == 12 ? text(year + 1, 1) : text(year, month + 1))
  }
}
