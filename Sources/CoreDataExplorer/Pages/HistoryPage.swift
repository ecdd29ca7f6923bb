import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// The transactions of the store's history: time, author and changes.
struct HistoryPage {
  private let _visit: Visit
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) { _visit = visit }

  func answer() throws -> HTTPResponse {
    var request = HistoryReading.Request()
    request.before = _visit.request.query("before").flatMap(Int64.init)
    request.author = _visit.request.query("author").flatMap { $0.isEmpty ? nil : $0 }
    let page = try _store.readers.read(_visit.budget) { reader in
      try HistoryReading(_store, reader)?.page(request)
    }
    let frame = PageFrame(_visit, title: "History", part: .history, isLive: true)
    guard let page else {
      return frame.answer(
        .tag("h1", [:], "History"),
        .tag(
          "p", ["class": "none"],
          "The store keeps no history: its program did not ask for one with NSPersistentHistoryTrackingKey."))
    }
    return frame.answer([
      _heading(page), _timeline(page), _authors(page, request), _list(page), _pager(page, request),
    ])
  }

  private func _heading(_ page: HistoryReading.Page) -> HTML {
    .tag(
      "div", ["class": "heading"], .tag("h1", [:], "History"),
      .tag("span", ["class": "count"], HTML(Amount.text(page.transactionCount, "transaction"))))
  }

  // MARK: Timeline

  private func _timeline(_ page: HistoryReading.Page) -> HTML {
    guard let first = page.spans.first, page.transactionCount > 1 else {
      return .empty
    }
    let bars = page.spans.map { span -> BarFigure.Bar? in
      guard span.transactions > 0 else { return nil }
      let words = "\(Amount.text(span.transactions, "transaction")) from \(ISODate.shown(span.begin)) UTC"
      return BarFigure.Bar(
        count: span.transactions, words: words,
        place: Place("/history", ["before": String(span.lastNumber &+ 1)]))
    }
    return .tag(
      "figure", ["class": "timeline"],
      BarFigure(label: "Transactions over time", bars: bars, height: 48).html,
      .tag("figcaption", [:], CellView.date(first.begin), CellView.date(page.end)))
  }

  private func _authors(_ page: HistoryReading.Page, _ request: HistoryReading.Request) -> HTML {
    guard !page.authors.isEmpty else { return .empty }
    let options = page.authors.map { author in
      HTML.tag("option", ["value": author, "selected": author == request.author ? "" : nil], HTML(author))
    }
    return .tag(
      "form", ["class": "filter", "method": "get", "action": "/history"],
      .tag("label", ["for": "author"], "Author"),
      .tag("select", ["id": "author", "name": "author"], [.tag("option", ["value": ""], "all")] + options),
      .tag("button", ["type": "submit"], "Show"))
  }

  // MARK: Transactions

  private func _list(_ page: HistoryReading.Page) -> HTML {
    if page.entries.isEmpty { return .tag("p", ["class": "none"], "There are no transactions.") }
    return .tag("div", ["class": "transactions"], page.entries.map { _entry($0, page) })
  }

  private func _entry(_ entry: HistoryReading.Entry, _ page: HistoryReading.Page) -> HTML {
    let transaction = entry.transaction
    let counts = [
      ("+", entry.inserted, "inserted"), ("~", entry.updated, "updated"), ("−", entry.deleted, "deleted"),
    ]
    .filter { $0.1 > 0 }.map { sign, count, word in
      let text = Amount.text(count) + (entry.isMore ? " or more" : "")
      return HTML.tag("span", ["class": "tally \(word)", "title": "\(text) \(word)"], HTML("\(sign)\(text)"))
    }
    let listed = transaction.changes.map { Self.change($0, link: page.links[$0.reference], _store) }
    let rest = entry.changeCount - transaction.changes.count
    return .tag(
      "article", ["data-row": String(transaction.number), "aria-labelledby": "t\(transaction.number)"],
      .tag(
        "h2", ["id": "t\(transaction.number)"], HTML("\(Amount.text(Int(transaction.number))) "),
        CellView.date(transaction.moment)),
      .tag("div", ["class": "origin"], Self.origin(transaction), HTML(counts)),
      .tag(
        "ul", ["class": "changes"],
        listed
          + (rest > 0
            ? [
              .tag(
                "li", ["class": "kind"],
                HTML(
                  "and \(entry.isMore ? "many" : Amount.text(rest)) more \(rest == 1 ? "change" : "changes")")
              )
            ] : [])))
  }

  /// The author of a transaction.
  static func origin(_ transaction: StoredTransaction) -> HTML {
    var parts: [HTML] = []
    if let author = transaction.author { parts.append(.tag("b", [:], HTML(author))) }
    if let context = transaction.contextName { parts.append(HTML("context \(context)")) }
    if !transaction.bundleID.isEmpty { parts.append(HTML(transaction.bundleID)) }
    if !transaction.processID.isEmpty { parts.append(HTML("process \(transaction.processID)")) }
    return HTML(parts.map { .tag("span", [:], $0) })
  }

  /// A change as an item of a list.
  static func change(_ change: StoredChange, link: ObjectLink?, _ store: ExploredStore) -> HTML {
    let text = ValueText(store.layout)
    let (sign, word) =
      switch change.kind {
      case .insert: ("+", "inserted")
      case .update: ("~", "updated")
      case .delete: ("−", "deleted")
      }
    let name = text.identifier(change.reference)
    let kept = change.tombstone.filter { $0.value != .null }
      .map { "\($0.attribute.name) = \(text.shown($0.value, of: $0.attribute))" }
    let object: HTML =
      link.map {
        .link(ObjectPage.place($0), HTML(name))
          + ($0.label.map { HTML("  \(ValueText.onOneLine($0))") } ?? .empty)
      }
      ?? .tag("span", ["class": "gone"], HTML(name))
    return .tag(
      "li", ["class": word], .tag("span", ["class": "sign", "aria-hidden": "true"], HTML(sign)),
      .tag("span", ["class": "visually-hidden"], HTML(word + " ")), object,
      change.properties.isEmpty
        ? .empty : .tag("span", ["class": "kind"], HTML("  " + change.properties.joined(separator: ", "))),
      kept.isEmpty ? .empty : .tag("span", ["class": "kind"], HTML("  kept: " + kept.joined(separator: ", ")))
    )
  }

  private func _pager(_ page: HistoryReading.Page, _ request: HistoryReading.Request) -> HTML {
    let first = Place("/history", ["author": request.author])
    let next = page.entries.last.map { first.with("before", String($0.transaction.number)) }
    func step(_ name: String, _ place: Place?) -> HTML {
      place.map { .link($0, class: "button", HTML(name)) }
        ?? .tag("span", ["class": "button off", "aria-disabled": "true"], HTML(name))
    }
    return .tag(
      "nav", ["class": "pager", "aria-label": "Pages"], step("Latest", request.before == nil ? nil : first),
      step("Older", page.hasMore ? next : nil))
  }
}
