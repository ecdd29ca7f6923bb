import CoreDataToolKit
import Foundation

/// One stack's timeline as a profiler draws it: how busy the main thread (blue) and the others (grey) were in
/// each sliver of time, with a tick for each save. All drawings of a page share one scale.
struct TimelineDrawing {
  /// End of the time axis in seconds.
  let scale: Double
  /// When the floor would have finished.
  let floorSeconds: Double

  private static let _gutter = 92.0
  private static let _width = 900.0
  private static let _laneHeight = 34.0
  private static let _savesTop = 6.0
  private static let _mainTop = 24.0
  private static let _backgroundTop = 66.0
  private static let _axisTop = 106.0
  static let height = 128.0
  static let width = _gutter + _width + 20

  /// The drawing as an `svg` element.
  func svg(_ stack: ShootoutResult.Stack) -> Markup {
    .tag(
      "svg",
      [
        "viewBox": "0 0 \(_number(Self.width)) \(_number(Self.height))", "role": "img",
        "xmlns": "http://www.w3.org/2000/svg",
      ], parts(stack))
  }

  /// The elements of the drawing, starting with its title.
  func parts(_ stack: ShootoutResult.Stack) -> [Markup] {
    let total = _x(stack.totalSeconds)
    var parts: [Markup] = [
      .tag("title", [:], [.text("Timeline of \(stack.design.rawValue)")]),
      _label("saves", Self._savesTop + 9), _label("main thread", Self._mainTop + 22),
      _label("background", Self._backgroundTop + 22),
      _lane(Self._mainTop, total), _lane(Self._backgroundTop, total),
      _area(
        _mainColumns(stack.timeline.main), top: Self._mainTop, class: "main",
        title: "Main thread busy for \(Figures.seconds(stack.mainBusySeconds)) s"),
      _area(
        _backgroundColumns(stack.timeline.background), top: Self._backgroundTop, class: "background",
        title: "Other threads; full height is \(_fullLoad(stack.timeline.background)) processors"),
    ]
    parts += stack.timeline.saves.map { time in
      .tag("path", ["class": "save", "d": "M\(_number(_x(time))) \(_number(Self._savesTop))v12"])
    }
    parts += _dropped(stack.timeline.dropped)
    return parts + _axis()
  }

  /// Share of each column of one unit's width in which the main thread was awake.
  private func _mainColumns(_ spans: [Timeline.Span]) -> [Double] {
    var columns = [Double](repeating: 0, count: Int(Self._width))
    for span in spans {
      _spread(span.begin, span.end, weight: 1, over: &columns)
    }
    return columns
  }

  private func _backgroundColumns(_ loads: [Timeline.Load]) -> [Double] {
    let full = Double(_fullLoad(loads))
    var columns = [Double](repeating: 0, count: Int(Self._width))
    for load in loads { _spread(load.begin, load.end, weight: load.processors / full, over: &columns) }
    return columns
  }

  /// Number of processors at the full height of the background.
  private func _fullLoad(_ loads: [Timeline.Load]) -> Int {
    // A moment's rounding above a whole processor must not halve the picture.
    max(1, Int(((loads.map(\.processors).max() ?? 1) - 0.15).rounded(.up)))
  }

  private func _spread(_ begin: Double, _ end: Double, weight: Double, over columns: inout [Double]) {
    guard scale > 0, begin.isFinite, end.isFinite else { return }
    let left = max(0, begin / scale * Self._width)
    let right = min(Self._width, end / scale * Self._width)
    guard left < right else { return }
    for column in Int(left)...min(columns.count - 1, Int(right)) {
      let part = min(right, Double(column + 1)) - max(left, Double(column))
      if part > 0 { columns[column] += part * weight }
    }
  }

  private func _area(_ columns: [Double], top: Double, class name: String, title: String) -> Markup {
    let bottom = top + Self._laneHeight
    var path = "M\(_number(Self._gutter)) \(_number(bottom))"
    var height = 0.0
    var run = 0
    for share in columns {
      // Even the shortest activity shows.
      let next = share > 0 ? max(1, min(1, share) * Self._laneHeight) : 0
      if abs(next - height) > 0.05 {
        if run > 0 { path += "h\(run)" }
        path += "V\(_number(bottom - next))"
        height = next
        run = 0
      }
      run += 1
    }
    path += "h\(run)V\(_number(bottom))Z"
    return .tag("path", ["class": name, "d": path], [.tag("title", [:], [.text(title)])])
  }

  /// A red line above each block longer than a frame.
  private func _dropped(_ spans: [Timeline.Span]) -> [Markup] {
    spans.map { span in
      let length = Figures.milliseconds((span.end - span.begin) * 1000)
      let left = _x(span.begin)
      return .tag(
        "path",
        [
          "class": "dropped",
          "d": "M\(_number(left)) \(_number(Self._mainTop - 3))H\(_number(max(left + 1, _x(span.end))))",
        ],
        [.tag("title", [:], [.text("\(length) ms at \(Figures.seconds(span.begin)) s")])])
    }
  }

  private func _axis() -> [Markup] {
    let step = Self.axisStep(for: scale)
    var parts: [Markup] = []
    var time = 0.0
    while step > 0, time <= scale * 1.0001 {
      let x = _number(_x(time))
      parts.append(.tag("path", ["class": "axis", "d": "M\(x) \(_number(Self._axisTop - 4))v5"]))
      parts.append(
        .tag(
          "text", ["class": "axis", "x": x, "y": _number(Self._axisTop + 14), "text-anchor": "middle"],
          [.text(String(format: "%g s", time))]))
      time += step
    }
    if floorSeconds > 0, floorSeconds <= scale {
      let x = _number(_x(floorSeconds))
      parts.append(
        .tag(
          "path", ["class": "floor", "d": "M\(x) \(_number(Self._mainTop - 4))V\(_number(Self._axisTop))"],
          [.tag("title", [:], [.text("The floor is done after \(Figures.seconds(floorSeconds)) s")])]))
    }
    return parts
  }

  /// A round step that cuts the axis into four to ten parts.
  static func axisStep(for scale: Double) -> Double {
    guard scale > 0, scale.isFinite else { return 0 }
    let rough = scale / 8
    let magnitude = pow(10, floor(log10(rough)))
    let factor = [1.0, 2, 5, 10].first { $0 * magnitude >= rough } ?? 10
    return factor * magnitude
  }

  private func _lane(_ top: Double, _ right: Double) -> Markup {
    .tag(
      "rect",
      [
        "class": "lane", "x": _number(Self._gutter), "y": _number(top),
        "width": _number(right - Self._gutter), "height": _number(Self._laneHeight),
      ])
  }

  private func _label(_ text: String, _ y: Double) -> Markup {
    .tag("text", ["x": _number(Self._gutter - 10), "y": _number(y), "text-anchor": "end"], [.text(text)])
  }

  private func _x(_ seconds: Double) -> Double {
    Self._gutter + (scale > 0 ? min(1, max(0, seconds / scale)) : 0) * Self._width
  }

  private func _number(_ value: Double) -> String { String(format: "%g", (value * 100).rounded() / 100) }
}
