import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import Foundation

/// The statements behind a page of a table: SQL, values, plan, time, and advice on indexes.
struct SQLPage {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private var _store: ExploredStore { _visit.store }

  init(_ visit: Visit) throws {
    _visit = visit
    _entity = try visit.entity("name")
  }

  func answer() throws -> HTTPResponse {
    let request = try TableRequest(_visit.request, entity: _entity, in: _store)
    let context = _store.context()
    var search = TableKeys(request, _store, context)
    let begin = ContinuousClock.now
    let found = try _visit.budget.run { try search.page().keys.count }
    let duration = ContinuousClock.now - begin
    let statements = try _visit.budget.run {
      try context.performAndWait { try search.fetches.flatMap { try context.sqlStatements(for: $0) } }
    }
    let advice = IndexAdvice(request, _store, plan: statements.flatMap(\.queryPlan))
    let content: [HTML] =
      [
        .tag(
          "div", ["class": "heading"], .tag("h1", [:], HTML("SQL of \(_entity.entityName)")),
          .tag("span", ["class": "grow"]),
          .link(request.place, class: "button", "Back to the table")),
        .tag(
          "p", [:],
          HTML(
            "The page's \(Amount.text(found, "key")) came in \(Amount.text(duration)) by \(statements.count == 1 ? "this statement" : "these statements")."
          )),
      ] + statements.map { _statement($0, request) } + [_advice(advice), _swift(request)]
    return PageFrame(_visit, title: "SQL of \(_entity.entityName)").answer(content)
  }

  private func _statement(_ statement: SQLStatement, _ request: TableRequest) -> HTML {
    func stopsEarly(_ statement: SQLStatement) -> Bool {
      request.predicate == nil && !statement.queryPlan.contains { $0.contains("TEMP B-TREE") }
    }
    let rows = statement.bindings.enumerated().map { index, binding in
      HTML.tag(
        "tr", [:], .tag("th", ["scope": "row", "class": "num"], HTML(String(index + 1))),
        .tag("td", [:], .tag("code", [:], HTML(String(binding.description.prefix(400))))))
    }
    let values: HTML =
      rows.isEmpty
      ? .empty
      : .tag(
        "table", ["class": "grid"], .tag("caption", ["class": "visually-hidden"], "Bound values"),
        .tag(
          "thead", [:],
          .tag("tr", [:], .tag("th", ["scope": "col"], "?"), .tag("th", ["scope": "col"], "Value"))),
        .tag("tbody", [:], rows))
    return .tag(
      "section", [:], SQLView.html(statement.sql), values, .tag("h2", [:], "Plan"),
      SQLView.plan(statement.queryPlan, stopsEarly: stopsEarly(statement)))
  }

  private func _advice(_ advice: IndexAdvice) -> HTML {
    .tag(
      "section", [:], .tag("h2", [:], "Indexes"),
      advice.sentences.isEmpty
        ? .tag("p", ["class": "kind"], "The indexes that this query can use exist.")
        : .tag("ul", ["class": "advice"], advice.sentences.map { .tag("li", [:], HTML($0)) }))
  }

  /// The same request in Swift.
  private func _swift(_ request: TableRequest) -> HTML {
    var lines = ["let request = NSFetchRequest<NSManagedObject>(entityName: \(_quoted(_entity.entityName)))"]
    // As it was read, with dates for what was typed as text.
    if let predicate = request.predicate {
      lines.append("request.predicate = NSPredicate(format: \(_quoted(predicate.canonicalFormat)))")
    }
    if let sort = request.sort {
      lines.append(
        "request.sortDescriptors = [NSSortDescriptor(key: \(_quoted(sort.text)), ascending: \(request.isAscending))]"
      )
    }
    if !request.includesSubentities { lines.append("request.includesSubentities = false") }
    lines.append("request.fetchLimit = \(request.rows)")
    return .tag(
      "section", [:], .tag("h2", [:], "In Swift"),
      .tag(
        "pre", ["class": "sql", "tabindex": "0", "aria-label": "The request in Swift"],
        HTML(lines.joined(separator: "\n"))))
  }

  private func _quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%") + "\""
  }
}
