import CoreData
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// A summary of recordings as text and as JSON.
struct TraceReport {
  private let _trace: Trace
  private let _summary: TraceSummary
  private let _advice: [String]
  private let _fetches: [(TraceSummary.Fetches, SQLStatement?)]

  init(_ trace: Trace, _ summary: TraceSummary, _ plans: TracePlans, top: Int) {
    (_trace, _summary) = (trace, summary)
    _advice = TraceAdvice(summary, plans.layout).sentences
    _fetches = summary.fetches.prefix(top).map { ($0, plans.statement($0)) }
  }

  func text(usesColor: Bool) -> String {
    var text = _head
    if !_fetches.isEmpty {
      var table = TextTable(
        ["times", "on main", "all ms", "worst ms", "most", "in a row"].map { TextTable.Column($0, .right) }
          + [.init("request", .left)])
      for (fetches, _) in _fetches {
        table.add([
          .init(Figures.count(fetches.count)), .init(Figures.count(fetches.onMain)),
          .init(Figures.milliseconds(fetches.milliseconds)), .init(Figures.milliseconds(fetches.worst)),
          .init(Figures.count(fetches.most)), .init(Figures.count(fetches.inARow)), .init(_words(fetches)),
        ])
      }
      text += "\n" + table.text(usesColor: usesColor)
    }
    for (fetches, statement) in _fetches {
      guard let statement else { continue }
      text +=
        "\n\(_words(fetches))\n  \(statement.sql)\n" + statement.queryPlan.map { "    \($0)\n" }.joined()
    }
    var table = TextTable([
      .init("", .left), .init("times", .right), .init("objects", .right), .init("all ms", .right),
      .init("worst ms", .right),
    ])
    for (name, costs) in _costs where costs.count > 0 {
      table.add([
        .init(name), .init(Figures.count(costs.count)), .init(Figures.count(costs.objects)),
        .init(Figures.milliseconds(costs.milliseconds)), .init(Figures.milliseconds(costs.worst)),
      ])
    }
    text += "\n" + table.text(usesColor: usesColor)
    if !_advice.isEmpty { text += "\n" + _advice.map { $0 + "\n" }.joined() }
    return text
  }

  private var _head: String {
    let contexts = _trace.contexts.count
    var text =
      "\(_trace.programs.joined(separator: ", ")): \(counted(_summary.events, "event")) of \(counted(contexts, "context")) in "
      + "\(Figures.seconds(_summary.seconds)) s; main was in Core Data for \(Figures.milliseconds(_summary.main.milliseconds)) ms, at most "
      + "\(Figures.milliseconds(_summary.main.worst)) ms at once\n"
    if _trace.dropped > 0 { text += "\(counted(_trace.dropped, "event")) came too fast and were dropped.\n" }
    return text
  }

  private var _costs: [(String, TraceSummary.Costs)] {
    [
      ("saves on main", _summary.savesOnMain), ("of them to a store", _summary.storesOnMain),
      ("saves elsewhere", _summary.savesElsewhere), ("merges on main", _summary.mergesOnMain),
    ]
      + _summary.executed.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      + _summary.faults.map { faults, costs in
        (
          faults.isToMany
            ? "\(faults.fetched).\(faults.read) one by one"
            : "\(faults.read) one by one" + (faults.fetched.isEmpty ? "" : " after \(faults.fetched)"), costs
        )
      }
  }

  private func _words(_ fetches: TraceSummary.Fetches) -> String {
    (fetches.isCount ? "count of " : "") + ValueText.onOneLine(fetches.request.words)
  }

  /// The summary as one page that needs nothing else.
  var html: String {
    let head: [Markup] = [
      .tag("meta", ["charset": "utf-8"]),
      .tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
      .tag("meta", ["name": "color-scheme", "content": "light dark"]),
      .tag("title", [:], ["Core Data recording"]), .tag("style", [:], [.verbatim(ReportStyle.text)]),
    ]
    var sections: [Markup] = [
      .tag("h1", [:], ["Core Data recording"]), .tag("p", [:], [.text(_head)]),
      .tag("ul", ["class": "verdict"], _advice.map { .tag("li", [:], [.text($0)]) }),
      .tag(
        "p", ["class": "legend"],
        [("fetch", "fetches and counts"), ("fault", "faults"), ("saving", "saves"), ("merge", "merges")].map {
          name, text in
          .tag("span", [:], [.tag("i", ["class": name]), .text(text)])
        }),
      _scroll("Time line", TraceDrawing(_trace).svg), .tag("h2", [:], ["Requests"]),
      _scroll("Requests", _requests), .tag("h2", [:], ["Faults, saves, merges"]),
      _scroll("Costs", _costTable),
    ]
    for (fetches, statement) in _fetches {
      guard let statement else { continue }
      sections.append(.tag("h3", [:], [.text(_words(fetches))]))
      sections.append(
        .tag(
          "pre", [:],
          [.text(([statement.sql] + statement.queryPlan.map { "  " + $0 }).joined(separator: "\n"))]))
    }
    let body: Markup = .tag("main", [:], sections)
    return Markup.page(.tag("html", ["lang": "en"], [.tag("head", [:], head), .tag("body", [:], [body])]))
  }

  private func _scroll(_ label: String, _ content: Markup) -> Markup {
    .tag("div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": label], [content])
  }

  private var _requests: Markup {
    _table(
      ["request", "times", "on main", "all ms", "worst ms", "most", "in a row"],
      _fetches.map { fetches, _ in
        (
          _words(fetches),
          [
            Figures.count(fetches.count), Figures.count(fetches.onMain),
            Figures.milliseconds(fetches.milliseconds),
            Figures.milliseconds(fetches.worst), Figures.count(fetches.most), Figures.count(fetches.inARow),
          ]
        )
      })
  }

  private var _costTable: Markup {
    _table(
      ["what", "times", "objects", "all ms", "worst ms"],
      _costs.filter { $0.1.count > 0 }.map { name, costs in
        (
          name,
          [
            Figures.count(costs.count), Figures.count(costs.objects),
            Figures.milliseconds(costs.milliseconds),
            Figures.milliseconds(costs.worst),
          ]
        )
      })
  }

  private func _table(_ titles: [String], _ rows: [(name: String, cells: [String])]) -> Markup {
    let head = titles.enumerated().map { index, title in
      Markup.tag("th", index == 0 ? ["scope": "col", "class": "words"] : ["scope": "col"], [.text(title)])
    }
    let body = rows.map { name, cells in
      Markup.tag(
        "tr", [:],
        [.tag("th", ["scope": "row", "class": "words"], [.text(name)])]
          + cells.map { .tag("td", [:], [.text($0)]) })
    }
    return .tag("table", [:], [.tag("thead", [:], [.tag("tr", [:], head)]), .tag("tbody", [:], body)])
  }

  var json: JSONText {
    .object([
      ("programs", .array(_trace.programs.map { .string($0) })), ("events", .integer(_summary.events)),
      ("dropped", .integer(_trace.dropped)), ("contexts", .integer(_trace.contexts.count)),
      ("seconds", .number(_summary.seconds, decimals: 3)),
      (
        "main",
        .object([
          ("ms", .number(_summary.main.milliseconds, decimals: 3)),
          ("worst_ms", .number(_summary.main.worst, decimals: 3)),
        ])
      ),
      ("requests", .array(_fetches.map(_json))),
      ("costs", .array(_costs.filter { $0.1.count > 0 }.map(_json))),
      ("advice", .array(_advice.map { .string($0) })),
    ])
  }

  private func _json(_ fetches: TraceSummary.Fetches, _ statement: SQLStatement?) -> JSONText {
    .object(
      [
        ("request", .string(_words(fetches))), ("times", .integer(fetches.count)),
        ("on_main", .integer(fetches.onMain)), ("ms", .number(fetches.milliseconds, decimals: 3)),
        ("worst_ms", .number(fetches.worst, decimals: 3)), ("most", .integer(fetches.most)),
        ("in_a_row", .integer(fetches.inARow)),
      ]
        + (statement.map {
          [("sql", .string($0.sql)), ("plan", .array($0.queryPlan.map { .string($0) }))]
        } ?? []))
  }

  private func _json(_ name: String, _ costs: TraceSummary.Costs) -> JSONText {
    .object([
      ("what", .string(name)), ("times", .integer(costs.count)), ("objects", .integer(costs.objects)),
      ("ms", .number(costs.milliseconds, decimals: 3)), ("worst_ms", .number(costs.worst, decimals: 3)),
    ])
  }
}
