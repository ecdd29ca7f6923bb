import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation

/// Problems in the store's file.
struct CheckPage {
  private let _visit: Visit
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) { _visit = visit }

  func answer() throws -> HTTPResponse {
    // A check that this page has waited for is shown, even if the store has changed since.
    let time = min(_visit.request.query("since").flatMap(Int.init) ?? .max, _store.clock.time)
    switch try _store.health.state(of: _store, since: time) {
    case .running(let fraction, let part): return _running(fraction, part, since: time)
    case .finished(let result): return _finished(result)
    }
  }

  /// What is shown until a long check has ended; the browser asks again each second.
  private func _running(_ fraction: Double, _ part: String, since time: Int) -> HTTPResponse {
    let percent = String(Int(fraction * 100))
    var answer = PageFrame(_visit, title: "Check", part: .check).answer(
      .tag("div", ["class": "heading"], .tag("h1", [:], "Check")),
      .tag("p", ["class": "kind", "role": "status"], HTML("Checking \(part), \(percent) %.")),
      .tag("progress", ["max": "100", "value": percent], HTML("\(percent) %")))
    answer.headers.append(("Refresh", "1;url=\(Place("/check", ["since": String(time)]).address)"))
    return answer
  }

  private func _finished(_ result: StoreHealth.Result) -> HTTPResponse {
    let errors = result.findings.count { $0.severity == .error }
    let warnings = result.findings.count - errors
    let summary =
      result.findings.isEmpty
      ? "The check found no problems."
      : "\(Amount.text(errors, "error")), \(Amount.text(warnings, "warning"))."
    return PageFrame(_visit, title: "Check", part: .check, isLive: true).answer(
      .tag(
        "div", ["class": "heading"], .tag("h1", [:], "Check"), .tag("span", ["class": "count"], HTML(summary))
      ),
      .tag(
        "p", ["class": "kind"],
        HTML(
          "Pages, keys, references, inverses, order, constraints, values and external files, in \(Amount.text(result.duration))."
        )),
      HTML(result.findings.map(_finding)))
  }

  private func _finding(_ finding: StoreFinding) -> HTML {
    let isError = finding.severity == .error
    let rows = finding.rows.map { key -> HTML in
      guard let entity = _root(finding.table) else { return .tag("li", [:], HTML(String(key))) }
      return .tag(
        "li", [:],
        .link(Place("/object", ["entity": entity, "key": String(key)]), HTML("\(finding.table) \(key)")))
    }
    let rest = finding.count - finding.rows.count
    return .tag(
      "article", ["class": "finding"],
      .tag(
        "h2", [:], .tag("span", ["class": isError ? "badge slow" : "badge"], HTML(finding.severity.rawValue)),
        HTML("\(finding.table.isEmpty ? "" : finding.table + ": ")\(finding.kind.rawValue)")),
      .tag("p", [:], HTML(Self._sentence(finding.message))),
      .tag(
        "p", ["class": "kind"],
        HTML(
          "To do: \(finding.advice).\(finding.isMendable ? " 'coredata store check --repair' does, in a copy." : "")"
        )),
      rows.isEmpty
        ? .empty
        : .tag(
          "ul", ["class": "members"],
          rows + (rest > 0 ? [.tag("li", ["class": "kind"], HTML("and \(Amount.text(rest)) more"))] : [])))
  }

  private static func _sentence(_ message: String) -> String {
    let text = (message.first.map { $0.uppercased() } ?? "") + message.dropFirst()
    return text.hasSuffix(".") ? text : text + "."
  }

  /// The root entity whose rows a table has.
  private func _root(_ table: String) -> String? {
    _store.layout.layouts.first { $0.parentNumber == nil && "Z" + $0.entityName.uppercased() == table }?
      .entityName
  }
}
