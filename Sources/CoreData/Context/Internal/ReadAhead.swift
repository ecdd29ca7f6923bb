/// How many faults are read together from a server, to which each statement is a round trip: four times as many as the last
/// time while a program goes through all of them in turn.
struct ReadAhead {
  /// Most faults that are read together.
  static let most = 4096

  /// Where the last ones ended.
  private var _end = -1
  private var _count = 0

  /// How many are read from a place on, of which as many as `size` are without reading ahead.
  mutating func count(from place: Int, size: Int) -> Int {
    _count = place == _end ? min(_count * 4, max(size, Self.most)) : size
    _end = place + _count
    return _count
  }
}
