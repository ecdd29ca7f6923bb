/// Sorts indices by rank in linear time: a radix sort from the last byte to the first.
///
/// Ranks of texts often differ in few bytes and share a prefix; bytes in which all ranks agree are skipped.
enum RankSort {
  struct Place {
    let rank: UInt64
    let index: Int32
  }

  private static let _digits = 8
  private static let _buckets = 256

  /// Sorts stably by rank.
  static func sort(_ places: inout [Place]) {
    // Below a few hundred elements, counting is slower than comparing.
    guard places.count > 256 else {
      places.sort { $0.rank != $1.rank ? $0.rank < $1.rank : $0.index < $1.index }
      return
    }
    let count = places.count
    var other = [Place](unsafeUninitializedCapacity: count) { buffer, filled in
      buffer.initialize(repeating: Place(rank: 0, index: 0))
      filled = count
    }
    let isInOther = places.withUnsafeMutableBufferPointer { places in
      other.withUnsafeMutableBufferPointer { other in
        withUnsafeTemporaryAllocation(of: Int.self, capacity: _digits * _buckets) { counts in
          counts.initialize(repeating: 0)
          for place in places {
            for digit in 0..<_digits { counts[digit &* _buckets &+ _byte(digit, of: place)] &+= 1 }
          }
          return _sort(places, other, counts)
        }
      }
    }
    if isInOther { swap(&places, &other) }
  }

  /// - Returns: Whether the sorted result is in `second`.
  private static func _sort(
    _ first: UnsafeMutableBufferPointer<Place>, _ second: UnsafeMutableBufferPointer<Place>,
    _ counts: UnsafeMutableBufferPointer<Int>
  ) -> Bool {
    var (from, to) = (first, second)
    var isInSecond = false
    for digit in 0..<_digits {
      let starts = counts.baseAddress! + digit * _buckets
      if starts[_byte(digit, of: from[0])] == from.count { continue }
      var start = 0
      for bucket in 0..<_buckets { (starts[bucket], start) = (start, start + starts[bucket]) }
      for place in from {
        let bucket = _byte(digit, of: place)
        to[starts[bucket]] = place
        starts[bucket] &+= 1
      }
      swap(&from, &to)
      isInSecond.toggle()
    }
    return isInSecond
  }

  @inline(__always)
  private static func _byte(_ digit: Int, of place: Place) -> Int {
    Int(truncatingIfNeeded: place.rank &>> UInt64(truncatingIfNeeded: 8 &* digit)) & 0xFF
  }
}
