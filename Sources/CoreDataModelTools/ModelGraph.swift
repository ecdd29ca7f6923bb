import CoreDataModelSchema
import CoreDataToolKit

/// Entities as boxes, relationships and inheritance as lines.
struct ModelGraph {
  enum Form: String, CaseIterable, Sendable { case dot, mermaid, svg }

  /// One end of a relationship: the name for the entity at the other end.
  struct End: Sendable, Hashable {
    let entity: String
    /// Nil without an inverse.
    let name: String?
    let isToMany: Bool
    let isOptional: Bool
  }

  /// A relationship with its inverse, or one without; or a step of inheritance.
  struct Edge: Sendable, Hashable {
    enum Kind: String, Sendable { case relationship, inheritance }

    let kind: Kind
    /// The relationship as its owner names it; of an inheritance, the subentity.
    let from: End
    /// Its inverse, as the destination names it; of an inheritance, the parent.
    let to: End
  }

  let entities: [EntitySchema]
  let edges: [Edge]

  init(_ schema: ModelSchema) {
    entities = schema.entities.sorted { $0.name < $1.name }
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var edges: [Edge] = []
    var drawn: Set<[String]> = []
    for entity in entities {
      if let parent = entity.parent, byName[parent] != nil {
        edges.append(
          Edge(
            kind: .inheritance, from: End(entity: entity.name, name: nil, isToMany: false, isOptional: true),
            to: End(entity: parent, name: nil, isToMany: false, isOptional: true)))
      }
      for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
        guard let destination = byName[relationship.destination] else { continue }
        // A relationship and its inverse are one line.
        if drawn.contains([entity.name, relationship.name]) { continue }
        let inverse = relationship.inverse.flatMap { name in
          destination.relationships.first { $0.name == name }
        }
        if let inverse { drawn.insert([destination.name, inverse.name]) }
        edges.append(
          Edge(
            kind: .relationship,
            from: End(
              entity: entity.name, name: relationship.name, isToMany: relationship.isToMany,
              isOptional: relationship.isOptional),
            to: End(
              entity: destination.name, name: inverse?.name, isToMany: inverse?.isToMany ?? false,
              isOptional: inverse?.isOptional ?? true)))
      }
    }
    self.edges = edges
  }

  func text(_ form: Form) -> String {
    switch form {
    case .dot: _dot
    case .mermaid: _mermaid
    case .svg: GraphDrawing(self).svg
    }
  }

  var json: JSONText {
    .object([
      (
        "entities",
        .array(
          entities.map {
            .object([
              ("name", .string($0.name)), ("isAbstract", .boolean($0.isAbstract)),
              (
                "attributes",
                .array($0.attributes.sorted { $0.name < $1.name }.map { .string(Self.line($0)) })
              ),
            ])
          })
      ),
      (
        "edges",
        .array(
          edges.map {
            .object([
              ("kind", .string($0.kind.rawValue)), ("from", .string($0.from.entity)),
              ("to", .string($0.to.entity)),
              ("name", $0.from.name.map { .string($0) } ?? .null),
              ("inverse", $0.to.name.map { .string($0) } ?? .null),
              ("isToMany", .boolean($0.from.isToMany)), ("inverseIsToMany", .boolean($0.to.isToMany)),
            ])
          })
      ),
    ])
  }

  /// The text of an attribute in a box.
  static func line(_ attribute: AttributeSchema) -> String {
    "\(attribute.name): \(attribute.type.fileName)\(attribute.isOptional ? "?" : "")"
  }

  private func _lines(_ entity: EntitySchema) -> [String] {
    entity.attributes.sorted { $0.name < $1.name }.map(Self.line)
  }

  // MARK: DOT

  private var _dot: String {
    func quoted(_ text: String) -> String {
      "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    func field(_ text: String) -> String {
      String(text.flatMap { "{}|<>\\".contains($0) ? ["\\", $0] : [$0] }).replacing("\"", with: "\\\"")
    }
    func head(_ end: End) -> String { end.isToMany ? "crow" : "tee" }
    var text =
      "digraph model {\n  rankdir=LR;\n  node [shape=record, fontname=\"sans-serif\", fontsize=11];\n"
    text += "  edge [fontname=\"sans-serif\", fontsize=9];\n"
    for entity in entities {
      let rows = _lines(entity).map { field($0) + "\\l" }.joined()
      text += "  \(quoted(entity.name)) [label=\"{\(field(entity.name))|\(rows)}\"];\n"
    }
    for edge in edges {
      let style: String
      switch edge.kind {
      case .inheritance: style = "arrowhead=empty, style=dashed"
      case .relationship:
        let label = edge.from.name! + (edge.to.name.map { " / \($0)" } ?? "")
        let tail = edge.to.name == nil ? "" : ", dir=both, arrowtail=\(head(edge.to))"
        style = "label=\(quoted(label)), arrowhead=\(edge.from.isToMany ? "crow" : "tee")\(tail)"
      }
      text += "  \(quoted(edge.from.entity)) -> \(quoted(edge.to.entity)) [\(style)];\n"
    }
    return text + "}\n"
  }

  // MARK: Mermaid

  private var _mermaid: String {
    // Mermaid cannot quote names.
    func word(_ text: String) -> String {
      String(text.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
    }
    func count(_ end: End) -> String { end.isToMany ? "*" : end.isOptional ? "0..1" : "1" }
    var text = "classDiagram\n"
    for entity in entities {
      text += "  class \(word(entity.name)) {\n"
      if entity.isAbstract { text += "    <<abstract>>\n" }
      for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
        text += "    \(word(attribute.type.fileName)) \(word(attribute.name))\n"
      }
      text += "  }\n"
    }
    for edge in edges {
      let (from, to) = (word(edge.from.entity), word(edge.to.entity))
      switch edge.kind {
      case .inheritance: text += "  \(to) <|-- \(from)\n"
      case .relationship:
        let name = word(edge.from.name!)
        text +=
          edge.to.name.map {
            "  \(from) \"\(count(edge.to))\" -- \"\(count(edge.from))\" \(to) : \(name) / \(word($0))\n"
          }
          ?? "  \(from) --> \"\(count(edge.from))\" \(to) : \(name)\n"
      }
    }
    return text
  }
}
