import Foundation

/// A canonically decomposed text, with case and diacritics removed according to the options.
struct FoldedText {
  private(set) var scalars: [UInt32] = []

  /// Creates a text of scalars that are folded already.
  init(scalars: [UInt32]) { self.scalars = scalars }

  init(_ bytes: StringComparison.Bytes, _ options: StringComparison.Options) {
    scalars.reserveCapacity(bytes.count)
    let folding = Folding.of(options)
    var marks = 0
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      let value = scalar.value
      if value < 0x80 {
        _reorder(&marks)
        scalars.append(folding.foldsCase ? Folding.loweredASCII(value) : value)
        continue
      }
      let before = scalars.count
      folding.append(scalar, to: &scalars)
      for index in before..<scalars.count {
        if Folding.isMark(scalars[index]) { marks += 1 } else { _reorder(&marks, endingAt: index) }
      }
    }
    _reorder(&marks)
  }

  /// Sorts the marks of one letter in canonical order, so that their input order does not matter.
  private mutating func _reorder(_ marks: inout Int, endingAt end: Int? = nil) {
    defer { marks = 0 }
    guard marks > 1 else { return }
    let end = end ?? scalars.count
    let range = (end - marks)..<end
    let ordered = scalars[range].enumerated().sorted {
      let (left, right) = (Folding.combiningClass($0.element), Folding.combiningClass($1.element))
      return left == right ? $0.offset < $1.offset : left < right
    }
    scalars.replaceSubrange(range, with: ordered.map(\.element))
  }

  /// Whether `part` occurs in the text, at the requested ends, without separating a letter from its marks.
  func contains(_ part: FoldedText, atStart: Bool, atEnd: Bool) -> Bool {
    let (text, wanted) = (scalars, part.scalars)
    if wanted.isEmpty { return true }
    guard text.count >= wanted.count else { return false }
    func isAt(_ offset: Int) -> Bool {
      for index in wanted.indices where text[offset + index] != wanted[index] { return false }
      let end = offset + wanted.count
      return end == text.count || !Folding.isMark(text[end])
    }
    let last = text.count - wanted.count
    if atStart { return isAt(0) }
    if atEnd { return isAt(last) }
    return (0...last).contains(where: isAt)
  }
}

/// A kind of folding: with or without case, with or without marks.
struct Folding: Sendable {
  let foldsCase: Bool
  let dropsMarks: Bool
  /// Foldings of the scalars of the most common alphabets, up to three, 21 bits each; `_unpacked` if that is
  /// not enough.
  private let _table: [UInt64]

  private static let _unpacked = UInt64.max
  /// Latin, Greek, Cyrillic, Armenian, Hebrew; then Latin with rarer marks.
  private static let _ranges: [Range<UInt32>] = [0x80..<0x600, 0x1E00..<0x1F00]

  private static let _all: [Folding] = (0..<4).map {
    Folding(foldsCase: $0 & 1 != 0, dropsMarks: $0 & 2 != 0)
  }

  static func of(_ options: StringComparison.Options) -> Folding {
    _all[(options.contains(.caseInsensitive) ? 1 : 0) | (options.contains(.diacriticInsensitive) ? 2 : 0)]
  }

  private init(foldsCase: Bool, dropsMarks: Bool) {
    self.foldsCase = foldsCase
    self.dropsMarks = dropsMarks
    var table: [UInt64] = []
    for value in Self._ranges.joined() {
      guard let scalar = Unicode.Scalar(value) else {
        table.append(Self._unpacked)
        continue
      }
      var folded: [UInt32] = []
      Self._fold(scalar, foldsCase, dropsMarks, to: &folded)
      table.append(
        folded.count > 3 ? Self._unpacked : folded.reversed().reduce(0) { $0 << 21 | UInt64($1) })
    }
    _table = table
  }

  @inline(__always)
  static func loweredASCII(_ value: UInt32) -> UInt32 {
    value &- 0x41 < 26 ? value | 0x20 : value
  }

  /// Appends the folding of a scalar beyond ASCII.
  func append(_ scalar: Unicode.Scalar, to scalars: inout [UInt32]) {
    let value = scalar.value
    var packed = Self._unpacked
    if value < 0x600 {
      packed = _table[Int(value - 0x80)]
    } else if value >= 0x1E00, value < 0x1F00 {
      packed = _table[Int(value - 0x1E00 + 0x580)]
    } else if Self._isUnchangeable(value) {
      scalars.append(value)
      return
    }
    guard packed != Self._unpacked else {
      Self._fold(scalar, foldsCase, dropsMarks, to: &scalars)
      return
    }
    while packed != 0 {
      scalars.append(UInt32(packed & 0x1F_FFFF))
      packed >>= 21
    }
  }

  /// Ideographs, Hangul syllables and emoji have neither case nor marks.
  private static func _isUnchangeable(_ value: UInt32) -> Bool {
    (value >= 0x3400 && value < 0xA000) || (value >= 0xAC00 && value < 0xD7A4)
      || (value >= 0x1F000 && value < 0x2F800)
  }

  private static func _fold(
    _ scalar: Unicode.Scalar, _ foldsCase: Bool, _ dropsMarks: Bool, to scalars: inout [UInt32]
  ) {
    var text = String(scalar)
    // Mapping through both cases yields full case folding (ß and ẞ are ss), except for the dotless i, which
    // has a separate capital only in Turkish.
    if foldsCase, scalar.value != 0x131 {
      text = scalar.properties.lowercaseMapping.unicodeScalars.reduce(into: "") {
        $0 += $1.properties.uppercaseMapping
      }
      text = text.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
    }
    for part in text.decomposedStringWithCanonicalMapping.unicodeScalars
    where !(dropsMarks && isMark(part.value)) {
      scalars.append(foldsCase ? loweredASCII(part.value) : part.value)
    }
  }

  /// Whether a scalar is a mark on the preceding letter.
  @inline(__always)
  static func isMark(_ value: UInt32) -> Bool { value >= 0x300 && combiningClass(value) != 0 }

  static func combiningClass(_ value: UInt32) -> UInt8 {
    Unicode.Scalar(value)?.properties.canonicalCombiningClass.rawValue ?? 0
  }
}
