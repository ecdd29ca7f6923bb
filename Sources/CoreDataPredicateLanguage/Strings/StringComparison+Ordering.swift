import Foundation

/// Ordering of strings.
extension StringComparison {
  /// Compares two strings for sorting.
  package static func compare(_ left: String, _ right: String, _ ordering: Ordering) -> ComparisonResult {
    switch ordering {
    case .binary: return withBytes(left, right, compareBytes)
    case .caseInsensitive: return withBytes(left, right) { compare($0, $1, options: .caseInsensitive) }
    case .localized, .localizedCaseInsensitive, .localizedStandard:
      if PlainCollation.isCurrent,
        let result = withBytes(left, right, { PlainCollation.compare($0, $1, ordering) })
      {
        return result
      }
      return _compareByLocale(left, right, ordering)
    }
  }

  /// Compares two texts in UTF-8, as SQLite collations receive them.
  package static func compare(_ left: Bytes, _ right: Bytes, _ ordering: Ordering) -> ComparisonResult {
    switch ordering {
    case .binary: return compareBytes(left, right)
    case .caseInsensitive: return compare(left, right, options: .caseInsensitive)
    case .localized, .localizedCaseInsensitive, .localizedStandard:
      if PlainCollation.isCurrent, let result = PlainCollation.compare(left, right, ordering) {
        return result
      }
      return _compareByLocale(text(left), text(right), ordering)
    }
  }

  private static func _compareByLocale(_ left: String, _ right: String, _ ordering: Ordering)
    -> ComparisonResult
  {
    switch ordering {
    case .binary: withBytes(left, right, compareBytes)
    case .caseInsensitive: left.caseInsensitiveCompare(right)
    case .localized: left.localizedCompare(right)
    case .localizedCaseInsensitive: left.localizedCaseInsensitiveCompare(right)
    case .localizedStandard: left.localizedStandardCompare(right)
    }
  }

  /// Compares two strings for `<`, `<=`, `>`, `>=` and BETWEEN.
  package static func compare(_ left: String, _ right: String, options: Options) -> ComparisonResult {
    withBytes(left, right) { compare($0, $1, options: options) }
  }

  package static func compare(_ left: Bytes, _ right: Bytes, options: Options) -> ComparisonResult {
    let options = effective(options)
    if options.isEmpty { return compareBytes(left, right) }
    if options.contains(.localeSensitive) {
      return text(left).compare(
        text(right), options: foundationOptions(options), range: nil, locale: .current)
    }
    if isASCII(left), isASCII(right) {
      return options.contains(.caseInsensitive) ? _compareLowered(left, right) : compareBytes(left, right)
    }
    let (first, second) = (FoldedText(left, options).scalars, FoldedText(right, options).scalars)
    if first == second { return .orderedSame }
    return first.lexicographicallyPrecedes(second) ? .orderedAscending : .orderedDescending
  }

  static func compareBytes(_ left: Bytes, _ right: Bytes) -> ComparisonResult {
    let count = min(left.count, right.count)
    if count > 0, let l = left.baseAddress, let r = right.baseAddress {
      let order = memcmp(l, r, count)
      if order != 0 { return order < 0 ? .orderedAscending : .orderedDescending }
    }
    return left.count == right.count
      ? .orderedSame : left.count < right.count ? .orderedAscending : .orderedDescending
  }

  private static func _compareLowered(_ left: Bytes, _ right: Bytes) -> ComparisonResult {
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
      let (first, second) = (lowered(left[index]), lowered(right[index]))
      if first != second { return first < second ? .orderedAscending : .orderedDescending }
    }
    return left.count == right.count
      ? .orderedSame : left.count < right.count ? .orderedAscending : .orderedDescending
  }
}

/// The order of most locales for texts of ASCII letters, digits and spaces, without the collator, which costs
/// a hundred times as much: spaces, then digits, then letters; case only breaks ties, lower case first.
enum PlainCollation {
  /// Whether the current locale orders such texts in the plain way; some sort `ch` or `aa` as letters.
  static let isCurrent: Bool = {
    let plain: Set<String> = ["en", "de", "fr", "it", "pt", "es", "nl", "pl", "ru", "uk", "ja", "zh", "ko"]
    let locale = Locale.current
    guard let language = locale.language.languageCode?.identifier, plain.contains(language) else {
      return false
    }
    // An explicit collation, such as German phone book order, requires the collator; so does C.
    return !locale.identifier.contains("@") && !locale.identifier.uppercased().contains("POSIX")
  }()

  /// 0 other, 1 space, 2…11 digits, 12…37 letters.
  private static let _weights: [UInt8] = (0..<256).map { value in
    switch UInt8(value) {
    case 0x20: 1
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(value) - UInt8(ascii: "0") + 2
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt8(value) - UInt8(ascii: "a") + 12
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt8(value) - UInt8(ascii: "A") + 12
    default: 0
    }
  }

  /// Compares two plain texts; nil if one of them contains other characters.
  static func compare(
    _ left: StringComparison.Bytes, _ right: StringComparison.Bytes, _ ordering: StringComparison.Ordering
  ) -> ComparisonResult? {
    _weights.withUnsafeBufferPointer { weights in
      guard left.allSatisfy({ weights[Int($0)] != 0 }), right.allSatisfy({ weights[Int($0)] != 0 }) else {
        return nil
      }
      return ordering == .localizedStandard
        ? _compareNumerically(left, right, weights) : _compare(left, right, weights, ordering == .localized)
    }
  }

  private static func _compare(
    _ left: StringComparison.Bytes, _ right: StringComparison.Bytes, _ weights: UnsafeBufferPointer<UInt8>,
    _ breaksTiesByCase: Bool
  ) -> ComparisonResult {
    var tie = ComparisonResult.orderedSame
    for index in 0..<min(left.count, right.count) where left[index] != right[index] {
      let (first, second) = (weights[Int(left[index])], weights[Int(right[index])])
      if first != second { return first < second ? .orderedAscending : .orderedDescending }
      // The same letter in two cases: lower case has the larger byte and comes first.
      if tie == .orderedSame { tie = left[index] > right[index] ? .orderedAscending : .orderedDescending }
    }
    if left.count != right.count { return left.count < right.count ? .orderedAscending : .orderedDescending }
    return breaksTiesByCase ? tie : .orderedSame
  }

  private static func _compareNumerically(
    _ left: StringComparison.Bytes, _ right: StringComparison.Bytes, _ weights: UnsafeBufferPointer<UInt8>
  ) -> ComparisonResult? {
    var tie = ComparisonResult.orderedSame
    var (i, j) = (0, 0)
    func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    func end(of bytes: StringComparison.Bytes, from start: Int) -> Int {
      var index = start
      while index < bytes.count, isDigit(bytes[index]) { index += 1 }
      return index
    }
    while i < left.count, j < right.count {
      if isDigit(left[i]), isDigit(right[j]) {
        let (iEnd, jEnd) = (end(of: left, from: i), end(of: right, from: j))
        // Leading zeros, and numbers beyond the collator's range, are left to the collator.
        guard left[i] != 0x30 || iEnd == i + 1, right[j] != 0x30 || jEnd == j + 1 else { return nil }
        guard iEnd - i < 200, jEnd - j < 200 else { return nil }
        if iEnd - i != jEnd - j { return iEnd - i < jEnd - j ? .orderedAscending : .orderedDescending }
        for offset in 0..<(iEnd - i) where left[i + offset] != right[j + offset] {
          return left[i + offset] < right[j + offset] ? .orderedAscending : .orderedDescending
        }
        (i, j) = (iEnd, jEnd)
        continue
      }
      if left[i] != right[j] {
        let (first, second) = (weights[Int(left[i])], weights[Int(right[j])])
        if first != second { return first < second ? .orderedAscending : .orderedDescending }
        if tie == .orderedSame { tie = left[i] > right[j] ? .orderedAscending : .orderedDescending }
      }
      i += 1
      j += 1
    }
    if i < left.count { return .orderedDescending }
    if j < right.count { return .orderedAscending }
    return tie
  }
}
