import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata model show`.
  static let show = Command.forEach(
    CommandSyntax(
      "show", summary: "List a model's entities and their properties.",
      examples: [
        "coredata model show Books.xcdatamodeld", "coredata model show Books.sqlite --json",
      ], options: [jsonOption],
      operands: [modelOperand.repeated], exitCodes: [.success, .usage, .badInput, .noInput])
  ) { arguments, environment in
    let schema = try ModelInput.load(arguments.operands[0])
    try environment.output(
      arguments.has("json")
        ? ModelJSON(schema).json.text() + "\n"
        : ModelDescription(schema).text(usesColor: environment.outputTerminal.usesColor))
  }
}

/// A model in words.
struct ModelDescription {
  private let _schema: ModelSchema

  init(_ schema: ModelSchema) { _schema = schema }

  private var _entities: [EntitySchema] { _schema.entities.sorted { $0.name < $1.name } }

  func text(usesColor: Bool) -> String {
    var parts = _entities.map { _text($0, usesColor) }
    if !_schema.configurations.isEmpty {
      parts.append(
        _list(
          "configurations", _schema.configurations.map { ($0.name, $0.entities.joined(separator: ", ")) },
          usesColor))
    }
    if !_schema.fetchRequests.isEmpty {
      let requests = _schema.fetchRequests.map {
        ($0.name, "\($0.entity)\($0.predicate.map { " where \($0)" } ?? "")")
      }
      parts.append(_list("fetch requests", requests, usesColor))
    }
    return parts.isEmpty ? "No entities.\n" : parts.joined(separator: "\n")
  }

  private func _list(_ title: String, _ rows: [(String, String)], _ usesColor: Bool) -> String {
    var table = TextTable([TextTable.Column(title, .left), TextTable.Column("", .left)])
    for row in rows { table.add([.init(row.0), .init(row.1)]) }
    return table.text(usesColor: usesColor)
  }

  private func _text(_ entity: EntitySchema, _ usesColor: Bool) -> String {
    var head = entity.name
    if let parent = entity.parent { head += " : \(parent)" }
    if entity.isAbstract { head += " (abstract)" }
    if let name = entity.className { head += " -> \(name)" }
    var table = TextTable([
      TextTable.Column("property", .left), TextTable.Column("type", .left),
      TextTable.Column("details", .left),
    ])
    for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
      table.add([.init(attribute.name), .init(attribute.type.fileName), .init(_details(attribute))])
    }
    for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
      let arrow = relationship.isToMany ? (relationship.isOrdered ? "ordered ->>" : "->>") : "->"
      table.add([
        .init(relationship.name), .init("\(arrow) \(relationship.destination)"),
        .init(_details(relationship)),
      ])
    }
    for fetched in entity.fetchedProperties {
      table.add([
        .init(fetched.traits.name), .init("fetched \(fetched.request.entity)"),
        .init(fetched.request.predicate ?? ""),
      ])
    }
    var text = head + "\n"
    let isEmpty =
      entity.attributes.isEmpty && entity.relationships.isEmpty && entity.fetchedProperties.isEmpty
    if !isEmpty { text += table.text(usesColor: usesColor) }
    for constraint in entity.uniquenessConstraints {
      text += "unique: \(constraint.joined(separator: ", "))\n"
    }
    for index in entity.indexes {
      let elements = index.elements.map {
        ($0.property ?? $0.expression ?? "") + ($0.isAscending ? "" : " descending")
      }
      text +=
        "index \(index.name): \(elements.joined(separator: ", "))\(index.partialIndexPredicate.map { " where \($0)" } ?? "")\n"
    }
    return text
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
}

extension SchemaLiteral {
  /// The value as written by hand.
  var shown: String {
    switch self {
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let text), .uuid(let text), .uri(let text): text
    case .boolean(let flag): flag ? "YES" : "NO"
    case .string(let text): "\"\(text)\""
    case .date(let seconds): "\(seconds) s since 2001"
    case .data(let bytes): counted(bytes.count, "byte")
    }
  }
}
