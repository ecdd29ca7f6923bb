import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation

/// What differs between the store and another one, side by side; shown as it is found.
struct ComparePage: @unchecked Sendable {
  // Unchecked: the store that is compared is read through readers of this page only.
  private let _visit: Visit
  private let _compared: StoreInput
  private let _only: [String]?
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) throws {
    guard let compared = visit.store.compared else {
      throw Router.Missing(
        what: "There is nothing to compare with. Start the explorer with '--against STORE'.")
    }
    (_visit, _compared) = (visit, compared)
    let name = visit.request.query("entity") ?? ""
    _only = name.isEmpty ? nil : [try visit.entity("entity").entityName]
  }

  func answer() throws -> HTTPResponse {
    let frame = PageFrame(_visit, title: "Compare", part: .compare)
    let budget = QueryBudget(seconds: _store.limits.searchSeconds, client: _visit.request.client)
    let page = self
    return PageStream.answer(frame, budget, try _store.searches.acquire()) { stream in
      try stream.write(page._heading)
      try page._write(stream, budget)
    }
  }

  /// The names of the files; their paths if the names are equal.
  private var _names: (before: String, after: String) {
    let names = (_compared.name as NSString).lastPathComponent
    let other = (_store.name as NSString).lastPathComponent
    return names == other ? (_compared.name, _store.name) : (names, other)
  }

  private var _heading: HTML {
    return .tag(
      "div", ["class": "heading"], .tag("h1", [:], "Compare"),
      .tag(
        "span", ["class": "kind"], HTML("'\(_names.before)' before, '\(_names.after)' after")))
      + .tag(
        "form", ["class": "filter", "method": "get", "action": "/compare"],
        .tag("label", ["for": "entity"], "Entity"),
        EntityMenu.html(
          _store.layout.layouts.filter { !$0.isAbstract }, all: "all", chosen: _only?.first),
        .tag("button", ["type": "submit"], "Show"))
  }

  private func _write(_ page: PageStream, _ budget: QueryBudget) throws {
    let before = try _compared.reader()
    defer { before.close() }
    try _store.readers.read(budget) { after in
      let keys = try DiffKeys.keys([], before.layout, after.layout, infers: !_store.sharesKeys)
      let comparison = StoreComparison(
        StoreSide(before, keys: keys, .utc), StoreSide(after, keys: keys, .utc), only: _only)
      let limit = _store.limits.searchHits
      var count = 0
      let counts = try comparison.run(progress: { _, _ in }) { change in
        count += 1
        if count <= limit { try page.write(_article(change)) }
      }
      if count > limit {
        try page.write(
          .tag(
            "p", ["class": "note"],
            HTML(
              "The first \(Amount.text(limit)) of \(Amount.text(count, "object")) are shown; choose an entity."
            )))
      }
      try page.write(_summary(comparison, counts))
    }
  }

  private func _article(_ change: StoreComparison.Change) -> HTML {
    let (sign, word) =
      switch change.kind {
      case .added: ("+", "inserted")
      case .removed: ("−", "deleted")
      case .changed: ("~", "updated")
      }
    let link = ObjectLink(entity: change.entity, key: change.key, label: nil)
    // Objects that a key identifies are named by it.
    let name = link.identifier == change.object ? HTML.empty : HTML(change.object + " ")
    let rows = change.properties.map { name, before, after in
      HTML.tag(
        "tr", [:], .tag("th", ["scope": "row"], HTML.name(name)),
        .tag("td", ["class": "value"], before.map { .tag("del", [:], Self._content($0)) } ?? .empty),
        .tag("td", ["class": "value"], after.map { .tag("ins", [:], Self._content($0)) } ?? .empty))
    }
    return .tag(
      "article", ["class": "change"],
      .tag(
        "h2", [:], .tag("span", ["class": "tally \(word)"], HTML("\(sign) \(change.kind.rawValue)")),
        change.kind == .removed ? HTML(change.object) : name + CellView.object(link)),
      .tag(
        "table", ["class": "record diff"],
        .tag(
          "thead", ["class": "visually-hidden"],
          .tag("tr", [:], ["Property", "Before", "After"].map { .tag("th", ["scope": "col"], HTML($0)) })),
        .tag("tbody", [:], rows)))
  }

  private static func _content(_ content: StoreSide.Content) -> HTML {
    let text =
      switch content {
      case .value(let text): (try? JSONDecoder().decode(String.self, from: Data(text.utf8))) ?? text
      case .members(let members, _): members.joined(separator: "\n")
      }
    let shown = text.prefix(2000)
    return .tag("span", ["class": "prose"], HTML(shown + (shown.endIndex < text.endIndex ? "…" : "")))
  }

  private func _summary(_ comparison: StoreComparison, _ counts: [String: StoreComparison.Counts]) -> HTML {
    let rows = comparison.entities.compactMap { name -> HTML? in
      guard let count = counts[name] else { return nil }
      let cells = [count.added, count.removed, count.changed, count.same].map { number in
        HTML.tag("td", ["class": "num"], HTML(number == 0 ? "–" : Amount.text(number)))
      }
      return .tag("tr", [:], [.tag("th", ["scope": "row"], HTML.name(name))] + cells)
    }
    let isSame = counts.values.allSatisfy(\.isEmpty)
    let (old, new) = comparison.differencesOfModels
    var notes: [HTML] = []
    if !old.isEmpty { notes.append(.tag("p", [:], HTML("Only before: \(old.joined(separator: ", "))."))) }
    if !new.isEmpty { notes.append(.tag("p", [:], HTML("Only after: \(new.joined(separator: ", "))."))) }
    return .tag(
      "section", ["aria-labelledby": "summary", "role": "status"],
      [
        .tag("h2", ["id": "summary"], isSame ? "No object differs" : "Numbers"),
        .tag(
          "table", ["class": "grid"],
          .tag(
            "thead", [:],
            .tag(
              "tr", [:], .tag("th", ["scope": "col"], "Entity"),
              HTML(
                ["Added", "Removed", "Changed", "Same"].map {
                  .tag("th", ["scope": "col", "class": "num"], HTML($0))
                })
            )),
          .tag("tbody", [:], rows)),
      ] + notes)
  }
}
