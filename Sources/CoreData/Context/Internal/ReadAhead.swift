/// Sizes the batches of faults read from a server, where each statement is a round trip: a batch that continues
/// sequential access is four times as large as the one before.
struct ReadAhead {
  /// Maximum number of faults read together.
  static let most = 4096

  /// Index after the last batch.
  private var _end = -1
  private var _count = 0

  /// Returns the number of faults to read from an index on; `size` without reading ahead.
  mutating func count(from place: Int, size: Int) -> Int {
    _count = place == _end ? min(_count * 4, max(size, Self.most)) : size
    _end = place + _count
    return _count
  }
}
