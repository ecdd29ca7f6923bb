import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation
import Synchronization

/// Problems in the store's file.
struct CheckPage {
  private let _visit: Visit
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) { _visit = visit }

  func answer() throws -> HTTPResponse {
    let result = try _store.health.result(_store, client: _visit.request.client)
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

/// The last check of a store, repeated when the store has changed.
final class StoreHealth: Sendable {
  struct Result: Sendable {
    let findings: [StoreFinding]
    let duration: Duration
    fileprivate let time: Int
  }

  private let _last = Mutex<Result?>(nil)
  /// One check at a time: each reads the whole file.
  private let _turn = NSLock()

  /// - Throws: Errors of the check; `QueryBudget.Exceeded`.
  func result(_ store: ExploredStore, client: HTTPClient) throws -> Result {
    let time = store.clock.time
    if let last = _last.withLock({ $0 }), last.time == time { return last }
    guard _turn.lock(before: Date(timeIntervalSinceNow: store.limits.pageSeconds)) else {
      throw ReaderPool.Busy()
    }
    defer { _turn.unlock() }
    if let last = _last.withLock({ $0 }), last.time == time { return last }
    let begin = ContinuousClock.now
    let budget = QueryBudget(seconds: store.limits.checkSeconds, client: client)
    let findings = try budget.run {
      try StoreChecker.findings(
        in: store.path, model: store.layout.schema, metadata: store.metadata, limit: 10)
    }
    let result = Result(findings: findings, duration: ContinuousClock.now - begin, time: time)
    _last.withLock { $0 = result }
    return result
  }
}
