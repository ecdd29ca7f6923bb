import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import Foundation

/// The members of a large to-many relationship, by pages.
struct MembersPage {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private let _key: Int64
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) throws {
    _visit = visit
    (_entity, _key) = try visit.object()
  }

  func answer() throws -> HTTPResponse {
    let name = _visit.request.query("name") ?? ""
    guard let slot = _entity.slot(named: name), _entity.slots[slot].isToMany, !_entity.slots[slot].isTransient
    else {
      throw Router.Missing(what: "'\(_entity.entityName)' has no to-many relationship '\(name.prefix(100))'.")
    }
    let from = max(0, min(_visit.request.query("from").flatMap(Int.init) ?? 0, 10_000_000))
    let limit = _store.limits.members
    let found = try _store.readers.read(_visit.budget) { reader in
      try MemberQuery(_store, reader).members(of: _entity, _key, slot: slot, from: from, limit: limit + 1)
    }
    let owner = ObjectLink(entity: _entity.entityName, key: _key, label: nil)
    let place = Place("/members", ["entity": _entity.entityName, "key": String(_key), "name": name])
    func step(_ text: String, _ place: Place?) -> HTML {
      place.map { .link($0, class: "button", HTML(text)) }
        ?? .tag("span", ["class": "button off", "aria-disabled": "true"], HTML(text))
    }
    return PageFrame(_visit, title: "\(owner.identifier) \(name)", isLive: true).answer(
      .tag(
        "div", ["class": "heading"], .tag("h1", [:], HTML(name)),
        .tag("span", ["class": "kind"], "of ", .link(ObjectPage.place(owner), HTML(owner.identifier)))),
      found.isEmpty
        ? .tag("p", ["class": "none"], "There are no more members.")
        : ObjectPage.list(Array(found.prefix(limit))),
      .tag(
        "nav", ["class": "pager", "aria-label": "Pages"],
        step("Previous", from > 0 ? place.with("from", String(max(0, from - limit))) : nil),
        .tag(
          "span", ["class": "range"],
          HTML("\(Amount.text(from + 1))–\(Amount.text(from + min(limit, found.count)))")),
        step("Next", found.count > limit ? place.with("from", String(from + limit)) : nil)))
  }
}
