import CoreDataMicroHTTPDBinding
import Foundation

/// The frame of all pages: head, navigation, foot.
struct PageFrame {
  /// The parts of the explorer in the navigation.
  enum Part: String, CaseIterable {
    case entities = "Entities"
    case history = "History"
    case model = "Model"
    case check = "Check"

    var place: Place {
      switch self {
      case .entities: Place("/")
      case .history: Place("/history")
      case .model: Place("/model")
      case .check: Place("/check")
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
    let main = HTML.tag(
      "main",
      [
        "id": "main", "tabindex": "-1", "class": _isWide ? "wide" : nil,
        "data-live": _isLive ? String(_visit.store.clock.time) : nil,
      ], content)
    let text = Self._document(
      title: "\(_title) · \(_storeName)", head: .empty,
      .tag("a", ["class": "skip", "href": "#main"], "Skip to the content"), _header, main, _footer)
    return HTTPResponse(status: status, headers: SecurityHeaders.page, text: text)
  }

  private var _storeName: String { (_visit.store.name as NSString).lastPathComponent }

  private var _header: HTML {
    let items = Part.allCases.map { part in
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
      _mode,
      .tag(
        "button",
        [
          "id": "live", "class": "live", "type": "button", "hidden": "",
          "title": "Follow the store, or stop following it",
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
