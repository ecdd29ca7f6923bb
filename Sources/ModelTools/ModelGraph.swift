import ModelSchema
import ToolKit

/// Entities as boxes, relationships and inheritance as lines.
struct ModelGraph {
  enum Form: String, CaseIterable, Sendable { case dot, mermaid, svg }

  private struct Edge {
    let from: String
    let to: String
    let label: String
    let isToMany: Bool
    let isInheritance: Bool
  }

  private let _entities: [EntitySchema]
  private var _edges: [Edge] = []

  init(_ schema: ModelSchema) {
    _entities = schema.entities.sorted { $0.name < $1.name }
    let names = Set(_entities.map(\.name))
    for entity in _entities {
      if let parent = entity.parent, names.contains(parent) {
        _edges.append(Edge(from: entity.name, to: parent, label: "", isToMany: false, isInheritance: true))
      }
      for relationship in entity.relationships.sorted(by: { $0.name < $1.name })
      where names.contains(relationship.destination) {
        _edges.append(
          Edge(
            from: entity.name, to: relationship.destination, label: relationship.name,
            isToMany: relationship.isToMany, isInheritance: false))
      }
    }
  }

  func text(_ form: Form) -> String {
    switch form {
    case .dot: _dot
    case .mermaid: _mermaid
    case .svg: _svg
    }
  }

  private func _lines(_ entity: EntitySchema) -> [String] {
    entity.attributes.sorted { $0.name < $1.name }.map { "\($0.name): \($0.type.fileName)\($0.isOptional ? "?" : "")" }
  }

  // MARK: DOT

  private var _dot: String {
    func quoted(_ text: String) -> String {
      "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    func field(_ text: String) -> String {
      String(text.flatMap { "{}|<>\\".contains($0) ? ["\\", $0] : [$0] })
    }
    var text = "digraph model {\n  node [shape=record];\n"
    for entity in _entities {
      let rows = _lines(entity).map { field($0).replacing("\"", with: "\\\"") + "\\l" }.joined()
      text += "  \(quoted(entity.name)) [label=\"{\(field(entity.name).replacing("\"", with: "\\\""))|\(rows)}\"];\n"
    }
    for edge in _edges {
      let style =
        edge.isInheritance
        ? "arrowhead=empty" : "label=\(quoted(edge.label)), arrowhead=\(edge.isToMany ? "crow" : "vee")"
      text += "  \(quoted(edge.from)) -> \(quoted(edge.to)) [\(style)];\n"
    }
    return text + "}\n"
  }

  // MARK: Mermaid

  private var _mermaid: String {
    // Mermaid has no way to quote a name.
    func word(_ text: String) -> String { String(text.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" }) }
    var text = "classDiagram\n"
    for entity in _entities {
      text += "  class \(word(entity.name)) {\n"
      for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
        text += "    \(word(attribute.type.fileName)) \(word(attribute.name))\n"
      }
      text += "  }\n"
    }
    for edge in _edges {
      text +=
        edge.isInheritance
        ? "  \(word(edge.to)) <|-- \(word(edge.from))\n"
        : "  \(word(edge.from)) --> \"\(edge.isToMany ? "*" : "1")\" \(word(edge.to)) : \(word(edge.label))\n"
    }
    return text
  }

  // MARK: SVG

  /// Boxes in a grid that is about as wide as high, lines between their middles underneath.
  private var _svg: String {
    let (width, rowHeight, gap) = (220, 16, 60)
    let columns = max(1, Int(Double(_entities.count).squareRoot().rounded(.up)))
    var boxes: [String: (x: Int, y: Int, height: Int)] = [:]
    var y = gap
    for start in stride(from: 0, to: _entities.count, by: columns) {
      let row = _entities[start..<min(start + columns, _entities.count)]
      let heights = row.map { 30 + _lines($0).count * rowHeight }
      for (index, entity) in row.enumerated() {
        boxes[entity.name] = (gap + index * (width + gap), y, heights[index])
      }
      y += (heights.max() ?? 0) + gap
    }
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(gap + columns * (width + gap))" height="\(y)" \
      font-family="sans-serif" font-size="12">\n
      """
    for edge in _edges {
      guard let from = boxes[edge.from], let to = boxes[edge.to] else { continue }
      let (x1, y1) = (from.x + width / 2, from.y + from.height / 2)
      let (x2, y2) = (to.x + width / 2, to.y + to.height / 2)
      let dash = edge.isInheritance ? " stroke-dasharray=\"4 3\"" : ""
      let label = edge.isInheritance ? "is a" : edge.label + (edge.isToMany ? " *" : "")
      text += "  <line x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\" stroke=\"#888\"\(dash)/>\n"
      // A third of the way, so that the labels of both directions do not meet.
      text += "  <text x=\"\((2 * x1 + x2) / 3)\" y=\"\((2 * y1 + y2) / 3)\" fill=\"#555\">\(Markup.escaped(label))</text>\n"
    }
    for entity in _entities {
      guard let box = boxes[entity.name] else { continue }
      text += "  <rect x=\"\(box.x)\" y=\"\(box.y)\" width=\"\(width)\" height=\"\(box.height)\" rx=\"6\" fill=\"white\" "
      text += "stroke=\"#333\"/>\n"
      text += "  <text x=\"\(box.x + 10)\" y=\"\(box.y + 18)\" font-weight=\"bold\">\(Markup.escaped(entity.name))</text>\n"
      for (index, line) in _lines(entity).enumerated() {
        text += "  <text x=\"\(box.x + 10)\" y=\"\(box.y + 38 + index * rowHeight)\">\(Markup.escaped(line))</text>\n"
      }
    }
    return text + "</svg>\n"
  }
}

extension Command {
  /// `coredata model graph`.
  static let graph = Command(
    CommandSyntax(
      "graph", summary: "Draw a model's entities.",
      options: [
        .value("format", "FORM", choices: ["dot", "mermaid", "svg"], "dot (the default), mermaid or svg."),
        .value("output", "FILE", "Write there instead of to standard output."),
      ], operands: [modelOperand], exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let form: ModelGraph.Form = try arguments.choice("format") ?? .dot
    let text = ModelGraph(try ModelInput.load(arguments.operands[0])).text(form)
    if let output = arguments.text("output") {
      try OutputFile(path: output).write(text)
    } else {
      environment.output(text)
    }
  }
}
