import CoreDataStackShootout
import CoreDataToolKit
import Foundation

/// The engine's blocks on the main queue by scenario, in processor time on a logarithmic scale, beside a
/// frame of a screen: one SVG, in light and dark.
struct LoadPicture: Sendable {
  private let _results: [ScenarioResult]
  private static let _left = 150.0
  private static let _width = 640.0
  private static let _row = 30.0
  private static let _top = 64.0
  /// The scale, in nanoseconds.
  private static let _range = (least: 1e4, most: 1e9)

  init(_ results: [ScenarioResult]) { _results = results }

  /// The file's text.
  var svg: String {
    let bottom = Self._top + Self._row * Double(_results.count)
    let (width, height) = (Int(Self._left + Self._width + 30), Int(bottom + 62))
    var parts: [Markup] = [
      .tag("title", ["id": "blocks"], [.text(_title)]), .tag("style", [:], [.verbatim(Self._style)]),
      .tag("rect", ["class": "page", "width": "100%", "height": "100%"]),
      .tag(
        "text", ["class": "head", "x": "20", "y": "26"],
        [
          "Processor time of the engine's blocks on the main queue",
          .tag("tspan", ["class": "quiet", "dx": "10"], ["half of them, 99 %, 99.9 %, and the longest"]),
        ]),
    ]
    parts += _axis(bottom)
    for (number, result) in _results.enumerated() {
      parts += _line(result, Self._top + Self._row * (Double(number) + 0.5))
    }
    parts.append(
      .tag(
        "text", ["x": "20", "y": "\(height - 14)"], [.text(Machine.current.line("SQLite \(Machine.sqlite)"))])
    )
    return Markup.tag(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg", "width": "\(width)", "height": "\(height)",
        "viewBox": "0 0 \(width) \(height)", "role": "img", "aria-labelledby": "blocks",
      ], parts
    ).text + "\n"
  }

  private func _line(_ result: ScenarioResult, _ y: Double) -> [Markup] {
    let times = result.blocks.processor
    let (half, most, nearly, longest) = (_x(times.p50), _x(times.p99), _x(times.p999), _x(times.longest))
    func bar(_ name: String, _ from: Double, _ to: Double) -> Markup {
      .tag("path", ["class": name, "d": "M\(_number(from)) \(_number(y))H\(_number(max(to, from + 1)))"])
    }
    return [
      .tag(
        "text", ["class": "name", "x": _number(Self._left - 12), "y": _number(y + 4), "text-anchor": "end"],
        [.text(result.scenario.rawValue)]),
      .tag(
        "g", [:],
        [
          .tag("title", [:], [.text("\(result.scenario.rawValue): \(Self._words(times))")]),
          bar("rest", nearly, longest), bar("tail", most, nearly), bar("bulk", half, most),
          .tag("circle", ["class": "half", "cx": _number(half), "cy": _number(y), "r": "4.5"]),
          .tag("path", ["class": "end", "d": "M\(_number(longest)) \(_number(y - 6))v12"]),
        ]),
    ]
  }

  private func _axis(_ bottom: Double) -> [Markup] {
    var parts: [Markup] = []
    var time = Self._range.least
    while time <= Self._range.most {
      let x = _number(_x(UInt64(time)))
      parts.append(
        .tag("path", ["class": "grid", "d": "M\(x) \(_number(Self._top - 8))V\(_number(bottom + 6))"]))
      parts.append(
        .tag(
          "text", ["x": x, "y": _number(bottom + 22), "text-anchor": "middle"],
          [.text("\(Self._short(time)) ms")]))
      time *= 10
    }
    let frame = _number(_x(LoadLimits.frame))
    parts.append(
      .tag("path", ["class": "frame", "d": "M\(frame) \(_number(Self._top - 14))V\(_number(bottom + 6))"]))
    parts.append(
      .tag(
        "text", ["class": "frame", "x": frame, "y": _number(Self._top - 20), "text-anchor": "middle"],
        ["a frame"]))
    return parts
  }

  private func _x(_ nanoseconds: UInt64) -> Double {
    let share =
      log(max(Double(nanoseconds), 1) / Self._range.least) / log(Self._range.most / Self._range.least)
    return Self._left + min(1, max(0, share)) * Self._width
  }

  private var _title: String {
    "Processor time of the engine's blocks on the main queue. "
      + _results.map { "\($0.scenario.rawValue): \(Self._words($0.blocks.processor))" }.joined(
        separator: "; ")
  }

  private static func _words(_ times: Quantiles) -> String {
    let figures = [("half", times.p50), ("99 %", times.p99), ("99.9 %", times.p999)]
      .map { "\($0.0) at most \(_short(Double($0.1))) ms" }
    return figures.joined(separator: ", ") + ", the longest \(_short(Double(times.longest))) ms"
  }

  private static func _short(_ nanoseconds: Double) -> String { String(format: "%.3g", nanoseconds / 1e6) }
  private func _number(_ value: Double) -> String { String(format: "%g", (value * 100).rounded() / 100) }

  /// Colours are literal: some programs that show SVG do not support variables.
  private static let _style = """
    text{font:12px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#5d6670}
    text.head{font-size:15px;font-weight:600;fill:#1d2126}text.name{font-size:13px;fill:#1d2126}
    .quiet{font-size:13px;font-weight:400;fill:#5d6670}.page{fill:#fff}path{fill:none}
    .grid{stroke:#e3e7ec}.frame{stroke:#c62f2f;stroke-width:1.5;stroke-dasharray:4 3}
    text.frame{fill:#c62f2f;stroke:none}.bulk{stroke:#2769d8;stroke-width:9}.tail{stroke:#8fb4f2;stroke-width:9}
    .rest{stroke:#9aa3ad;stroke-width:2}.end{stroke:#9aa3ad;stroke-width:2}.half{fill:#1d2126}
    @media(prefers-color-scheme:dark){
    text{fill:#9aa4af}text.head,text.name{fill:#e6e9ed}.quiet{fill:#9aa4af}.page{fill:#15181c}.grid{stroke:#2a3037}
    .frame{stroke:#ff7b72}text.frame{fill:#ff7b72}.bulk{stroke:#5b97ff}.tail{stroke:#2f4f86}.half{fill:#e6e9ed}}
    """
}
