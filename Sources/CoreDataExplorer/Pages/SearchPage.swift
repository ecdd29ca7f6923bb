import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit

/// A text in all values of the store, also inside of archives and compressed data; shown as it is found.
struct SearchPage {
  private let _visit: Visit
  private var _store: ExploredStore { _visit.store }
  private var _text: String { _visit.request.query("text") ?? "" }

  init(_ visit: Visit) { _visit = visit }

  func answer() throws -> HTTPResponse {
    let frame = PageFrame(_visit, title: _text.isEmpty ? "Search" : "Search for \(_text.prefix(60))")
    let heading = HTML.tag("div", ["class": "heading"], .tag("h1", [:], "Search"))
    guard !_text.isEmpty else {
      return frame.answer(
        heading, _form,
        .tag(
          "p", ["class": "kind"],
          "Looks into texts, numbers and dates, and into bytes: property lists, archives, compressed data, JSON and protobuf."
        ))
    }
    let sought: TextSought
    do {
      sought = try TextSought(
        _text, isExpression: _has("regex"), matchesCase: _has("case"), matchesMarks: _has("diacritics"))
    } catch {
      return frame.answer(
        status: 400, heading, _form, .tag("p", ["class": "problem", "role": "alert"], HTML(error.message)))
    }
    let chosen = _visit.request.query("entity").flatMap { $0.isEmpty ? nil : $0 }
    let entities =
      try chosen == nil ? _store.layout.layouts.filter { !$0.isAbstract } : [_visit.entity("entity")]
    let budget = QueryBudget(seconds: _store.limits.searchSeconds, client: _visit.request.client)
    let search = PageSearch(_store, sought, entities, budget)
    let form = _form
    return PageStream.answer(frame, budget, try _store.searches.acquire()) { page in
      try page.write(heading + form)
      try search.run(page)
    }
  }

  private func _has(_ name: String) -> Bool { _visit.request.query(name) != nil }

  private var _form: HTML {
    func box(_ name: String, _ text: HTML) -> HTML {
      .tag(
        "label", [:],
        .void("input", ["type": "checkbox", "name": name, "value": "1", "checked": _has(name) ? "" : nil]),
        " " + text)
    }
    let entity = _visit.request.query("entity")
    return .tag(
      "form", ["class": "filter", "method": "get", "action": "/search"],
      .tag("label", ["for": "text"], "Text"),
      .void(
        "input",
        [
          "id": "text", "name": "text", "type": "search", "value": _text, "spellcheck": "false",
          "autocomplete": "off", "maxlength": "400", "class": "wide",
        ]),
      .tag("label", ["for": "entity"], "in"),
      EntityMenu.html(
        _store.layout.layouts.filter { !$0.isAbstract }, all: "all entities", chosen: entity),
      box("regex", "regular expression"), box("case", "case"), box("diacritics", "accents"),
      .tag("button", ["type": "submit"], "Search"))
  }
}

/// Writes what a search finds into its page, object by object.
private struct PageSearch: Sendable {
  private let _store: ExploredStore
  private let _sought: TextSought
  private let _entities: [PropertyLayout]
  private let _budget: QueryBudget

  init(
    _ store: ExploredStore, _ sought: TextSought, _ entities: [PropertyLayout], _ budget: QueryBudget
  ) {
    (_store, _sought, _entities, _budget) = (store, sought, entities, budget)
  }

  func run(_ page: PageStream) throws {
    let begin = ContinuousClock.now
    var places: [HTML] = []
    var object: StoredReference?
    var (count, objects, incomplete) = (0, 0, 0)
    let limit = _store.limits.searchHits
    try _store.readers.read(_budget) { reader in
      func finish() throws {
        guard let found = object else { return }
        objects += 1
        let layout = _store.layout.layout(numbered: found.entity)
        let link = try MemberQuery(_store, reader).links(layout, [found.key]).first
        let name = HTML(ValueText(_store.layout).identifier(found))
        try page.write(
          .tag(
            "article", ["class": "hit"],
            .tag(
              "h2", [:], link.map { CellView.object($0) } ?? name,
              .tag("span", ["class": "kind"], "  ", name)),
            .tag("ul", [:], places)))
        (object, places) = (nil, [])
      }
      try StoreSearch(reader, _sought, .utc).run(
        _entities, progress: { _, _ in }, incomplete: { _, _ in incomplete += 1 }
      ) { hit in
        if hit.object != object {
          try finish()
          object = hit.object
        }
        count += 1
        places.append(_place(hit))
        return count < limit
      }
      try finish()
    }
    var sentence = count == 0 ? "Nothing found" : Amount.text(count, "place")
    if count > 0 { sentence += " in \(Amount.text(objects, "object"))" }
    if count >= limit { sentence = "The first \(sentence): search for more of the text, or in one entity" }
    if incomplete > 0 {
      sentence +=
        "; \(Amount.text(incomplete, "value")) exceed the limits or are damaged, and were searched in part"
    }
    try page.write(
      .tag(
        "p", ["class": "none", "role": "status"],
        HTML("\(sentence). Searched in \(Amount.text(ContinuousClock.now - begin)).")))
  }

  private func _place(_ hit: StoreSearch.Hit) -> HTML {
    let (before, match, after) = _sought.excerpt(hit.text, room: 60)
    return .tag(
      "li", [:],
      .tag("span", ["class": "kind"], HTML(([hit.property] + hit.path).joined(separator: "/")), "  "),
      HTML(before), .tag("mark", [:], HTML(match)), HTML(after))
  }
}
