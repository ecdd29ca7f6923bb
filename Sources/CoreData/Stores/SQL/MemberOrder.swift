/// Numbers the members of an ordered relationship.
///
/// Numbers are spaced so that moving a member does not require writing the others: members already in
/// ascending order keep their numbers, the others get numbers from the gaps, and all are renumbered only when
/// a gap is exhausted.
package enum MemberOrder {
  /// Number of the first member of an ordered relationship, and the step to the next.
  package static let first: Int64 = 2048
  package static let step: Int64 = 1024

  /// Returns the numbers to write.
  ///
  /// - Parameters:
  ///   - members: The whole order, without duplicates.
  ///   - present: The members' current numbers.
  package static func changes(for members: [Int64], present: [Int64: Int64]) -> [(
    member: Int64, order: Int64
  )] {
    let numbers = members.map { present[$0] }
    let kept = _longestAscending(numbers)
    if kept.count == members.count { return [] }
    var result: [(member: Int64, order: Int64)] = []
    var position = 0
    var low: Int64?
    for next in kept + [members.count] {
      let high = next < members.count ? numbers[next] : nil
      let count = next - position
      if count > 0 {
        guard let values = _spread(count, low: low, high: high) else { return _renumbered(members) }
        for (offset, value) in values.enumerated() { result.append((members[position + offset], value)) }
      }
      low = high
      position = next + 1
    }
    return result
  }

  /// Returns numbers for members that follow one with this number, at the end; nil if there is no room.
  package static func following(_ number: Int64, count: Int) -> [Int64]? {
    _spread(count, low: number, high: nil)
  }

  private static func _renumbered(_ members: [Int64]) -> [(member: Int64, order: Int64)] {
    members.enumerated().map {
      ($0.element, first + Int64($0.offset) * step)
    }
  }

  /// Returns `count` ascending numbers between two others; nil if there is no room.
  private static func _spread(_ count: Int, low: Int64?, high: Int64?) -> [Int64]? {
    let floor = low ?? (high == nil ? first - step : 0)
    let distance: Int64
    if let high {
      let (room, overflow) = high.subtractingReportingOverflow(floor)
      guard !overflow else { return nil }
      distance = min(step, room / Int64(count + 1))
    } else {
      // Numbers in a malicious file may be close to overflow.
      guard floor < Int64.max / 2 else { return nil }
      distance = step
    }
    guard distance > 0 else { return nil }
    return (1...count).map { floor + Int64($0) * distance }
  }

  /// Returns the positions of the longest ascending run of numbers, not necessarily adjacent.
  private static func _longestAscending(_ numbers: [Int64?]) -> [Int] {
    // ends[n]: last position of the best run of length n + 1; previous: the preceding position in its run.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: numbers.count)
    for (position, number) in numbers.enumerated() {
      guard let number else { continue }
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]]! < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[position] = ends[low - 1] }
      if low == ends.count { ends.append(position) } else { ends[low] = position }
    }
    var result: [Int] = []
    var position = ends.last ?? -1
    while position >= 0 {
      result.append(position)
      position = previous[position]
    }
    return result.reversed()
  }
}
