/// Lays out the boxes of a graph: connected ones in columns, so that every line runs between adjacent columns
/// or within one, and none crosses a box; the connected components beside and below each other.
struct GraphLayout {
  struct Box: Sendable {
    var x = 0
    var y = 0
    let width: Int
    let height: Int
    /// Number of the column, from the left.
    var column = 0
  }

  private(set) var boxes: [Box]
  private(set) var width = 0
  private(set) var height = 0

  private let _neighbours: [[Int]]
  /// Boxes with a line from the box to itself.
  private let _loops: Set<Int>
  static let columnGap = 150
  static let rowGap = 36
  /// Between groups of boxes, and boxes without lines.
  static let groupGap = 44
  static let margin = 30

  /// - Parameters:
  ///   - sizes: Of the boxes.
  ///   - lines: Pairs of boxes that are joined.
  init(sizes: [(width: Int, height: Int)], lines: [(Int, Int)]) {
    boxes = sizes.map { Box(width: $0.width, height: $0.height) }
    var neighbours = Array(repeating: Set<Int>(), count: sizes.count)
    for (one, other) in lines where one != other {
      neighbours[one].insert(other)
      neighbours[other].insert(one)
    }
    _neighbours = neighbours.map { $0.sorted() }
    _loops = Set(lines.filter { $0.0 == $0.1 }.map(\.0))
    let groups = _components()
    let sizes = groups.map {
      $0.count > 1 || _loops.contains($0[0]) ? _place($0) : (boxes[$0[0]].width, boxes[$0[0]].height)
    }
    let packing = GraphPacking(sizes, gap: Self.groupGap)
    for (group, place) in zip(groups, packing.places) {
      for box in group {
        boxes[box].x += place.x + Self.margin
        boxes[box].y += place.y + Self.margin
      }
    }
    width = packing.width + 2 * Self.margin
    height = packing.height + 2 * Self.margin
  }

  /// Groups of boxes that are connected by lines, directly or indirectly, largest first.
  private func _components() -> [[Int]] {
    var seen = Array(repeating: false, count: boxes.count)
    var groups: [[Int]] = []
    for start in boxes.indices where !seen[start] {
      let group = _distances(from: start).keys.sorted()
      for box in group { seen[box] = true }
      groups.append(group)
    }
    return groups.sorted { $0.count == $1.count ? $0[0] < $1[0] : $0.count > $1.count }
  }

  /// Number of steps to each box that is reachable along lines.
  private func _distances(from start: Int) -> [Int: Int] {
    var distances = [start: 0]
    var open = [start]
    var position = 0
    while position < open.count {
      let box = open[position]
      position += 1
      for next in _neighbours[box] where distances[next] == nil {
        distances[next] = distances[box]! + 1
        open.append(next)
      }
    }
    return distances
  }

  // MARK: Columns

  /// Places the component at the origin.
  ///
  /// - Returns: The size that it takes, with its lines and their labels.
  private mutating func _place(_ group: [Int]) -> (width: Int, height: Int) {
    var columns = _columns(group)
    for _ in 0..<8 {
      for index in columns.indices.dropFirst() {
        columns[index] = _ordered(columns[index], by: columns[index - 1])
      }
      for index in columns.indices.dropLast().reversed() {
        columns[index] = _ordered(columns[index], by: columns[index + 1])
      }
    }
    let heights = columns.map { column in
      column.reduce(0) { $0 + boxes[$1].height } + (column.count - 1) * Self.rowGap
    }
    let tallest = heights.max() ?? 0
    var x = 0
    for (number, column) in columns.enumerated() {
      var y = (tallest - heights[number]) / 2
      let widest = column.map { boxes[$0].width }.max() ?? 0
      for box in column {
        boxes[box].x = x + (widest - boxes[box].width) / 2
        boxes[box].y = y
        boxes[box].column = number
        y += boxes[box].height + Self.rowGap
      }
      x += widest + Self.columnGap
    }
    // Lines within the last column are drawn on its right.
    let last = Set(columns.last ?? [])
    let turns = last.contains { box in _loops.contains(box) || _neighbours[box].contains { last.contains($0) }
    }
    return (x - Self.columnGap + (turns ? Self.columnGap : 0), tallest)
  }

  /// Columns by distance from the box that gives the drawing the most nearly square shape.
  private func _columns(_ group: [Int]) -> [[Int]] {
    // Tries every box in graphs of readable size; in larger ones only those with most lines.
    let candidates =
      group.count <= 80
      ? group : Array(group.sorted { (_neighbours[$1].count, $0) < (_neighbours[$0].count, $1) }.prefix(20))
    var best: (columns: [[Int]], cost: Int)?
    for root in candidates {
      let distances = _distances(from: root)
      var columns: [[Int]] = Array(repeating: [], count: (group.compactMap { distances[$0] }.max() ?? 0) + 1)
      for box in group { columns[distances[box]!].append(box) }
      let height = columns.map { $0.reduce(0) { $0 + boxes[$1].height + Self.rowGap } }.max() ?? 0
      let width = columns.reduce(0) { $0 + ($1.map { boxes[$0].width }.max() ?? 0) + Self.columnGap }
      let cost = max(height * 4, width * 3)
      if cost < best?.cost ?? .max { best = (columns, cost) }
    }
    return best?.columns ?? [group]
  }

  /// A column, ordered by the neighbours of its boxes in the adjacent column.
  private func _ordered(_ column: [Int], by beside: [Int]) -> [Int] {
    let places = Dictionary(uniqueKeysWithValues: beside.enumerated().map { ($0.element, $0.offset) })
    let middles = column.enumerated().map { index, box -> (Double, Int, Int) in
      let joined = _neighbours[box].compactMap { places[$0] }
      let middle = joined.isEmpty ? Double(index) : Double(joined.reduce(0, +)) / Double(joined.count)
      return (middle, index, box)
    }
    return middles.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2)
  }
}
