import CoreDataToolKit
import Foundation

/// The time zone in which a tool reads and writes moments.
package struct TimeZoneText: Sendable {
  /// UTC, as everywhere where no zone is given.
  package static let utc = TimeZoneText(TimeZone(secondsFromGMT: 0)!)

  private let _zone: TimeZone
  private let _isUTC: Bool

  private init(_ zone: TimeZone) {
    _zone = zone
    _isUTC = zone.secondsFromGMT() == 0 && zone.nextDaylightSavingTimeTransition == nil
  }

  /// The zone's name.
  package var name: String { _isUTC ? "UTC" : _zone.identifier }

  /// Reads a name such as `Europe/Berlin`, an offset such as `+02:00`, `UTC`, or `local` for the system's zone.
  ///
  /// - Throws: `ToolFailure` for any other text.
  package init(_ text: String) throws(ToolFailure) {
    if text.lowercased() == "local" {
      self.init(TimeZone.current)
    } else if let seconds = Self._offset(text) {
      guard let zone = TimeZone(secondsFromGMT: seconds) else { throw Self._failure(text) }
      self.init(zone)
    } else {
      let name = TimeZone.knownTimeZoneIdentifiers.first { $0.lowercased() == text.lowercased() } ?? text
      guard name.first?.isLetter == true, let zone = TimeZone(identifier: name) else {
        throw Self._failure(text)
      }
      self.init(zone)
    }
  }

  private static func _failure(_ text: String) -> ToolFailure {
    let names = TimeZone.knownTimeZoneIdentifiers
    return ToolFailure(
      .usage,
      "There is no time zone '\(text)'."
        + SpellingSuggestion.question(
          about: text, among: names,
          or: " Give a name such as Europe/Berlin, an offset such as +02:00, or 'local'."))
  }

  /// Seconds of `Z`, `UTC`, `+02`, `+0200` or `-03:30`.
  private static func _offset(_ text: String) -> Int? {
    if ["z", "utc", "gmt"].contains(text.lowercased()) { return 0 }
    guard let match = text.wholeMatch(of: /([+-])([0-9]{2}):?([0-9]{2})?/), let hours = Int(match.2),
      hours < 19
    else { return nil }
    let minutes = match.3.map { Int($0) ?? 60 } ?? 0
    guard minutes < 60 else { return nil }
    return (match.1 == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  /// Seconds that clocks of the zone are ahead of UTC at a moment.
  private func _offset(at seconds: Double) -> Double {
    // A damaged store may have any number, and zones say nothing of years beyond four digits.
    guard !_isUTC, abs(seconds) < 2.5e11 else { return 0 }
    return Double(_zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: seconds)))
  }

  /// Returns the moment at which clocks of the zone show a time.
  ///
  /// - Parameter seconds: Seconds since 2001-01-01 00:00 on such a clock. Of a time that
  ///   clocks show twice the first is meant.
  package func moment(ofClock seconds: Double) -> Double {
    let before = _offset(at: seconds - 86_400)
    let first = seconds - before
    let after = _offset(at: first)
    if after == before { return first }
    let second = seconds - after
    // Neither is right for a time that is skipped: then clocks have gone on by as much.
    return _offset(at: second) == after ? second : first
  }

  /// The moment as ISO 8601, as `ISODate.text`, in this zone.
  package func text(_ seconds: Double) -> String {
    let offset = _offset(at: seconds)
    guard !_isUTC, abs(seconds) < 2.5e11 else { return ISODate.text(seconds) }
    let text = ISODate.text(seconds + offset)
    guard text.hasSuffix("Z") else { return ISODate.text(seconds) }
    let minutes = Int(abs(offset)) / 60
    return text.dropLast() + (offset < 0 ? "-" : "+") + _padded(minutes / 60) + ":" + _padded(minutes % 60)
  }

  /// The moment for display, as `ISODate.shown`, in this zone.
  package func shown(_ seconds: Double) -> String { ISODate.shown(seconds + _offset(at: seconds)) }

  private func _padded(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}
