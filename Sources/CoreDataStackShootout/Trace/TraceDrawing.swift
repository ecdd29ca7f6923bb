import CoreDataToolKit
import Foundation

/// What the contexts of a recording did over time, in a lane for main and one for all other threads: a column's height is the
/// share of that moment.
struct TraceDrawing {
  enum Sort: String, CaseIterable { case fetch, fault, saving, merge }

  private let _trace: Trace
  private static let _gutter = 104.0
  private static let _columns = 900
  private static let _laneHeight = 44.0

  init(_ trace: Trace) { _trace = trace }

  var svg: Markup {
    let begin = _trace.events.map(\.begin).min() ?? 0
    let seconds = max(1e-6, (_trace.events.last?.end ?? 0) - begin)
    var shares: [Bool: [Sort: [Double]]] = [:]
    for event in _trace.events {
      guard let sort = event.kind._sort else { continue }
      _spread(
        (event.begin - begin) / seconds, (event.end - begin) / seconds,
        over: &shares[event.isOnMain, default: [:]][
          sort, default: [Double](repeating: 0, count: Self._columns)])
    }
    let width = Self._gutter + Double(Self._columns) + 20
    var parts: [Markup] = [.tag("title", [:], [.text("What contexts did over time")])]
    parts += _lane("main thread", shares[true] ?? [:], top: 6)
    parts += _lane("other threads", shares[false] ?? [:], top: 62)
    let step = TimelineDrawing.axisStep(for: seconds)
    var time = 0.0
    while step > 0, time <= seconds {
      let x = Self._gutter + time / seconds * Double(Self._columns)
      parts.append(
        .tag(
          "text", ["class": "axis", "x": _number(x), "y": "124", "text-anchor": "middle"],
          [.text(String(format: "%g s", time))]))
      time += step
    }
    return .tag(
      "svg", ["viewBox": "0 0 \(_number(width)) 132", "role": "img", "xmlns": "http://www.w3.org/2000/svg"],
      parts)
  }

  private func _spread(_ from: Double, _ to: Double, over columns: inout [Double]) {
    let count = Double(Self._columns)
    let (left, right) = (max(0, from * count), min(count, max(to * count, from * count + 0.02)))
    guard left < right else { return }
    for column in Int(left)...min(columns.count - 1, Int(right)) {
      let part = min(right, Double(column + 1)) - max(left, Double(column))
      if part > 0 { columns[column] += part }
    }
  }

  private func _lane(_ name: String, _ shares: [Sort: [Double]], top: Double) -> [Markup] {
    var parts: [Markup] = [
      .tag(
        "text", ["x": _number(Self._gutter - 10), "y": _number(top + 26), "text-anchor": "end"], [.text(name)]
      ),
      .tag(
        "rect",
        [
          "class": "lane", "x": _number(Self._gutter), "y": _number(top), "width": "\(Self._columns)",
          "height": _number(Self._laneHeight),
        ]),
    ]
    var base = [Double](repeating: 0, count: Self._columns)
    for sort in Sort.allCases {
      guard let columns = shares[sort] else { continue }
      var path = ""
      for (column, share) in columns.enumerated() where share > 0 {
        // Even the shortest shows.
        let height = max(1, min(1, share) * Self._laneHeight)
        let from = min(base[column], Self._laneHeight)
        let to = min(from + height, Self._laneHeight)
        base[column] = to
        guard to > from else { continue }
        path +=
          "M\(_number(Self._gutter + Double(column))) \(_number(top + Self._laneHeight - from))v\(_number(from - to))h1v\(_number(to - from))z"
      }
      parts.append(.tag("path", ["class": sort.rawValue, "d": path]))
    }
    return parts
  }

  private func _number(_ value: Double) -> String { String(format: "%g", (value * 100).rounded() / 100) }
}

extension Trace.Kind {
  /// How a drawing shows the event; nil for one that takes no time worth showing.
  fileprivate var _sort: TraceDrawing.Sort? {
    switch self {
    case .fetch, .count: .fetch
    case .fault, .members: .fault
    case .save, .execute: .saving
    case .merge: .merge
    case .changes, .reset, .rollback: nil
    }
  }
}
