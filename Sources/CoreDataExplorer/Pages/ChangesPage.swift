import CoreData
import CoreDataMicroHTTPDBinding
import Foundation

/// All unsaved changes: values before and after, undo, and conflicts with the store.
struct ChangesPage {
  private let _visit: Visit
  private let _session: EditSession

  init(_ visit: Visit) throws {
    _visit = visit
    _session = try visit.session()
  }

  // MARK: Requests

  func page() -> HTTPResponse { _page(nil, nil) }

  func undo() -> HTTPResponse {
    _session.undo()
    return Redirect.to(Place("/changes"))
  }

  func redo() -> HTTPResponse {
    _session.redo()
    return Redirect.to(Place("/changes"))
  }

  func discard() -> HTTPResponse {
    _session.discard()
    return Redirect.to(Place("/"))
  }

  func save() throws -> HTTPResponse {
    let settlement = _visit.request.field("settle").flatMap(EditSession.Settlement.init(rawValue:)) ?? .none
    do {
      try _session.save(settlement)
      _visit.store.clock.advance()
      return Redirect.to(Place("/changes", ["saved": "1"]))
    } catch let conflicts as EditConflicts {
      return _page(conflicts, nil)
    } catch let refusal as EditSession.Refusal {
      return _page(
        nil,
        refusal.messages.sorted { $0.key < $1.key }.flatMap { key, messages in
          messages.map { key.isEmpty ? $0 : "\(key): \($0)" }
        })
    }
  }

  // MARK: Page

  private func _page(_ conflicts: EditConflicts?, _ messages: [String]?) -> HTTPResponse {
    let changes = _session.changes()
    let isSaved = _visit.request.query("saved") != nil && changes.objects.isEmpty
    var content: [HTML] = [
      .tag(
        "div", ["class": "heading"], .tag("h1", [:], "Changes"),
        .tag("span", ["class": "count"], HTML(Amount.text(changes.objects.count, "object"))),
        .tag("span", ["class": "grow"]),
        .tag("span", ["class": "kind"], HTML("by \(_session.author)")))
    ]
    if isSaved { content.append(.tag("p", ["class": "done", "role": "status"], "Saved.")) }
    if let messages {
      content.append(
        .tag(
          "div", ["class": "problem", "role": "alert"],
          [.tag("p", [:], "Nothing was saved:")] + messages.map { .tag("p", [:], HTML($0)) }))
    }
    if let conflicts { content.append(_conflicts(conflicts)) }
    if changes.objects.isEmpty, !isSaved {
      content.append(.tag("p", ["class": "none"], "Nothing has been changed."))
    }
    content += changes.objects.map(_object)
    content.append(_buttons(changes))
    return PageFrame(_visit, title: "Changes").answer(
      status: conflicts == nil && messages == nil ? 200 : 409, content)
  }

  private func _object(_ object: EditChanges.Object) -> HTML {
    let place: Place =
      switch object.target {
      case .draft(let number): Place("/edit", ["draft": String(number)])
      case .stored(let entity, let key): Place("/edit", ["entity": entity, "key": String(key)])
      }
    let rows = object.differences.map { difference in
      HTML.tag(
        "tr", [:], .tag("th", ["scope": "row"], HTML(difference.property)),
        .tag(
          "td", ["class": "value"],
          object.kind == .inserted ? .empty : .tag("del", [:], Self.text(difference.before))),
        .tag("td", ["class": "value"], .tag("ins", [:], Self.text(difference.after))))
    }
    let sign = ["inserted": "+", "updated": "~", "deleted": "−"][object.kind.rawValue] ?? ""
    return .tag(
      "article", ["class": "change", "data-row": object.name],
      .tag(
        "h2", [:],
        .tag("span", ["class": "tally \(object.kind.rawValue)"], HTML("\(sign) \(object.kind.rawValue)")),
        object.kind == .deleted ? HTML(object.name) : .link(place, HTML(object.name)),
        .tag("span", ["class": "kind"], HTML(object.name.hasPrefix("new ") ? "  \(object.entity)" : ""))),
      rows.isEmpty
        ? .empty
        : .tag(
          "table", ["class": "record diff"],
          .tag(
            "thead", ["class": "visually-hidden"],
            .tag(
              "tr", [:], .tag("th", ["scope": "col"], "Property"), .tag("th", ["scope": "col"], "Before"),
              .tag("th", ["scope": "col"], "After"))),
          .tag("tbody", [:], rows)))
  }

  /// A form value for display.
  static func text(_ text: String?) -> HTML {
    guard let text else { return .tag("span", ["class": "nil"], "nil") }
    return text.isEmpty
      ? .tag("span", ["class": "nil"], "empty") : .tag("span", ["class": "prose"], HTML(text))
  }

  private func _buttons(_ changes: EditChanges) -> HTML {
    var forms: [HTML] = []
    if !changes.objects.isEmpty { forms.append(_form("/changes/save", "Save", "primary")) }
    if let name = changes.undo { forms.append(_form("/changes/undo", "Undo \(name)")) }
    if let name = changes.redo { forms.append(_form("/changes/redo", "Redo \(name)")) }
    if !changes.objects.isEmpty { forms.append(_form("/changes/discard", "Drop all", "danger")) }
    return .tag("div", ["class": "actions"], forms)
  }

  private func _form(_ path: StaticString, _ text: String, _ kind: String? = nil, settle: String? = nil)
    -> HTML
  {
    .tag(
      "form", ["method": "post", "action": path.description], _visit.formToken,
      settle.map { .void("input", ["type": "hidden", "name": "settle", "value": $0]) } ?? .empty,
      .tag("button", ["type": "submit", "class": kind], HTML(text)))
  }

  // MARK: Conflicts

  private func _conflicts(_ conflicts: EditConflicts) -> HTML {
    var parts: [HTML] = [
      .tag(
        "h2", ["id": "conflict"],
        conflicts.objects.isEmpty ? "Values are not unique" : "The store has changed meanwhile"),
      .tag("p", [:], HTML(conflicts.message)),
    ]
    parts += conflicts.objects.map(_conflict)
    parts += conflicts.constraints.map { constraint in
      let values = zip(constraint.properties, constraint.values).map { "\($0) '\($1)'" }.joined(
        separator: ", ")
      let others = (constraint.stored.map { ["\($0) in the store"] } ?? []) + constraint.mine
      return .tag(
        "p", ["class": "contested"],
        HTML(
          "\(values) must be unique, and \(others.joined(separator: ", ")) would all have it: change the value."
        ))
    }
    if !conflicts.objects.isEmpty, conflicts.constraints.isEmpty {
      parts.append(
        .tag(
          "div", ["class": "actions"], _form("/changes/save", "Keep mine where both changed", settle: "mine"),
          _form("/changes/save", "Take theirs where both changed", settle: "theirs")))
    }
    return .tag("section", ["class": "conflict", "role": "alert", "aria-labelledby": "conflict"], parts)
  }

  private func _conflict(_ object: EditConflicts.Object) -> HTML {
    if object.isGone { return .tag("p", ["class": "contested"], HTML("\(object.name) has been deleted.")) }
    let rows = object.properties.map { property in
      HTML.tag(
        "tr", ["class": property.isContested ? "contested" : nil],
        .tag(
          "th", ["scope": "row"], HTML(property.name),
          property.isContested ? .tag("span", ["class": "badge slow"], "both changed") : .empty),
        .tag("td", [:], Self.text(property.base)), .tag("td", [:], Self.text(property.mine)),
        .tag("td", [:], Self.text(property.theirs)))
    }
    return .tag(
      "table", ["class": "grid"], .tag("caption", [:], HTML(object.name)),
      .tag(
        "thead", [:],
        .tag(
          "tr", [:], ["Property", "It was", "Mine", "Theirs"].map { .tag("th", ["scope": "col"], HTML($0)) })),
      .tag("tbody", [:], rows))
  }
}

/// Redirects after a post, so that reloading the page does not post again.
enum Redirect {
  static func to(_ place: Place) -> HTTPResponse {
    HTTPResponse(status: 303, headers: SecurityHeaders.page + [("Location", place.address)], text: "")
  }
}
