import CoreDataMicroHTTPDBinding
import CoreDataStoreTools
import Foundation

/// The frame of all pages: head, navigation, foot.
struct PageFrame {
  /// The parts of the explorer in the navigation.
  enum Part: String, CaseIterable {
    case entities = "Entities"
    case timeline = "Timeline"
    case history = "History"
    case model = "Model"
    case check = "Check"
    case compare = "Compare"

    var place: Place {
      switch self {
      case .entities: Place("/")
      case .timeline: Place("/timeline")
      case .history: Place("/history")
      case .model: Place("/model")
      case .check: Place("/check")
      case .compare: Place("/compare")
      }
    }
  }

  private let _visit: Visit
  private let _title: String
  private let _part: Part?
  private let _isLive: Bool
  private let _isWide: Bool

  /// - Parameters:
  ///   - isLive: Whether the page reloads when the store changes.
  ///   - isWide: Whether the page uses the full width of the window.
  init(_ visit: Visit, title: String, part: Part? = nil, isLive: Bool = false, isWide: Bool = false) {
    (_visit, _title, _part, _isLive, _isWide) = (visit, title, part, isLive, isWide)
  }

  /// The page with this content.
  func answer(status: Int = 200, _ content: HTML...) -> HTTPResponse { answer(status: status, content) }

  /// The page with this content.
  func answer(status: Int = 200, _ content: [HTML]) -> HTTPResponse {
    HTTPResponse(status: status, headers: SecurityHeaders.page, text: _text(content, footer: _footer))
  }

  /// The page before and after its content.
  var halves: (begin: String, end: String) {
    // No text of the store or of a visitor has it.
    let mark = "content-\(UUID().uuidString)"
    // What it took is known when all of it is sent.
    let parts = _text([HTML(mark)], footer: .tag("footer", ["class": "bottom"])).split(
      separator: mark, maxSplits: 1)
    return (String(parts.first ?? ""), String(parts.last ?? ""))
  }

  /// Seconds without anything to send, of a page that is sent while it is made.
  var patience: Double { _visit.store.limits.streamPatience }

  /// What is said of an error that ends a page.
  func message(_ error: any Error) -> String { StoreInput.failure(error, _visit.store.name).message }

  private func _text(_ content: [HTML], footer: HTML) -> String {
    let main = HTML.tag(
      "main",
      [
        "id": "main", "tabindex": "-1", "class": _isWide ? "wide" : nil,
        "data-live": _isLive ? String(_visit.store.clock.time) : nil,
      ], content)
    return Self._document(
      title: "\(_title) · \(_storeName)", head: .empty,
      .tag("a", ["class": "skip", "href": "#main"], "Skip to the content"), _header, main, footer)
  }

  private var _storeName: String { (_visit.store.name as NSString).lastPathComponent }

  private var _header: HTML {
    let parts = Part.allCases.filter { $0 != .compare || _visit.store.compared != nil }
    let items = parts.map { part in
      HTML.tag(
        "li", [:],
        .tag(
          "a", ["href": part.place.address, "aria-current": part == _part ? "page" : nil], HTML(part.rawValue)
        ))
    }
    return .tag(
      "header", ["class": "top"],
      .tag("a", ["class": "store", "href": "/", "title": _visit.store.name], HTML(_storeName)),
      .tag("nav", ["aria-label": "Parts of the store"], .tag("ul", [:], items)),
      _find, _mode,
      .tag(
        "button",
        [
          "id": "live", "class": "live", "type": "button", "hidden": "",
          "title": "Follow the store, or stop following it",
        ]))
  }

  /// The search of the whole store.
  private var _find: HTML {
    .tag(
      "form", ["class": "find", "method": "get", "action": "/search", "role": "search"],
      .void(
        "input",
        [
          "id": "find", "name": "text", "type": "search", "placeholder": "Search all values",
          "aria-label": "Search all values", "spellcheck": "false", "autocomplete": "off",
          "maxlength": "400",
          "value": _visit.request.path == "/search" ? _visit.request.query("text") : nil,
        ]))
  }

  private var _mode: HTML {
    guard let edits = _visit.edits else { return .tag("span", ["class": "mode"], "read-only") }
    let count = edits.changeCount
    let text = count == 0 ? "no changes" : "\(Amount.text(count, "unsaved change"))"
    return .link(Place("/changes"), class: count == 0 ? "mode" : "mode edit", HTML(text))
  }

  private var _footer: HTML {
    .tag(
      "footer", ["class": "bottom"],
      .tag("span", [:], "Made in \(Amount.text(ContinuousClock.now - _visit.begin))"))
  }

  // MARK: Documents

  /// A page without the store's frame, for clients without access.
  static func bare(title: String, head: HTML, _ content: HTML...) -> String {
    _document(title: title, head: head, .tag("main", ["class": "bare"], content))
  }

  private static func _document(title: String, head: HTML, _ body: HTML...) -> String {
    let page =
      HTML.raw("<!DOCTYPE html>\n")
      + .tag(
        "html", ["lang": "en"],
        .tag(
          "head", [:],
          .void("meta", ["charset": "utf-8"]),
          .void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
          .void("meta", ["name": "color-scheme", "content": "light dark"]),
          .void("meta", ["name": "referrer", "content": "same-origin"]),
          .tag("title", [:], HTML(title)),
          .void("link", ["rel": "icon", "href": "/icon.svg"]),
          .void("link", ["rel": "stylesheet", "href": "/style.css"]),
          .tag("script", ["src": "/script.js", "defer": ""]), head),
        .tag("body", [:], body))
    return page.markup + "\n"
  }
}
