import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataModelTools
import Foundation

/// The model that the store is read with: its entities in full.
struct ModelPage {
  private let _visit: Visit
  private var _store: ExploredStore { _visit.store }
  private var _schema: ModelSchema { _store.layout.schema }

  init(_ visit: Visit) { _visit = visit }

  func answer() -> HTTPResponse {
    let hashes = _store.metadata["NSStoreModelVersionHashes"] as? [String: Any] ?? [:]
    let identifiers = _schema.versionIdentifiers.filter { !$0.isEmpty }
    var content: [HTML] = [
      .tag(
        "div", ["class": "heading"], .tag("h1", [:], "Model"),
        .tag("span", ["class": "kind"], HTML(_store.model.origin)),
        identifiers.isEmpty
          ? .empty : .tag("span", ["class": "kind"], HTML("version \(identifiers.joined(separator: ", "))")))
    ]
    content += _store.warnings.map { .tag("p", ["class": "note"], HTML($0)) }
    content += [_findings, _index]
    content += _schema.entities.sorted { $0.name < $1.name }.map { _entity($0, hashes[$0.name] as? Data) }
    content.append(_requests)
    return PageFrame(_visit, title: "Model", part: .model).answer(content)
  }

  /// Findings of the model check, collapsed if they are only warnings.
  private var _findings: HTML {
    let findings = ModelReview.findings(_schema)
    guard !findings.isEmpty else {
      return .tag("p", ["class": "kind"], "The check of the model found no problems.")
    }
    let errors = findings.count(where: \.isError)
    let items = findings.prefix(200).map { finding in
      HTML.tag(
        "li", [:],
        .tag(
          "span", ["class": finding.isError ? "badge slow" : "badge"],
          HTML(finding.isError ? "error" : "warning")),
        .tag("b", [:], HTML(finding.subject)), HTML("  \(finding.message)"))
    }
    return .tag(
      "details", ["class": "section", "open": errors > 0 ? "" : nil],
      .tag(
        "summary", [:],
        HTML("\(Amount.text(errors, "error")), \(Amount.text(findings.count - errors, "warning"))")),
      .tag("ul", ["class": "findings"], Array(items)))
  }

  private var _index: HTML {
    .tag(
      "nav", ["aria-label": "Entities", "class": "entity-index"],
      .tag(
        "ul", ["class": "members"],
        _schema.entities.map(\.name).sorted().map { name in
          .tag("li", [:], .tag("a", ["href": "#" + _anchor(name)], HTML(name)))
        }))
  }

  private func _anchor(_ name: String) -> String {
    "e\(_store.layout.layoutsByName[name]?.entityNumber ?? 0)"
  }

  // MARK: Entities

  private func _entity(_ entity: EntitySchema, _ hash: Data?) -> HTML {
    var facts: [String] = []
    if entity.isAbstract { facts.append("abstract") }
    if let parent = entity.parent { facts.append("a \(parent)") }
    if let name = entity.className, name != "NSManagedObject" { facts.append("class \(name)") }
    if let hash { facts.append("hash \(hash.prefix(6).map { String(format: "%02x", $0) }.joined())…") }
    return .tag(
      "section", ["id": _anchor(entity.name), "class": "entity"],
      .tag(
        "h2", [:], .link(Place("/entity", ["name": entity.name]), HTML(entity.name)),
        .tag("span", ["class": "kind"], HTML("  " + facts.joined(separator: ", ")))),
      _attributes(entity), _relationships(entity), _indexes(entity))
  }

  private func _table(_ label: String, _ heads: [String], _ rows: [[HTML]]) -> HTML {
    guard !rows.isEmpty else { return .empty }
    return .tag(
      "div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": label],
      .tag(
        "table", ["class": "grid"],
        .tag("thead", [:], .tag("tr", [:], heads.map { .tag("th", ["scope": "col"], HTML($0)) })),
        .tag(
          "tbody", [:],
          rows.map { row in
            .tag(
              "tr", [:], [.tag("th", ["scope": "row"], row[0])] + row.dropFirst().map { .tag("td", [:], $0) })
          })))
  }

  private func _attributes(_ entity: EntitySchema) -> HTML {
    let rows = entity.attributes.sorted { $0.name < $1.name }.map { attribute -> [HTML] in
      var notes: [String] = []
      if attribute.isTransient { notes.append("transient") }
      if let expression = attribute.derivationExpression { notes.append("derived: \(expression)") }
      if attribute.allowsExternalBinaryDataStorage { notes.append("may be a file") }
      if attribute.preservesValueInHistoryOnDeletion { notes.append("kept in history") }
      if let name = attribute.valueTransformerName { notes.append("by \(name)") }
      if let text = Self._range(attribute.limits) { notes.append(text) }
      if let pattern = attribute.limits.regularExpression { notes.append("matches \(pattern)") }
      notes += attribute.validations.map { "must meet \($0.predicate)" }
      if !attribute.elements.isEmpty {
        notes.append("of " + attribute.elements.map(\.name).joined(separator: ", "))
      }
      return [
        HTML(attribute.name), HTML(attribute.type.fileName), HTML(attribute.isOptional ? "" : "required"),
        HTML(attribute.defaultValue.map(Self._text) ?? ""), HTML(notes.joined(separator: "; ")),
      ]
    }
    return _table(
      "Attributes of \(entity.name)", ["Attribute", "Type", "Required", "Default", "Notes"], rows)
  }

  private static func _range(_ limits: AttributeLimits) -> String? {
    switch (limits.minimum, limits.maximum) {
    case (nil, nil): nil
    case (let low?, nil): "at least \(_text(low))"
    case (nil, let high?): "at most \(_text(high))"
    case (let low?, let high?): "\(_text(low)) to \(_text(high))"
    }
  }

  private static func _text(_ literal: SchemaLiteral) -> String {
    switch literal {
    case .integer(let number): String(number)
    case .double(let number): Amount.text(number)
    case .decimal(let text), .string(let text), .uuid(let text), .uri(let text): text
    case .boolean(let flag): flag ? "true" : "false"
    case .date(let seconds): CellView.plain(.date(seconds)) ?? ""
    case .data(let bytes): Amount.text(bytes.count, "byte")
    }
  }

  private func _relationships(_ entity: EntitySchema) -> HTML {
    let rows = entity.relationships.sorted { $0.name < $1.name }.map { relationship -> [HTML] in
      let kind = relationship.isToMany ? (relationship.isOrdered ? "ordered to-many" : "to-many") : "to-one"
      var notes = [relationship.isOptional ? "" : "required"]
      if relationship.isToMany, relationship.minCount > 0 {
        notes.append("at least \(relationship.minCount)")
      }
      if relationship.isToMany, relationship.maxCount > 0 { notes.append("at most \(relationship.maxCount)") }
      let rule =
        switch relationship.deleteRule {
        case .noAction: "no action"
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        }
      return [
        HTML(relationship.name), HTML(kind),
        .link(Place("/entity", ["name": relationship.destination]), HTML(relationship.destination)),
        HTML(relationship.inverse.map { "back by \($0)" } ?? "no inverse"), HTML(rule),
        HTML(notes.filter { !$0.isEmpty }.joined(separator: ", ")),
      ]
    }
    return _table(
      "Relationships of \(entity.name)",
      ["Relationship", "Kind", "Destination", "Inverse", "On deletion", "Notes"], rows)
  }

  private func _indexes(_ entity: EntitySchema) -> HTML {
    var lines = entity.indexes.map { index in
      let elements = index.elements.map {
        "\($0.property ?? $0.expression ?? "?")\($0.isAscending ? "" : " descending")"
      }
      return "\(index.name): \(elements.joined(separator: ", "))"
        + (index.partialIndexPredicate.map { " where \($0)" } ?? "")
    }
    lines += entity.uniquenessConstraints.map { "unique: \($0.joined(separator: ", "))" }
    guard !lines.isEmpty else { return .empty }
    return .tag("ul", ["class": "indexes"], lines.map { .tag("li", [:], HTML($0)) })
  }

  private var _requests: HTML {
    guard !_schema.fetchRequests.isEmpty else { return .empty }
    let rows = _schema.fetchRequests.map { request -> [HTML] in
      let isRunnable = request.predicate.map { !$0.contains("$") && !$0.contains("%") } ?? true
      let entity = HTML(request.entity)
      return [
        HTML(request.name),
        isRunnable
          ? .link(Place("/entity", ["name": request.entity, "where": request.predicate]), entity) : entity,
        .tag("code", [:], HTML(request.predicate ?? "")),
      ]
    }
    return .tag(
      "section", [:], .tag("h2", [:], "Fetch requests"),
      _table("Fetch requests", ["Name", "Entity", "Predicate"], rows))
  }
}
