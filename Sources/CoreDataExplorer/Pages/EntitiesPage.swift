import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataModelTools
import CoreDataStoreTools
import Foundation

/// The first page: a summary of the store, its entities with counts and sizes, and the diagram.
struct EntitiesPage {
  private let _visit: Visit
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) { _visit = visit }

  func answer() throws -> HTTPResponse {
    let known = _store.numbers.now(wait: 0.3)
    return PageFrame(_visit, title: "Entities", part: .entities, isLive: true).answer(
      [.tag("h1", [:], "Entities")] + _store.warnings.map { .tag("p", ["class": "note"], HTML($0)) }
        + [_facts, _table(known), _diagram])
  }

  private var _facts: HTML {
    func size(_ path: String) -> Int? {
      (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.intValue
    }
    var facts: [(String, String)] = [("File", _store.name)]
    let log = size(_store.path + "-wal") ?? 0
    facts.append(
      (
        "Size",
        ByteCount.text(size(_store.path) ?? 0) + (log > 0 ? ", and \(ByteCount.text(log)) in the log" : "")
      ))
    facts.append(("Model", _store.model.origin))
    facts.append(("UUID", _store.identifier))
    return .tag(
      "dl", ["class": "facts"],
      facts.map { name, text in .tag("div", [:], .tag("dt", [:], HTML(name)), .tag("dd", [:], HTML(text))) })
  }

  // MARK: Table

  private func _table(_ known: StoreNumbers.Known) -> HTML {
    let isKnown = known.time >= 0
    let largest = max(1, known.counts.values.max() ?? 1)
    let rows = _store.layout.layouts.map { entity -> HTML in
      let count = known.counts[entity.entityNumber] ?? 0
      let slots = entity.slots.filter { !$0.isHidden && !$0.isTransient }
      let attributes = slots.count { $0.isAttribute }
      let table = _tableName(entity)
      return .tag(
        "tr", ["data-row": entity.entityName],
        .tag(
          "th", ["scope": "row", "class": "depth\(min(6, _depth(entity)))"],
          .link(Place("/entity", ["name": entity.entityName]), HTML.name(entity.entityName)),
          entity.isAbstract ? .tag("span", ["class": "kind"], " abstract") : .empty),
        .tag(
          "td", ["class": "num"],
          entity.isAbstract && count == 0 ? "–" : HTML(isKnown ? Amount.text(count) : "…")),
        .tag("td", ["class": "bar"], entity.isAbstract ? .empty : Self.bar(count, of: largest)),
        .tag("td", ["class": "num"], HTML(String(attributes))),
        .tag("td", ["class": "num"], HTML(String(slots.count - attributes))),
        .tag("td", ["class": "num"], HTML(entity.parentNumber == nil ? _size(table, known) : "")),
        .tag("td", [:], .tag("code", [:], HTML(table))))
    }
    func head(_ text: String, _ kind: String? = nil) -> HTML {
      .tag("th", ["scope": "col", "class": kind], HTML(text))
    }
    return .tag(
      "div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Entities"],
      .tag(
        "table", ["class": "grid"],
        .tag(
          "thead", [:],
          .tag(
            "tr", [:], head("Entity"), head("Objects", "num"), .tag("td"), head("Attributes", "num"),
            head("Relationships", "num"), head("Size", "num"), head("Table"))),
        .tag("tbody", [:], rows)))
  }

  private func _depth(_ entity: PropertyLayout) -> Int {
    entity.parentNumber.map { 1 + _depth(_store.layout.layout(numbered: $0)) } ?? 0
  }

  /// Named as the engine names tables; for display only.
  private func _tableName(_ entity: PropertyLayout) -> String {
    "Z" + _store.layout.layout(numbered: entity.rootNumber).entityName.uppercased()
  }

  private func _size(_ table: String, _ known: StoreNumbers.Known) -> String {
    known.sizes[table].map(ByteCount.text) ?? "–"
  }

  /// A bar as long as the count's share of the largest one, in percent.
  static func bar(_ count: Int, of largest: Int) -> HTML {
    guard count > 0 else { return .empty }
    let width = max(1, Int((Double(count) / Double(largest) * 100).rounded()))
    return .tag(
      "svg",
      ["class": "share", "viewBox": "0 0 100 6", "aria-hidden": "true", "preserveAspectRatio": "none"],
      .tag("rect", ["width": String(width), "height": "6", "rx": "1"]))
  }

  // MARK: Diagram

  private var _diagram: HTML {
    let names = Set(_store.layout.layouts.map(\.entityName))
    let drawing = ModelDrawing.markup(_store.layout.schema) { name in
      names.contains(name) ? Place("/entity", ["name": name]).address : nil
    }
    return .tag(
      "section", ["aria-labelledby": "diagram"],
      .tag("h2", ["id": "diagram"], "Diagram"),
      .tag(
        "div",
        [
          "class": "scroll diagram", "tabindex": "0", "role": "region",
          "aria-label": "Diagram of the entities",
        ],
        HTML(drawing: Drawing(drawing))))
  }
}
