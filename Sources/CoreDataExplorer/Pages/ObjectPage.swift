import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation

/// One object: its values, relationships both ways, row and history.
struct ObjectPage {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private let _key: Int64
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) throws {
    _visit = visit
    (_entity, _key) = try visit.object()
  }

  /// The address of an object.
  static func place(_ link: ObjectLink) -> Place {
    Place("/object", ["entity": link.entity, "key": String(link.key)])
  }

  func answer() throws -> HTTPResponse {
    let reading = try _store.readers.read(_visit.budget) { reader in
      try ObjectReading(entity: _entity, key: _key, _store, reader).map { found in
        let reference = StoredReference(entity: found.entity.entityNumber, key: _key)
        return (
          object: found,
          history: try HistoryReading(_store, reader)?.changes(of: reference, limit: 20, _visit.budget)
        )
      }
    }
    guard let (reading, history) = reading else {
      throw Router.Missing(
        what: "'\(_store.name)' has no \(_entity.entityName) with the key \(_key). It may have been deleted.")
    }
    let content =
      [_heading(reading), _values(reading)] + _relationships(reading) + _referrers(reading) + [
        _history(history), _raw(reading),
      ]
    return PageFrame(_visit, title: reading.link.label ?? reading.link.identifier, isLive: true).answer(
      content)
  }

  private func _heading(_ reading: ObjectReading) -> HTML {
    .tag(
      "div", ["class": "heading"],
      .tag("h1", [:], HTML(ValueText.onOneLine(reading.link.label ?? reading.link.identifier))),
      .tag(
        "span", ["class": "kind"],
        .link(Place("/entity", ["name": reading.entity.entityName]), HTML(reading.entity.entityName)),
        HTML("/p\(_key)")),
      .tag("span", ["class": "grow"]),
      _visit.edits == nil ? .empty : .link(Self.place(reading.link).at("/edit"), class: "button", "Change"))
  }

  // MARK: History

  private typealias History = (
    changes: [(transaction: StoredTransaction, change: StoredChange)], isWhole: Bool
  )

  private func _history(_ history: History?) -> HTML {
    guard let history else { return .empty }
    let items = history.changes.map { transaction, change in
      HTML.tag(
        "li", ["class": "origin"],
        .link(
          Place("/history", ["before": String(transaction.number &+ 1)]), CellView.date(transaction.moment)),
        .tag(
          "b", [:], HTML(change.kind == .insert ? "inserted" : change.kind == .update ? "updated" : "deleted")
        ),
        .tag("span", [:], HTML(change.properties.joined(separator: ", "))), HistoryPage.origin(transaction))
    }
    let rest: HTML =
      history.isWhole
      ? .empty
      : .tag(
        "p", ["class": "kind"],
        "The history is long: only its latest transactions were searched for this object.")
    return .tag(
      "section", ["aria-labelledby": "history"], .tag("h2", ["id": "history"], "History"),
      items.isEmpty && history.isWhole
        ? .tag("p", ["class": "kind"], "No transaction names it.") : .tag("ul", ["class": "changes"], items),
      rest)
  }

  // MARK: Values

  private func _values(_ reading: ObjectReading) -> HTML {
    guard !reading.attributes.isEmpty else { return .empty }
    let empty = reading.attributes.filter { $0.cell == .null }
    // A few of them are not worth a click.
    let isFolded = empty.count > 3
    let shown = isFolded ? reading.attributes.filter { $0.cell != .null } : reading.attributes
    var parts: [HTML] = [.tag("h2", ["id": "values"], "Values")]
    if !shown.isEmpty { parts.append(_rows(shown, of: reading)) }
    if isFolded {
      parts.append(
        .tag(
          "details", ["class": "empty"],
          .tag("summary", [:], HTML("\(Amount.text(empty.count, "attribute")) without a value")),
          _rows(empty, of: reading)))
    }
    return .tag("section", ["aria-labelledby": "values"], parts)
  }

  private func _rows(_ attributes: [ObjectReading.Attribute], of reading: ObjectReading) -> HTML {
    let rows = attributes.map { attribute in
      HTML.tag(
        "tr", ["data-row": attribute.name],
        .tag("th", ["scope": "row"], HTML.name(attribute.name)),
        .tag(
          "td", ["class": "type"],
          HTML(attribute.schema.type.fileName + (attribute.schema.isOptional ? "" : ", required"))),
        .tag(
          "td", ["class": "value"], ValueView(attribute, of: reading.link, in: reading.entity, _store).html))
    }
    return .tag("table", ["class": "record"], .tag("tbody", [:], rows))
  }

  // MARK: Relationships

  private func _relationships(_ reading: ObjectReading) -> [HTML] {
    guard !reading.relationships.isEmpty else { return [] }
    let rows = reading.relationships.map { relationship -> HTML in
      let kind =
        (relationship.isToMany ? (relationship.isOrdered ? "ordered to-many " : "to-many ") : "to-one ")
      return .tag(
        "tr", ["data-row": relationship.name],
        .tag("th", ["scope": "row"], HTML.name(relationship.name)),
        .tag(
          "td", ["class": "type"], HTML(kind),
          .link(Place("/entity", ["name": relationship.destination]), HTML(relationship.destination)),
          relationship.inverse.map { HTML(", back by \($0)") } ?? ", one way"),
        .tag("td", ["class": "value"], _members(relationship)))
    }
    return [
      .tag(
        "section", ["aria-labelledby": "relationships"], .tag("h2", ["id": "relationships"], "Relationships"),
        .tag("table", ["class": "record"], .tag("tbody", [:], rows)))
    ]
  }

  private func _members(_ relationship: ObjectReading.Relationship) -> HTML {
    if let key = relationship.dangling {
      return CellView.short(.dangling(entity: relationship.destination, key: key))
    }
    guard !relationship.members.isEmpty else {
      return .tag("span", ["class": "nil"], HTML(relationship.isToMany ? "none" : "nil"))
    }
    guard relationship.isToMany else { return CellView.object(relationship.members[0]) }
    return Self.list(relationship.members)
      + (relationship.isMore
        ? .tag(
          "p", [:],
          .link(
            Place(
              "/members",
              [
                "entity": _entity.entityName, "key": String(_key), "name": relationship.name,
                "from": String(_store.limits.members),
              ]),
            "More")) : .empty)
  }

  /// Objects as a list of links.
  static func list(_ members: [ObjectLink]) -> HTML {
    .tag(
      "ul", ["class": "members"], members.map { .tag("li", ["data-row": $0.identifier], CellView.object($0)) }
    )
  }

  private func _referrers(_ reading: ObjectReading) -> [HTML] {
    guard !reading.referrers.isEmpty else { return [] }
    let rows = reading.referrers.map { referrers in
      HTML.tag(
        "tr", [:], .tag("th", ["scope": "row"], HTML(referrers.relationship)),
        .tag(
          "td", ["class": "value"], Self.list(referrers.members),
          referrers.isMore ? .tag("p", ["class": "kind"], "and others") : .empty))
    }
    return [
      .tag(
        "section", ["aria-labelledby": "referrers"], .tag("h2", ["id": "referrers"], "Referred to by"),
        .tag("table", ["class": "record"], .tag("tbody", [:], rows)))
    ]
  }

  // MARK: Row

  private func _raw(_ reading: ObjectReading) -> HTML {
    let rows = reading.raw.map { cell in
      HTML.tag(
        "tr", [:], .tag("th", ["scope": "row"], .tag("code", [:], HTML(cell.column))),
        .tag("td", ["class": "type"], HTML(cell.storage)),
        .tag("td", ["class": "value"], .tag("code", [:], HTML(cell.value))))
    }
    return .tag(
      "details", ["class": "section"], .tag("summary", [:], HTML("Row in \(reading.table)")),
      .tag("table", ["class": "record"], .tag("tbody", [:], rows)))
  }
}
