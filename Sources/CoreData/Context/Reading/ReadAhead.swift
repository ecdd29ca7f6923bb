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

/// Decides how many faults are read together when some are filled here and there among many.
///
/// Reading neighbours that are never accessed is wasted work; a list that is read completely, in any order, accesses
/// each of them. Only the first eighth of scattered faults is therefore read in small batches.
struct ScatteredAccess {
  private static let _small = 16
  /// How many scattered batches are as large as others.
  private static let _most = 2

  /// The last batch.
  private var _batch = 0..<0
  /// Batches in a row that are not beside the one before.
  private var _jumps = 0
  private var _read = 0

  /// Returns the size of the batch that contains an index.
  ///
  /// - Parameters:
  ///   - total: The number of faults.
  ///   - most: The size of a batch that is not small.
  mutating func size(at place: Int, of total: Int, most: Int) -> Int {
    let isBeside = place == _batch.upperBound || place + 1 == _batch.lowerBound
    _jumps = isBeside ? 0 : _jumps + 1
    let size = _jumps > Self._most && _read < total / 8 ? min(most, Self._small) : most
    let start = place - place % size
    _batch = start..<start + size
    _read += size
    return size
  }
}
