import CoreData
import CoreDataModelSchema
import Foundation

/// The controls above a table: name, filter, columns, links.
struct EntityTools {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private let _request: TableRequest?
  private let _problem: TableRequest.Problem?
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit, _ entity: PropertyLayout, _ request: TableRequest?, _ problem: TableRequest.Problem?) {
    (_visit, _entity, _request, _problem) = (visit, entity, request, problem)
  }

  func heading(_ page: TablePage?) -> HTML {
    let count =
      switch page?.total {
      case .exactly(let count): Amount.text(count, "object")
      case .moreThan(let count): count == 0 ? "many objects" : "more than \(Amount.text(count)) objects"
      case nil: ""
      }
    return .tag(
      "div", ["class": "heading"],
      .tag("h1", [:], HTML(_entity.entityName)),
      .tag("span", ["class": "count", "data-count": ""], HTML(count)), _lineage,
      .tag("span", ["class": "grow"]), _actions)
  }

  /// The entities above and below.
  private var _lineage: HTML {
    var parts: [HTML] = []
    if let parent = _entity.parentNumber {
      parts.append("a ")
      parts.append(_link(parent))
    }
    let children = _store.layout.layouts.filter { $0.parentNumber == _entity.entityNumber }
    if !children.isEmpty {
      parts.append(HTML(parts.isEmpty ? "with " : ", with "))
      for (index, child) in children.enumerated() {
        if index > 0 { parts.append(", ") }
        parts.append(_link(child.entityNumber))
      }
    }
    return parts.isEmpty ? .empty : .tag("span", ["class": "kind"], parts)
  }

  private func _link(_ entity: Int) -> HTML {
    let name = _store.layout.layout(numbered: entity).entityName
    return .link(Place("/entity", ["name": name]), HTML(name))
  }

  private var _actions: HTML {
    guard let request = _request else { return .empty }
    var links: [HTML] = []
    if _visit.edits != nil, !_entity.isAbstract {
      links.append(.link(Place("/new", ["entity": _entity.entityName]), class: "button", "New"))
    }
    var page = request.place
    for field in ["after", "before", "last"] { page = page.with(field, _visit.request.query(field)) }
    links.append(.link(page.at("/sql"), class: "button", "SQL"))
    links += ExportAnswer.Form.allCases.map { form in
      .link(
        request.place.at("/export").with("as", form.rawValue), class: "button",
        title: "Export as \(form.rawValue)", HTML(form.rawValue.uppercased()))
    }
    return .tag("div", ["class": "actions"], links)
  }

  // MARK: Filter

  var filter: HTML {
    let hasProblem = _problem?.field == .filter
    let text = _visit.request.query("where") ?? ""
    let field = HTML.void(
      "input",
      [
        "id": "where", "name": "where", "type": "search", "value": text, "spellcheck": "false",
        "autocomplete": "off",
        "autocapitalize": "off", "placeholder": _example,
        "aria-invalid": hasProblem ? "true" : nil, "aria-describedby": _problem == nil ? nil : "problem",
        "data-complete": _entity.entityName, "maxlength": "4000",
      ])
    return .tag(
      "form", ["class": "filter", "method": "get", "action": "/entity", "role": "search"],
      .void("input", ["type": "hidden", "name": "name", "value": _entity.entityName]),
      _request?.sortText.map { .void("input", ["type": "hidden", "name": "sort", "value": $0]) } ?? .empty,
      .tag("label", ["for": "where"], "Filter"),
      .tag("span", ["class": "completing"], field),
      .tag("button", ["type": "submit"], "Show"),
      text.isEmpty
        ? .empty
        : .link(
          (_request?.place ?? Place("/entity", ["name": _entity.entityName])).with("where", nil),
          class: "button", "Clear"),
      _columns, _mistake)
  }

  /// A filter that this entity could have.
  private var _example: String {
    let slots = _entity.slots.filter { !$0.isHidden && !$0.isTransient }
    let label = _store.labels.attribute(of: _entity)
    let text =
      label.flatMap { name in slots.first { $0.name == name && $0.form == .string } }
      ?? slots.first { $0.form == .string }
    var parts: [String] = []
    if let text { parts.append("\(text.name) CONTAINS[cd] 'word'") }
    let numbers: [AttributeForm] = [.integer16, .integer32, .integer64, .double, .float, .decimal]
    if let date = slots.first(where: { $0.form == .date }) {
      parts.append("\(date.name) >= '2024-03'")
    } else if let number = slots.first(where: { $0.form.map(numbers.contains) ?? false }) {
      parts.append("\(number.name) > 10")
    }
    if parts.isEmpty, let relationship = slots.first(where: { $0.relationship != nil }) {
      parts.append(relationship.isToMany ? "\(relationship.name).@count > 1" : "\(relationship.name) == nil")
    }
    return parts.isEmpty ? "SELF == '\(_entity.entityName)/p1'" : parts.joined(separator: " AND ")
  }

  /// An error in the address, below its field.
  private var _mistake: HTML {
    guard let problem = _problem else { return .empty }
    var parts: [HTML] = [.tag("p", [:], HTML(_sentence(problem)))]
    if problem.field == .filter, let offset = problem.offset {
      let (line, column) = Self._line(_visit.request.query("where") ?? "", offset)
      parts.append(
        .tag(
          "pre", ["class": "caret"], HTML(line + "\n" + String(repeating: " ", count: column)),
          .tag("b", [:], "^")))
    }
    return .tag("div", ["id": "problem", "class": "problem", "role": "alert"], parts)
  }

  private func _sentence(_ problem: TableRequest.Problem) -> String {
    var text = problem.description
    if let first = text.first { text = first.uppercased() + text.dropFirst() }
    if !problem.expected.isEmpty {
      let last = problem.expected.count > 1 ? " or \(problem.expected.last!)" : ""
      let others = problem.expected.count > 1 ? problem.expected.dropLast() : problem.expected[...]
      text += "; expected \(others.joined(separator: ", "))\(last)"
    }
    return text.hasSuffix(".") ? text : text + "."
  }

  /// The line of a text that contains the byte at an offset, and the number of characters before that byte.
  private static func _line(_ text: String, _ offset: Int) -> (line: String, column: Int) {
    let trimmed = text.drop { $0.isWhitespace }
    let bytes = Array(trimmed.utf8)
    let end = min(max(0, offset), bytes.count)
    let before = String(decoding: bytes[..<end], as: UTF8.self)
    let line = trimmed.map { $0.isNewline ? " " : $0 }
    return (String(line), before.count)
  }

  // MARK: Columns

  private var _columns: HTML {
    let all = PropertyPath.all(of: _entity, in: _store.layout, label: _store.labels.attribute(of: _entity))
    let chosen = _request?.columns ?? Array(all.prefix(TableRequest.standardColumns))
    let shown = Set(chosen.map(\.text))
    let paths = chosen.filter { path in !all.contains(path) }
    let boxes = all.map { path in
      HTML.tag(
        "label", [:],
        .void(
          "input",
          [
            "type": "checkbox", "name": "columns", "value": path.text,
            "checked": shown.contains(path.text) ? "" : nil,
          ]),
        HTML(path.text))
    }
    return .tag(
      "details", ["class": "columns"],
      .tag("summary", [:], HTML("Columns \(shown.count)/\(all.count + paths.count)")),
      .tag(
        "fieldset", [:], .tag("legend", [:], "Columns of the table"), .tag("div", ["class": "boxes"], boxes),
        .tag(
          "label", ["class": "paths"], "Paths through relationships",
          .void(
            "input",
            [
              "type": "text", "name": "columns", "value": paths.map(\.text).joined(separator: ","),
              "spellcheck": "false",
              "placeholder": "author.name, author.country.code",
            ])),
        _entity.family.count > 1
          ? .tag(
            "label", [:],
            .void(
              "input",
              [
                "type": "checkbox", "name": "exact", "value": "1",
                "checked": _request?.includesSubentities == false ? "" : nil,
              ]), "Leave out objects of subentities") : .empty,
        .tag("button", ["type": "submit"], "Apply")))
  }
}

/// Links to the other pages of a table.
struct TablePager {
  private let _request: TableRequest
  private let _page: TablePage

  init(_ request: TableRequest, _ page: TablePage) { (_request, _page) = (request, page) }

  var html: HTML {
    let count = _page.rows.count
    var first = _request.place
    if _request.rows != ExplorerLimits().rows { first = first.with("rows", String(_request.rows)) }
    let ordinal = _page.ordinal
    let previous = _page.rows.first.map {
      first.with("before", $0.cursor.text).with("n", ordinal.map { String(max(0, $0 - _request.rows)) })
    }
    let next = _page.rows.last.map {
      first.with("after", $0.cursor.text).with("n", ordinal.map { String($0 + count) })
    }
    return .tag(
      "nav", ["class": "pager", "aria-label": "Pages"],
      _step("First", _page.hasPrevious ? first : nil, nil),
      _step("Previous", _page.hasPrevious ? previous : nil, "prev"),
      .tag("span", ["class": "range"], HTML(_range)),
      _step("Next", _page.hasNext ? next : nil, "next"),
      _step("Last", _page.hasNext ? first.with("last", "1") : nil, nil),
      .tag("span", ["class": "grow"]),
      .tag("span", ["class": "kind"], HTML("Read in \(Amount.text(_page.duration))")))
  }

  private func _step(_ name: String, _ place: Place?, _ relation: String?) -> HTML {
    guard let place else {
      return .tag("span", ["class": "button off", "aria-disabled": "true"], HTML(name))
    }
    return .tag("a", ["class": "button", "href": place.address, "rel": relation], HTML(name))
  }

  private var _range: String {
    let total =
      switch _page.total {
      case .exactly(let count): " of \(Amount.text(count))"
      case .moreThan(let count): count == 0 ? "" : " of more than \(Amount.text(count))"
      }
    guard let ordinal = _page.ordinal, !_page.rows.isEmpty else {
      return Amount.text(_page.rows.count, "row") + total
    }
    return "\(Amount.text(ordinal + 1))–\(Amount.text(ordinal + _page.rows.count))\(total)"
  }
}
