/// Packs rectangles with little empty space, in roughly the aspect ratio of a screen.
struct GraphPacking {
  /// Upper left corner of each rectangle, in the given order.
  private(set) var places: [(x: Int, y: Int)] = []
  private(set) var width = 0
  private(set) var height = 0

  /// - Parameters:
  ///   - sizes: Of the rectangles.
  ///   - gap: Empty space to the right of and below each.
  init(_ sizes: [(width: Int, height: Int)], gap: Int) {
    guard let widest = sizes.map(\.width).max() else { return }
    let area = sizes.reduce(0.0) { $0 + Double($1.width + gap) * Double($1.height + gap) }
    let ideal = (area * 4 / 3).squareRoot()
    var best = Int.max
    // Try several widths, since one may happen to fit the pieces.
    for step in 0..<16 {
      let packing = Self._packed(sizes, gap, into: max(widest, Int(ideal * (0.8 + 0.06 * Double(step)))))
      let cost = max(packing.height * 4, packing.width * 3)
      if cost < best { (best, self) = (cost, packing) }
    }
  }

  private init() {}

  /// A segment of the skyline on which the next rectangle may be placed.
  private struct Step {
    var x: Int
    var y: Int
    var width: Int
  }

  /// The tallest first, each as high up as possible, and then as far to the left.
  private static func _packed(_ sizes: [(width: Int, height: Int)], _ gap: Int, into width: Int)
    -> GraphPacking
  {
    var packing = GraphPacking()
    packing.places = Array(repeating: (0, 0), count: sizes.count)
    var skyline = [Step(x: 0, y: 0, width: width + gap)]
    let order = sizes.indices.sorted { (sizes[$1].height, $0) < (sizes[$0].height, $1) }
    for index in order {
      let (w, h) = (sizes[index].width + gap, sizes[index].height + gap)
      let (x, y) = _place(w, skyline)
      packing.places[index] = (x, y)
      packing.width = max(packing.width, x + sizes[index].width)
      packing.height = max(packing.height, y + sizes[index].height)
      _raise(&skyline, x, w, to: y + h)
    }
    return packing
  }

  private static func _place(_ width: Int, _ skyline: [Step]) -> (x: Int, y: Int) {
    let right = skyline.reduce(0) { max($0, $1.x + $1.width) }
    var best: (x: Int, y: Int) = (0, skyline.map(\.y).max() ?? 0)
    for step in skyline where step.x + width <= right {
      let under = skyline.filter { $0.x < step.x + width && $0.x + $0.width > step.x }
      let y = under.map(\.y).max() ?? 0
      if y < best.y { best = (step.x, y) }
    }
    return best
  }

  private static func _raise(_ skyline: inout [Step], _ x: Int, _ width: Int, to y: Int) {
    var result: [Step] = []
    for step in skyline {
      let end = step.x + step.width
      if step.x < x { result.append(Step(x: step.x, y: step.y, width: min(end, x) - step.x)) }
      if end > x + width {
        let start = max(step.x, x + width)
        result.append(Step(x: start, y: step.y, width: end - start))
      }
    }
    result.append(Step(x: x, y: y, width: width))
    skyline = result.sorted { $0.x < $1.x }
  }
}
