import CoreDataModelSchema
import CoreDataToolKit

/// A graph as SVG.
struct GraphDrawing {
  private let _graph: ModelGraph
  private let _layout: GraphLayout
  private let _numbers: [String: Int]
  /// Minimum height per attached line, so that its label fits.
  private static let _portHeight = 14

  private static let _rowHeight = 17
  private static let _headHeight = 28
  private static let _letter = 6.7
  /// Colours are literal: some programs that show SVG do not support variables.
  static let style = """
    .box{fill:#fff;stroke:#5b6b7f}.head{fill:#e4ecf6}.abstract .head{fill:#eceaf6}
    .name{font-weight:600;fill:#1d2733}.abstract .name{font-style:italic}.row{fill:#2f3b49}
    .type{fill:#66717f}.line,.mark{fill:none;stroke:#7d8b9c;stroke-width:1.3}.is{stroke-dasharray:5 4}
    .filled{fill:#fbfcfd}
    .label{fill:#3c4a5a;font-size:10.5px;paint-order:stroke;stroke:#fbfcfd;stroke-width:3px}
    .page{fill:#fbfcfd}
    @media(prefers-color-scheme:dark){
    .box{fill:#1d2228;stroke:#8593a3}.head{fill:#2a3644}.abstract .head{fill:#363145}.name{fill:#f0f3f6}
    .row{fill:#d5dbe2}.type{fill:#99a5b3}.line,.mark{stroke:#8593a3}.filled{fill:#15181c}
    .label{fill:#c3ccd6;stroke:#15181c}.page{fill:#15181c}}
    """

  private let _link: (String) -> String?

  /// - Parameter link: URL to which an entity's box links; nil for none.
  init(_ graph: ModelGraph, link: @escaping (String) -> String? = { _ in nil }) {
    _graph = graph
    _link = link
    let numbers = Dictionary(
      graph.entities.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first })
    _numbers = numbers
    var ends: [String: Int] = [:]
    for edge in graph.edges {
      ends[edge.from.entity, default: 0] += 1
      ends[edge.to.entity, default: 0] += 1
    }
    _layout = GraphLayout(
      sizes: graph.entities.map { entity in
        let texts = [entity.name + "   "] + entity.attributes.map(ModelGraph.line)
        let letters = texts.map { Double(TextWidth.of($0)) }.max() ?? 0
        let height = max(Self._boxHeight(entity), (ends[entity.name] ?? 0) * Self._portHeight + 12)
        return (min(420, max(130, Int(letters * Self._letter) + 24)), height)
      },
      lines: graph.edges.compactMap { edge in
        guard let from = numbers[edge.from.entity], let to = numbers[edge.to.entity] else { return nil }
        return (from, to)
      })
  }

  private static func _boxHeight(_ entity: EntitySchema) -> Int {
    _headHeight + (entity.attributes.isEmpty ? 0 : entity.attributes.count * _rowHeight + 10)
  }

  var svg: String { markup.text + "\n" }

  /// The drawing as an SVG element.
  var markup: Markup {
    // Lines first: boxes are drawn over them.
    let children = [
      Markup.tag("title", ["id": "graph-title"], [.text(_title)]),
      Markup.tag("style", [:], [.verbatim(Self.style)]), _markers,
      Markup.tag("rect", ["class": "page", "width": "100%", "height": "100%"]),
    ]
    let drawn = _lines()
    // Lines within the last column, and their labels, extend beyond it.
    let width = max(_layout.width, (drawn.map(\.right).max() ?? 0) + GraphLayout.margin)
    return Markup.tag(
      "svg",
      [
        "xmlns": "http://www.w3.org/2000/svg", "width": "\(width)", "height": "\(_layout.height)",
        "viewBox": "0 0 \(width) \(_layout.height)", "role": "img", "aria-labelledby": "graph-title",
        "font-family": "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif", "font-size": "12",
      ], children + drawn.map(\.line) + _graph.entities.indices.map(_box) + drawn.flatMap(\.labels))
  }

  /// A one-sentence description of the drawing, for screen readers.
  private var _title: String {
    let relationships = _graph.edges.count { $0.kind == .relationship }
    let names = _graph.entities.prefix(8).map(\.name).joined(separator: ", ")
    return "Data model: \(counted(_graph.entities.count, "entity", plural: "entities")) "
      + "(\(names)\(_graph.entities.count > 8 ? " and others" : "")), \(counted(relationships, "relationship"))"
  }

  // MARK: Boxes

  private func _box(_ number: Int) -> Markup {
    let (entity, box) = (_graph.entities[number], _layout.boxes[number])
    let (x, y) = (box.x, box.y)
    var parts: [Markup] = [
      .tag(
        "rect",
        [
          "class": "box", "x": "\(x)", "y": "\(y)", "width": "\(box.width)", "height": "\(box.height)",
          "rx": "6",
        ]),
      .tag(
        "path",
        [
          "class": "head",
          "d": "M\(x + 1) \(y + Self._headHeight)v-\(Self._headHeight - 7)q0-6 6-6h\(box.width - 14)q6 0 6 6"
            + "v\(Self._headHeight - 7)z",
        ]),
      .tag(
        "text", ["class": "name", "x": "\(x + 10)", "y": "\(y + 19)"],
        [.text(Self._fitting(entity.name, box.width))]),
    ]
    for (index, attribute) in entity.attributes.sorted(by: { $0.name < $1.name }).enumerated() {
      let baseline = y + Self._headHeight + 17 + index * Self._rowHeight
      let type = ": \(attribute.type.fileName)\(attribute.isOptional ? "?" : "")"
      parts.append(
        .tag(
          "text", ["class": "row", "x": "\(x + 10)", "y": "\(baseline)"],
          [
            .text(Self._fitting(attribute.name, box.width - Int(Double(type.count) * Self._letter))),
            .tag("tspan", ["class": "type"], [.text(type)]),
          ]))
    }
    let group = Markup.tag("g", ["class": entity.isAbstract ? "abstract" : "entity"], parts)
    return _link(entity.name).map { .tag("a", ["href": $0], [group]) } ?? group
  }

  private static func _fitting(_ text: String, _ width: Int) -> String {
    TextWidth.truncated(text, to: max(4, Int(Double(width - 20) / _letter)))
  }

  // MARK: Lines

  private var _markers: Markup {
    func marker(_ id: String, _ path: String, _ style: String = "mark") -> Markup {
      .tag(
        "marker",
        [
          "id": id, "viewBox": "0 0 12 12", "refX": "12", "refY": "6", "markerWidth": "12",
          "markerHeight": "12",
          "markerUnits": "userSpaceOnUse", "orient": "auto-start-reverse",
        ], [.tag("path", ["class": style, "d": path])])
    }
    return .tag(
      "defs", [:],
      [
        marker("many", "M12 1L2 6L12 11M2 6H12"), marker("one", "M6 1V11M0 6H12"),
        marker("parent", "M1 1L12 6L1 11z", "mark filled"),
      ])
  }

  /// Where a line leaves a box: the lines of a box are distributed along its sides, from top to bottom.
  private struct Port {
    let edge: Int
    let isStart: Bool
    let box: Int
    let isRight: Bool
    /// Height of the other end, by which the ports of a side are ordered.
    let towards: Int
  }

  /// A line with the labels of its ends, and its right edge.
  private typealias Line = (line: Markup, labels: [Markup], right: Int)

  private func _lines() -> [Line] {
    var ports: [Port] = []
    for (number, edge) in _graph.edges.enumerated() {
      guard let from = _numbers[edge.from.entity], let to = _numbers[edge.to.entity] else { continue }
      let (start, end) = (_layout.boxes[from], _layout.boxes[to])
      func middle(_ box: GraphLayout.Box) -> Int { box.y + box.height / 2 }
      // Within a column, and from a box to itself, lines are drawn on the right.
      ports.append(
        Port(
          edge: number, isStart: true, box: from, isRight: start.column <= end.column, towards: middle(end)))
      ports.append(
        Port(
          edge: number, isStart: false, box: to, isRight: end.column <= start.column, towards: middle(start)))
    }
    var places: [Int: [Bool: (x: Int, y: Int, isRight: Bool)]] = [:]
    for side in Dictionary(grouping: ports, by: { [$0.box, $0.isRight ? 1 : 0] }).values {
      let box = _layout.boxes[side[0].box]
      let sorted = side.sorted {
        ($0.towards, $0.edge, $0.isStart ? 0 : 1) < ($1.towards, $1.edge, $1.isStart ? 0 : 1)
      }
      for (index, port) in sorted.enumerated() {
        let y = box.y + (index + 1) * box.height / (sorted.count + 1)
        places[port.edge, default: [:]][port.isStart] = (
          port.isRight ? box.x + box.width : box.x, y, port.isRight
        )
      }
    }
    return _graph.edges.indices.compactMap { number in
      guard let start = places[number]?[true], let end = places[number]?[false] else { return nil }
      return _line(_graph.edges[number], start, end)
    }
  }

  private func _line(
    _ edge: ModelGraph.Edge, _ start: (x: Int, y: Int, isRight: Bool), _ end: (x: Int, y: Int, isRight: Bool)
  ) -> Line {
    let reach =
      start.isRight == end.isRight
      ? 46 + min(60, abs(start.y - end.y) / 6) : max(40, abs(end.x - start.x) / 2)
    let (one, other) = (start.x + (start.isRight ? reach : -reach), end.x + (end.isRight ? reach : -reach))
    // A curve reaches three quarters of the way to its control points.
    let turn = (start.x + end.x + 3 * (one + other)) / 8
    let path = "M\(start.x) \(start.y)C\(one) \(start.y) \(other) \(end.y) \(end.x) \(end.y)"
    switch edge.kind {
    case .inheritance:
      return (.tag("path", ["class": "line is", "d": path, "marker-end": "url(#parent)"]), [], turn)
    case .relationship:
      // The name of a relationship is drawn at its destination.
      let marks: KeyValuePairs =
        edge.to.name == nil
        ? ["class": "line", "d": path, "marker-end": "url(#\(edge.from.isToMany ? "many" : "one"))"]
        : [
          "class": "line", "d": path, "marker-start": "url(#\(edge.to.isToMany ? "many" : "one"))",
          "marker-end": "url(#\(edge.from.isToMany ? "many" : "one"))",
        ]
      var labels = [_label(edge.from.name!, end)]
      if let inverse = edge.to.name { labels.append(_label(inverse, start)) }
      let texts = [(end, edge.from.name!), (start, edge.to.name ?? "")].filter { $0.0.isRight }
      let reached = texts.map { $0.0.x + 16 + Int(Double(min(22, $0.1.count)) * Self._letter) }
      return (.tag("path", marks), labels, max(turn, reached.max() ?? 0))
    }
  }

  private func _label(_ text: String, _ end: (x: Int, y: Int, isRight: Bool)) -> Markup {
    .tag(
      "text",
      [
        "class": "label", "x": "\(end.x + (end.isRight ? 16 : -16))", "y": "\(end.y - 4)",
        "text-anchor": end.isRight ? "start" : "end",
      ], [.text(TextWidth.truncated(text, to: 22))])
  }
}
