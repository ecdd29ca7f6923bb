import ModelSchema
import ToolKit

extension Command {
  /// `coredata model show`.
  static let show = Command(
    CommandSyntax(
      "show", summary: "List a model's entities and their properties.", options: [jsonOption],
      operands: [modelOperand], exitCodes: [.success, .usage, .badInput, .noInput])
  ) { arguments, environment in
    let description = ModelDescription(try ModelInput.load(arguments.operands[0]))
    environment.output(
      arguments.has("json") ? description.json.text() + "\n"
        : description.text(usesColor: environment.outputTerminal.usesColor))
  }
}

/// A model in words.
struct ModelDescription {
  private let _schema: ModelSchema

  init(_ schema: ModelSchema) { _schema = schema }

  private var _entities: [EntitySchema] { _schema.entities.sorted { $0.name < $1.name } }

  func text(usesColor: Bool) -> String {
    _entities.map { _text($0, usesColor) }.joined(separator: "\n")
  }

  private func _text(_ entity: EntitySchema, _ usesColor: Bool) -> String {
    var head = entity.name
    if let parent = entity.parent { head += " : \(parent)" }
    if entity.isAbstract { head += " (abstract)" }
    if let name = entity.className { head += " -> \(name)" }
    var table = TextTable([
      TextTable.Column("property", .left), TextTable.Column("type", .left), TextTable.Column("details", .left),
    ])
    for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
      table.add([.init(attribute.name), .init(attribute.type.fileName), .init(_details(attribute))])
    }
    for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
      let arrow = relationship.isToMany ? (relationship.isOrdered ? "ordered ->>" : "->>") : "->"
      table.add([.init(relationship.name), .init("\(arrow) \(relationship.destination)"), .init(_details(relationship))])
    }
    for fetched in entity.fetchedProperties {
      table.add([
        .init(fetched.traits.name), .init("fetched \(fetched.request.entity)"), .init(fetched.request.predicate ?? ""),
      ])
    }
    return head + "\n" + table.text(usesColor: usesColor)
  }

  private func _details(_ attribute: AttributeSchema) -> String {
    var details: [String] = []
    if !attribute.isOptional { details.append("required") }
    if attribute.isTransient { details.append("transient") }
    if let value = attribute.defaultValue { details.append("default \(value.shown)") }
    if let expression = attribute.derivationExpression { details.append("derived: \(expression)") }
    return details.joined(separator: ", ")
  }

  private func _details(_ relationship: RelationshipSchema) -> String {
    var details: [String] = []
    if !relationship.isOptional { details.append("required") }
    details.append(relationship.inverse.map { "inverse \($0)" } ?? "no inverse")
    details.append("on delete \(relationship.deleteRule)")
    return details.joined(separator: ", ")
  }

  var json: JSONText {
    .object([
      ("entities", .array(_entities.map(_json))),
      ("configurations", .array(_schema.configurations.map { .string($0.name) })),
      ("fetchRequests", .array(_schema.fetchRequests.map { .string($0.name) })),
      ("versionIdentifiers", .array(_schema.versionIdentifiers.map(JSONText.string))),
    ])
  }

  private func _json(_ entity: EntitySchema) -> JSONText {
    .object([
      ("name", .string(entity.name)), ("class", entity.className.map(JSONText.string) ?? .null),
      ("parent", entity.parent.map(JSONText.string) ?? .null), ("isAbstract", .boolean(entity.isAbstract)),
      (
        "attributes",
        .array(
          entity.attributes.sorted { $0.name < $1.name }.map {
            .object([
              ("name", .string($0.name)), ("type", .string($0.type.fileName)), ("isOptional", .boolean($0.isOptional)),
              ("isTransient", .boolean($0.isTransient)),
              ("default", $0.defaultValue.map { .string($0.shown) } ?? .null),
            ])
          })
      ),
      (
        "relationships",
        .array(
          entity.relationships.sorted { $0.name < $1.name }.map {
            .object([
              ("name", .string($0.name)), ("destination", .string($0.destination)),
              ("inverse", $0.inverse.map(JSONText.string) ?? .null), ("isToMany", .boolean($0.isToMany)),
              ("isOrdered", .boolean($0.isOrdered)), ("isOptional", .boolean($0.isOptional)),
              ("deleteRule", .string("\($0.deleteRule)")),
            ])
          })
      ),
    ])
  }
}

extension SchemaLiteral {
  /// The value as people write it.
  var shown: String {
    switch self {
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let text), .uuid(let text), .uri(let text): text
    case .boolean(let flag): flag ? "YES" : "NO"
    case .string(let text): "\"\(text)\""
    case .date(let seconds): "\(seconds) s since 2001"
    case .data(let bytes): "\(bytes.count) bytes"
    }
  }
}
