import Foundation

/// String comparison, shared by evaluation in memory and, registered as functions and collations, SQL.
///
/// Every test has two forms, for strings and for their UTF-8 bytes, which need not be valid. Without options,
/// and with `.normalized`, comparisons are by bytes, like SQLite's BINARY collation. `.caseInsensitive` folds
/// case with the language-neutral Unicode mappings; `.diacriticInsensitive` ignores combining marks, whether
/// separate or precomposed; with either of them canonically equivalent texts are equal. `.localeSensitive`
/// uses the current locale's rules. All functions may be called on any thread.
package enum StringComparison {
  package typealias Options = PredicateTree.Comparison.Options
  package typealias Bytes = UnsafeBufferPointer<UInt8>

  /// The order of strings in a sort descriptor.
  package enum Ordering: Sendable, Hashable {
    /// By bytes: SQLite's BINARY.
    case binary
    case caseInsensitive
    case localized
    case localizedCaseInsensitive
    /// Like file lists: locale-aware, with numbers by value.
    case localizedStandard
  }

  /// The effective options: `.normalized` supersedes the others.
  @inline(__always)
  static func effective(_ options: Options) -> Options {
    options.contains(.normalized) ? [] : options
  }

  // MARK: Equality

  package static func equal(_ left: String, _ right: String, options: Options = []) -> Bool {
    withBytes(left, right) { equal($0, $1, options: options) }
  }

  package static func equal(_ left: Bytes, _ right: Bytes, options: Options = []) -> Bool {
    let options = effective(options)
    if options.isEmpty { return left.count == right.count && isSame(left[...], right[...]) }
    if options.contains(.localeSensitive) {
      return compare(text(left), text(right), options: options) == .orderedSame
    }
    if isASCII(left), isASCII(right) {
      return left.count == right.count
        && (options.contains(.caseInsensitive)
          ? isSameLowered(left[...], right[...]) : isSame(left[...], right[...]))
    }
    if FoldedWindows.isLarge(left) || FoldedWindows.isLarge(right) {
      var (mine, theirs) = (FoldedWindows(left, options), FoldedWindows(right, options))
      return mine.isSame(as: &theirs)
    }
    return FoldedText(left, options).scalars == FoldedText(right, options).scalars
  }

  // MARK: Parts

  package static func contains(_ string: String, _ part: String, options: Options = []) -> Bool {
    withBytes(string, part) { contains($0, $1, options: options) }
  }

  /// Whether `part` occurs in `string`; the empty part always does.
  package static func contains(_ string: Bytes, _ part: Bytes, options: Options = []) -> Bool {
    _search(string, part, options, anchor: nil)
  }

  package static func begins(_ string: String, with part: String, options: Options = []) -> Bool {
    withBytes(string, part) { begins($0, with: $1, options: options) }
  }

  package static func begins(_ string: Bytes, with part: Bytes, options: Options = []) -> Bool {
    _search(string, part, options, anchor: .start)
  }

  package static func ends(_ string: String, with part: String, options: Options = []) -> Bool {
    withBytes(string, part) { ends($0, with: $1, options: options) }
  }

  package static func ends(_ string: Bytes, with part: Bytes, options: Options = []) -> Bool {
    _search(string, part, options, anchor: .end)
  }

  private enum _Anchor { case start, end }

  private static func _search(_ string: Bytes, _ part: Bytes, _ options: Options, anchor: _Anchor?) -> Bool {
    if part.isEmpty { return true }
    let options = effective(options)
    if options.contains(.localeSensitive) {
      return _searchByLocale(text(string), text(part), options, anchor)
    }
    if options.isEmpty || (isASCII(string) && isASCII(part)) {
      guard string.count >= part.count else { return false }
      let folds = options.contains(.caseInsensitive)
      let last = string.count - part.count
      func isAt(_ offset: Int) -> Bool {
        let piece = string[offset..<(offset + part.count)]
        return folds ? isSameLowered(piece, part[...]) : isSame(piece, part[...])
      }
      switch anchor {
      case .start: return isAt(0)
      case .end: return isAt(last)
      case nil: return folds ? (0...last).contains(where: isAt) : occurs(part, in: string)
      }
    }
    if FoldedWindows.isLarge(string) {
      // Each window is searched together with the end of the last one, as much as the part is long.
      var windows = FoldedWindows(string, options, size: max(FoldedWindows.size, part.count))
      let part = FoldedText(part, options)
      return switch anchor {
      case .start: windows.begin(with: part)
      case .end: windows.end(with: part)
      case nil: part.scalars.isEmpty || windows.contain(part)
      }
    }
    return FoldedText(string, options)
      .contains(FoldedText(part, options), atStart: anchor == .start, atEnd: anchor == .end)
  }

  private static func _searchByLocale(
    _ string: String, _ part: String, _ options: Options, _ anchor: _Anchor?
  ) -> Bool {
    var search = foundationOptions(options)
    switch anchor {
    case .start: search.insert(.anchored)
    case .end: search.formUnion([.anchored, .backwards])
    case nil: break
    }
    return string.range(of: part, options: search, locale: .current) != nil
  }

  // MARK: Bytes

  /// Calls `body` with the UTF-8 of two strings, without copying if possible.
  @inline(__always)
  static func withBytes<Result>(_ left: String, _ right: String, _ body: (Bytes, Bytes) throws -> Result)
    rethrows -> Result
  {
    var (left, right) = (left, right)
    return try left.withUTF8 { leftBytes in
      try right.withUTF8 { rightBytes in try body(leftBytes, rightBytes) }
    }
  }

  static func text(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self) }

  static func isASCII(_ bytes: Bytes) -> Bool {
    // Eight bytes at a time: most text in databases is ASCII, and every comparison checks this first.
    guard let base = bytes.baseAddress else { return true }
    let raw = UnsafeRawPointer(base)
    var index = 0
    while index + 8 <= bytes.count {
      if raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
        return false
      }
      index += 8
    }
    while index < bytes.count {
      if bytes[index] >= 0x80 { return false }
      index += 1
    }
    return true
  }

  /// Whether two buffers of equal length have equal bytes.
  @inline(__always)
  static func isSame(_ left: Slice<Bytes>, _ right: Slice<Bytes>) -> Bool {
    guard left.count > 0, let l = left.base.baseAddress, let r = right.base.baseAddress else { return true }
    return memcmp(l + left.startIndex, r + right.startIndex, left.count) == 0
  }

  /// Whether two ASCII texts of equal length are equal except for case.
  static func isSameLowered(_ left: Slice<Bytes>, _ right: Slice<Bytes>) -> Bool {
    guard left.count > 0, let l = left.base.baseAddress, let r = right.base.baseAddress else { return true }
    let (first, second) = (l + left.startIndex, r + right.startIndex)
    for index in 0..<left.count where first[index] != second[index] {
      guard lowered(first[index]) == lowered(second[index]) else { return false }
    }
    return true
  }

  @inline(__always)
  static func lowered(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }

  /// Whether the bytes of `part` occur in `string`.
  static func occurs(_ part: Bytes, in string: Bytes) -> Bool {
    guard let hay = string.baseAddress, let needle = part.baseAddress, part.count > 0 else {
      return part.isEmpty
    }
    var offset = 0
    while string.count - offset >= part.count {
      // Search only as far as the part can still start.
      let reach = string.count - part.count - offset + 1
      guard let found = memchr(hay + offset, Int32(needle[0]), reach) else { return false }
      let start = found.assumingMemoryBound(to: UInt8.self)
      if memcmp(start, needle, part.count) == 0 { return true }
      offset = start - UnsafeMutablePointer(mutating: hay) + 1
    }
    return false
  }

  static func foundationOptions(_ options: Options) -> String.CompareOptions {
    var result: String.CompareOptions = []
    if options.contains(.caseInsensitive) { result.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { result.insert(.diacriticInsensitive) }
    return result
  }
}

extension StringComparison {
  /// Returns a text in the form in which comparisons with these options see it: decomposed, without case or
  /// marks; unchanged if bytes are compared.
  package static func folded(_ text: String, options: Options) -> String {
    let options = effective(options)
    if options.isEmpty || options.contains(.localeSensitive) { return text }
    var text = text
    if text.withUTF8({ isASCII($0) }) {
      return options.contains(.caseInsensitive) ? text.lowercased() : text
    }
    let scalars = text.withUTF8 { FoldedText($0, options).scalars }
    return String(String.UnicodeScalarView(scalars.compactMap { Unicode.Scalar($0) }))
  }
}
