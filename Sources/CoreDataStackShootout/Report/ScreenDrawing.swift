import CoreDataToolKit
import Foundation

/// A screen in all stacks: how long its first rows took, alone (a dot) and beside an import (a square at the median, a line
/// to the worst), with the length of a frame.
struct ScreenDrawing {
  let rows: [ScreenTable.Row]

  private static let _gutter = 116.0
  private static let _width = 660.0
  private static let _rowHeight = 26.0
  private static let _top = 8.0

  /// The end of the axis in milliseconds: a little more than the longest, and than a frame.
  private var _scale: Double {
    let longest = rows.flatMap { [$0.figures.firstMilliseconds, $0.waits?.worst ?? 0] }.max() ?? 0
    return max(longest, ShootoutResult.frameMilliseconds) * 1.05
  }

  var svg: Markup {
    let bottom = Self._top + Double(rows.count) * Self._rowHeight
    let frame = _x(ShootoutResult.frameMilliseconds)
    var parts: [Markup] = [
      .tag("title", [:], [.text("First rows of '\(rows.first?.screen ?? "")' in milliseconds")]),
      .tag(
        "path", ["class": "frame", "d": "M\(_number(frame)) \(_number(Self._top))V\(_number(bottom))"],
        [.tag("title", [:], [.text("A frame: \(Figures.milliseconds(ShootoutResult.frameMilliseconds)) ms")])]
      ),
    ]
    for (index, row) in rows.enumerated() {
      let y = Self._top + (Double(index) + 0.5) * Self._rowHeight
      parts.append(_label(row.subject, y + 4))
      parts.append(_line("rule", 0, _scale, y))
      if let waits = row.waits {
        parts.append(_line("wait", waits.median, waits.worst, y))
        parts.append(
          .tag(
            "rect",
            [
              "class": "busy", "x": _number(_x(waits.median) - 4), "y": _number(y - 4), "width": "8",
              "height": "8",
            ],
            [
              .tag(
                "title", [:],
                [
                  .text(
                    "Beside an import: median \(Figures.milliseconds(waits.median)) ms, worst \(Figures.milliseconds(waits.worst)) ms"
                  )
                ])
            ]))
      }
      parts.append(
        .tag(
          "circle",
          ["class": "first", "cx": _number(_x(row.figures.firstMilliseconds)), "cy": _number(y), "r": "4.5"],
          [.tag("title", [:], [.text("Alone: \(Figures.milliseconds(row.figures.firstMilliseconds)) ms")])]))
    }
    let step = TimelineDrawing.axisStep(for: _scale)
    var time = 0.0
    while step > 0, time <= _scale {
      parts.append(
        .tag(
          "text",
          ["class": "axis", "x": _number(_x(time)), "y": _number(bottom + 18), "text-anchor": "middle"],
          [.text(String(format: "%g ms", time))]))
      time += step
    }
    return .tag(
      "svg",
      [
        "viewBox": "0 0 \(_number(Self._gutter + Self._width + 20)) \(_number(bottom + 26))", "role": "img",
        "xmlns": "http://www.w3.org/2000/svg",
      ], parts)
  }

  private func _line(_ name: String, _ from: Double, _ to: Double, _ y: Double) -> Markup {
    .tag("path", ["class": name, "d": "M\(_number(_x(from))) \(_number(y))H\(_number(_x(to)))"])
  }

  private func _label(_ text: String, _ y: Double) -> Markup {
    .tag("text", ["x": _number(Self._gutter - 12), "y": _number(y), "text-anchor": "end"], [.text(text)])
  }

  private func _x(_ milliseconds: Double) -> Double {
    Self._gutter + (_scale > 0 ? min(1, max(0, milliseconds / _scale)) : 0) * Self._width
  }

  private func _number(_ value: Double) -> String { String(format: "%g", (value * 100).rounded() / 100) }
}
