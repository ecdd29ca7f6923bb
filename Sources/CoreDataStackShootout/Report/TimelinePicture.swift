import CoreDataToolKit

/// The timelines of all stacks in one SVG file, one below the other on the same scale, in light and dark.
struct TimelinePicture {
  private let _result: ShootoutResult
  private static let _titleHeight = 34.0
  private static let _captionHeight = 34.0

  init(_ result: ShootoutResult) { _result = result }

  /// The file's text.
  var svg: String {
    let block = Self._titleHeight + TimelineDrawing.height
    let height = Int(block * Double(_result.stacks.count) + Self._captionHeight)
    let width = Int(TimelineDrawing.width)
    let drawing = TimelineDrawing(
      scale: max(_result.stacks.map(\.totalSeconds).max() ?? 0, _result.floorSeconds),
      floorSeconds: _result.floorSeconds)
    var parts: [Markup] = [
      .tag("title", ["id": "timelines"], [.text(_title)]), .tag("style", [:], [.verbatim(Self._style)]),
      .tag("rect", ["class": "page", "width": "100%", "height": "100%"]),
    ]
    for (index, stack) in _result.stacks.enumerated() {
      let top = Int(block * Double(index))
      parts.append(
        .tag(
          "text", ["class": "stack", "x": "92", "y": "\(top + 24)"],
          [
            .text(stack.design.rawValue),
            .tag("tspan", ["class": "quiet", "dx": "10"], [.text(Self._words(stack))]),
          ]))
      parts.append(
        .tag(
          "g", ["transform": "translate(0 \(top + Int(Self._titleHeight)))"], drawing.parts(stack)))
    }
    parts.append(
      .tag(
        "text", ["class": "quiet", "x": "92", "y": "\(height - 12)"],
        [.text(_result.machine.line(_result.place.engine))]))
    let root = Markup.tag(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg", "width": "\(width)", "height": "\(height)",
        "viewBox": "0 0 \(width) \(height)", "role": "img", "aria-labelledby": "timelines",
      ], parts)
    return root.text + "\n"
  }

  private var _title: String {
    "Timelines of an import of \(_result.workload.counted(_result.lines)): "
      + _result.stacks.map { "\($0.design.rawValue), \(Self._words($0))" }.joined(separator: "; ")
  }

  private static func _words(_ stack: ShootoutResult.Stack) -> String {
    "main thread busy for \(Figures.seconds(stack.mainBusySeconds)) s, at once for no more than "
      + "\(Figures.milliseconds(stack.mainLongestMilliseconds)) ms"
  }

  /// Colours are literal: some programs that show SVG do not support variables.
  private static let _style = """
    text{font:13px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#5d6670}text.axis{font-size:12px}
    text.stack{font-size:15px;font-weight:600;fill:#1d2126}
    .quiet{font-size:13px;font-weight:400;fill:#5d6670}.page{fill:#fff}.lane{fill:#f1f3f6}
    path.main{fill:#2769d8}path.background{fill:#9aa3ad}.save{stroke:#1d2126;stroke-width:1;fill:none}
    .dropped{stroke:#c62f2f;stroke-width:3;fill:none}path.axis{stroke:#5d6670;fill:none}
    .floor{stroke:#17864b;stroke-width:1.5;stroke-dasharray:4 3;fill:none}
    @media(prefers-color-scheme:dark){
    text{fill:#9aa4af}text.stack{fill:#e6e9ed}.quiet{fill:#9aa4af}.page{fill:#15181c}.lane{fill:#20252b}
    path.main{fill:#5b97ff}path.background{fill:#7b858f}.save{stroke:#e6e9ed}.dropped{stroke:#ff7b72}
    path.axis{stroke:#9aa4af}.floor{stroke:#4cc38a}}
    """
}
