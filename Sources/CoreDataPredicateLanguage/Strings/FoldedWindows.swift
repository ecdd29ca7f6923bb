/// Reads a folded text, or a plain one without options, in windows, so that a large one is never decoded, and held,
/// as a whole: a scalar takes four bytes.
///
/// A window ends before a scalar that begins a letter whatever follows and is folded alone: ASCII or an
/// ideograph. What the windows are folded to is therefore what the text is.
struct FoldedWindows {
  /// Bytes of a window, at least.
  static let size = 1 << 16

  private let _bytes: StringComparison.Bytes
  private let _options: StringComparison.Options
  private let _size: Int
  private var _next = 0
  /// The scalars that are held, and the index of the first of them.
  private var _held: [UInt32] = []
  private var _first = 0

  init(_ bytes: StringComparison.Bytes, _ options: StringComparison.Options, size: Int = Self.size) {
    _bytes = bytes
    _options = options
    _size = size
  }

  /// Whether a text is so large that it is not folded as a whole.
  static func isLarge(_ bytes: StringComparison.Bytes) -> Bool { bytes.count > 4 * size }

  private static func _beginsLetter(_ byte: UInt8) -> Bool { byte < 0x80 || (0xE4...0xE9).contains(byte) }

  /// Returns the scalars of the next window; nil after the last.
  mutating func next() -> [UInt32]? {
    guard _next < _bytes.count else { return nil }
    var end = min(_next + _size, _bytes.count)
    while end < _bytes.count, !Self._beginsLetter(_bytes[end]) { end += 1 }
    defer { _next = end }
    return StringComparison.scalars(of: StringComparison.Bytes(rebasing: _bytes[_next..<end]), _options)
  }

  /// Returns the scalar at an index that has not been forgotten; nil after the last.
  mutating func scalar(at index: Int) -> UInt32? {
    while index - _first >= _held.count {
      guard let more = next() else { return nil }
      _held += more
    }
    return _held[index - _first]
  }

  /// Forgets the scalars before an index.
  mutating func forget(before index: Int) {
    guard index - _first > _size, index - _first <= _held.count else { return }
    _held.removeFirst(index - _first)
    _first = index
  }

  // MARK: Comparing

  /// Whether the rest of two texts is the same.
  mutating func isSame(as other: inout FoldedWindows) -> Bool {
    var (mine, theirs): (ArraySlice<UInt32>, ArraySlice<UInt32>) = ([], [])
    while true {
      // A window of marks that are ignored is empty.
      while mine.isEmpty, let window = next() { mine = window[...] }
      while theirs.isEmpty, let window = other.next() { theirs = window[...] }
      let count = min(mine.count, theirs.count)
      if count == 0 { return mine.isEmpty && theirs.isEmpty }
      guard mine.prefix(count).elementsEqual(theirs.prefix(count)) else { return false }
      mine = mine.dropFirst(count)
      theirs = theirs.dropFirst(count)
    }
  }

  // MARK: Searching

  /// Whether a folded part occurs in the text, without separating a letter from its marks.
  mutating func contain(_ part: FoldedText) -> Bool {
    var rest: [UInt32] = []
    while let window = next() {
      // The end of a window is that of a letter.
      let text = FoldedText(scalars: rest + window)
      if text.contains(part, atStart: false, atEnd: false) { return true }
      rest = Array(text.scalars.suffix(part.scalars.count - 1))
    }
    return false
  }

  /// Whether the text begins with a folded part.
  mutating func begin(with part: FoldedText) -> Bool {
    var scalars: [UInt32] = []
    while scalars.count <= part.scalars.count, let window = next() { scalars += window }
    return FoldedText(scalars: scalars).contains(part, atStart: true, atEnd: false)
  }

  /// Whether the text ends with a folded part.
  func end(with part: FoldedText) -> Bool {
    var count = _size
    while true {
      var start = max(0, _bytes.count - count)
      while start > 0, !Self._beginsLetter(_bytes[start]) { start -= 1 }
      let tail = FoldedText(StringComparison.Bytes(rebasing: _bytes[start...]), _options)
      if start == 0 || tail.scalars.count >= part.scalars.count {
        return tail.contains(part, atStart: false, atEnd: true)
      }
      count *= 2
    }
  }
}
