import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import Foundation

/// The form for creating or changing an object, with errors at their fields.
struct EditFormPage {
  private let _visit: Visit
  private let _session: EditSession
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) throws {
    _visit = visit
    _session = try visit.session()
  }

  // MARK: Requests

  /// The form with the object's current values.
  func form() throws -> HTTPResponse { try _page(_form(), entries: nil, nil) }

  /// Applies the submitted form, or shows it again with errors.
  func post() throws -> HTTPResponse {
    let form = try _form()
    let entries = form.fields.filter { $0.isFixed == nil }.map(_entry)
    do {
      if let target = form.target {
        try _session.change(target, entries)
      } else {
        try _session.insert(form.entity, entries)
      }
      return Redirect.to(Place("/changes"))
    } catch let refusal as EditSession.Refusal {
      return _page(form, entries: entries, refusal)
    }
  }

  /// Deletes the object, as far as its relationships allow.
  func delete() throws -> HTTPResponse {
    let form = try _form()
    guard let target = form.target else { throw Router.Missing(what: "There is nothing to delete.") }
    do {
      try _session.delete(target)
      return Redirect.to(Place("/changes"))
    } catch let refusal as EditSession.Refusal {
      return _page(form, entries: nil, refusal)
    }
  }

  private func _form() throws -> EditForm {
    let request = _visit.request
    func value(_ name: String) -> String? { request.query(name) ?? request.field("target-\(name)") }
    do {
      if let number = value("draft").flatMap(Int.init) { return try _session.form(.draft(number)) }
      guard let name = value("entity"), let entity = _store.entity(name) else {
        throw Router.Missing(what: "The model has no such entity.")
      }
      guard let key = value("key").flatMap(Int64.init) else {
        guard !entity.isAbstract else {
          throw Router.Missing(what: "'\(name)' is abstract: make an object of a subentity.")
        }
        return _session.form(ofNew: entity)
      }
      return try _session.form(.stored(entity: name, key: key))
    } catch is EditSession.Missing {
      throw Router.Missing(what: "The object has been deleted.")
    }
  }

  private func _entry(_ field: EditForm.Field) -> EditForm.Entry {
    let request = _visit.request
    let hasEmpty = field.slot.isToMany || field.slot.form == .string
    // An empty field is nil if empty text is invalid, or if the box beside it is checked.
    func read(_ field: String, isNil: Bool) -> String? {
      let text = _lines(request.field(field) ?? "")
      return text.isEmpty && (isNil || !hasEmpty) ? nil : text
    }
    let base = read("base:\(field.name)", isNil: request.field("base-nil:\(field.name)") != nil)
    // A mandatory text has no box; an empty field leaves it unchanged.
    let isUntouched = base == nil && !field.slot.isOptional
    let text = read("value:\(field.name)", isNil: isUntouched || request.field("nil:\(field.name)") != nil)
    return EditForm.Entry(name: field.name, text: text, base: base)
  }

  /// Browsers end lines with two characters.
  private func _lines(_ text: String) -> String { text.replacing("\r\n", with: "\n") }

  // MARK: Page

  private func _page(_ form: EditForm, entries: [EditForm.Entry]?, _ refusal: EditSession.Refusal?)
    -> HTTPResponse
  {
    let entered = Dictionary((entries ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let fields = form.fields.map { field in
      EditFieldView(field, entered[field.name], refusal?.messages[field.name] ?? []).html
    }
    let known = Set(form.fields.map(\.name))
    let others = (refusal?.messages ?? [:]).filter { !known.contains($0.key) }.flatMap(\.value)
    let isNew = form.target == nil
    let hidden = _hidden(form)
    var buttons: [HTML] = [
      .tag("button", ["type": "submit", "class": "primary"], "Take over"),
      .link(_back(form), class: "button", "Cancel"),
    ]
    if !isNew {
      buttons.append(
        .tag("button", ["type": "submit", "class": "danger", "formaction": "/delete"], "Delete"))
    }
    return PageFrame(_visit, title: isNew ? "New \(form.entity.entityName)" : "Change \(form.name)").answer(
      status: refusal == nil ? 200 : 422,
      .tag(
        "div", ["class": "heading"],
        .tag("h1", [:], HTML(isNew ? "New \(form.entity.entityName)" : "Change \(form.name)"))),
      .tag("p", ["class": "kind"], "Nothing is written until the changes are saved."),
      _alert(refusal, others),
      .tag(
        "form", ["class": "edit", "method": "post", "action": isNew ? "/new" : "/edit"],
        [_visit.formToken, hidden] + fields + [.tag("div", ["class": "actions"], buttons)]))
  }

  private func _alert(_ refusal: EditSession.Refusal?, _ others: [String]) -> HTML {
    guard let refusal else { return .empty }
    let count = refusal.messages.values.reduce(0) { $0 + $1.count }
    return .tag(
      "div", ["class": "problem", "role": "alert"],
      [.tag("p", [:], HTML("\(Amount.text(count, "thing")) must be put right first."))]
        + others.map { .tag("p", [:], HTML($0)) })
  }

  private func _hidden(_ form: EditForm) -> HTML {
    func field(_ name: String, _ value: String) -> HTML {
      .void("input", ["type": "hidden", "name": "target-\(name)", "value": value])
    }
    switch form.target {
    case .draft(let number): return field("draft", String(number))
    case .stored(let entity, let key): return field("entity", entity) + field("key", String(key))
    case nil: return field("entity", form.entity.entityName)
    }
  }

  private func _back(_ form: EditForm) -> Place {
    switch form.target {
    case .draft: Place("/changes")
    case .stored(let entity, let key): Place("/object", ["entity": entity, "key": String(key)])
    case nil: Place("/entity", ["name": form.entity.entityName])
    }
  }
}

/// A field of the form.
struct EditFieldView {
  private let _field: EditForm.Field
  private let _entry: EditForm.Entry?
  private let _messages: [String]

  /// - Parameter entry: The submitted text, if the form is shown again.
  init(_ field: EditForm.Field, _ entry: EditForm.Entry?, _ messages: [String]) {
    (_field, _entry, _messages) = (field, entry, messages)
  }

  private var _id: String { "field-\(_field.name)" }
  private var _text: String? { _entry.map(\.text) ?? _field.text }
  private var _base: String? { _entry.map(\.base) ?? _field.text }

  var html: HTML {
    .tag(
      "div", ["class": _messages.isEmpty ? "field" : "field wrong"],
      .tag("label", ["for": _id], HTML(_field.name)), .tag("span", ["class": "type"], HTML(_kind)),
      .tag(
        "div", ["class": "entry"], _control,
        HTML(_messages.map { .tag("p", ["class": "message", "id": "\(_id)-message"], HTML($0)) })))
  }

  private var _kind: String {
    if let destination = _field.destination {
      return (_field.slot.isToMany ? "many " : "one ") + destination
        + (_field.slot.isOptional || _field.slot.isToMany ? "" : ", required")
    }
    return (_field.slot.type?.fileName ?? "") + (_field.slot.isOptional ? "" : ", required")
  }

  private var _control: HTML {
    if let reason = _field.isFixed { return .tag("p", ["class": "kind", "id": _id], HTML(reason)) }
    let base =
      _base.map { HTML.void("input", ["type": "hidden", "name": "base:\(_field.name)", "value": $0]) }
      ?? .void("input", ["type": "hidden", "name": "base-nil:\(_field.name)", "value": "1"])
    return _input + _nil + base
  }

  private var _invalid: String? { _messages.isEmpty ? nil : "true" }
  private var _description: String? { _messages.isEmpty ? nil : "\(_id)-message" }

  private var _input: HTML {
    let name = "value:\(_field.name)"
    if _field.slot.isToMany { return _textArea(name) }
    switch _field.slot.form {
    case .boolean:
      let options = ["", "true", "false"].map { value in
        HTML.tag(
          "option", ["value": value, "selected": value == (_text ?? "") ? "" : nil],
          HTML(value.isEmpty ? "nil" : value))
      }
      return .tag(
        "select", ["id": _id, "name": name, "aria-invalid": _invalid, "aria-describedby": _description],
        options)
    case .string, .binaryData, .composite: return _textArea(name)
    default:
      return .void(
        "input",
        [
          "id": _id, "name": name, "type": "text", "value": _text ?? "", "autocomplete": "off",
          "spellcheck": "false",
          "aria-invalid": _invalid, "aria-describedby": _description, "placeholder": _hint,
          "inputmode": _isNumber ? "decimal" : nil, "data-pick": _field.destination,
        ])
    }
  }

  private func _textArea(_ name: String) -> HTML {
    let lines = min(12, max(1, (_text ?? "").split(separator: "\n", omittingEmptySubsequences: false).count))
    // The element drops a line end at its start.
    return .tag(
      "textarea",
      [
        "id": _id, "name": name, "rows": String(_field.slot.isToMany ? max(3, lines) : lines),
        "spellcheck": "false",
        "aria-invalid": _invalid, "aria-describedby": _description,
        "placeholder": _field.destination.map { "\($0)/p1, one a line" }, "data-pick": _field.destination,
      ], "\n", HTML(_text ?? ""))
  }

  private var _isNumber: Bool {
    [.integer16, .integer32, .integer64, .double, .float, .decimal].contains(_field.slot.form)
  }

  private var _hint: String? {
    if let destination = _field.destination { return "\(destination)/p1" }
    return switch _field.slot.form {
    case .date: "2024-02-29T12:00:00Z"
    case .uuid: "a UUID"
    default: nil
    }
  }

  /// Distinguishes an empty text from nil.
  private var _nil: HTML {
    guard _field.slot.isOptional, _field.slot.form == .string else { return .empty }
    return .tag(
      "label", ["class": "nil-box"],
      .void(
        "input",
        ["type": "checkbox", "name": "nil:\(_field.name)", "value": "1", "checked": _text == nil ? "" : nil]),
      "nil if empty")
  }
}
