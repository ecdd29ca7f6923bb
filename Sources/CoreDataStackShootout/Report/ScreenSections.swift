import CoreDataToolKit

/// The screens on a report's page: drawings, figures and advice.
struct ScreenSections {
  private let _result: ShootoutResult
  private let _table: ScreenTable

  init(_ result: ShootoutResult) { (_result, _table) = (result, ScreenTable(result)) }

  /// A section for each screen, after a heading; empty without screens.
  var sections: [Markup] {
    guard !_table.rows.isEmpty else { return [] }
    var screens: [String] = []
    for row in _table.rows where screens.last != row.screen { screens.append(row.screen) }
    return [_heading] + screens.map(_section)
  }

  private var _heading: Markup {
    .tag(
      "section", [:],
      [
        .tag("h2", [:], ["Screens"]),
        .tag(
          "p", [:],
          [
            """
            How long main takes until the first rows, the first object or the number is there: in a stack that has just \
            been opened, and beside the second half of an import, with the wait for main.
            """
          ]),
        .tag(
          "p", ["class": "legend"],
          [
            .tag("span", [:], [.tag("i", ["class": "first"]), .text("alone")]),
            .tag("span", [:], [.tag("i", ["class": "busy"]), .text("beside an import, median")]),
            .tag("span", [:], [.tag("i", ["class": "wait"]), .text("to the worst")]),
            .tag("span", [:], [.tag("i", ["class": "frame"]), .text("a frame")]),
          ]),
      ])
  }

  private func _section(_ name: String) -> Markup {
    let rows = _table.rows.filter { $0.screen == name }
    let advice = _result.advice.filter { $0.screen == name }
    var parts: [Markup] = [.tag("h3", [:], [.text(name)])]
    if !advice.isEmpty {
      parts.append(.tag("ul", ["class": "verdict"], advice.map { .tag("li", [:], [.text($0.sentence)]) }))
    }
    parts.append(_scroll("Times of \(name)", ScreenDrawing(rows: rows).svg))
    parts.append(_scroll("Figures of \(name)", _figures(rows)))
    return .tag("section", ["class": "screen"], parts)
  }

  private func _scroll(_ label: String, _ content: Markup) -> Markup {
    .tag("div", ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": label], [content])
  }

  private static let _titles = [
    "first ms", "again ms", "beside: median", "worst", "longest ms", "all ms", "statements", "faults",
    "found",
  ]

  private func _figures(_ rows: [ScreenTable.Row]) -> Markup {
    let head = ["stack"] + Self._titles
    return .tag(
      "table", [:],
      [
        .tag("thead", [:], [.tag("tr", [:], head.map { .tag("th", ["scope": "col"], [.text($0)]) })]),
        .tag("tbody", [:], rows.map(_row)),
      ])
  }

  private func _row(_ row: ScreenTable.Row) -> Markup {
    let figures = row.figures
    let times: [Double?] = [
      figures.firstMilliseconds, row.isFloor ? nil : figures.againMilliseconds, row.waits?.median,
      row.waits?.worst,
      figures.longestMilliseconds,
    ]
    var cells = times.map { time in
      time.map { _time($0) } ?? .tag("td", [:], [])
    }
    cells.append(.tag("td", [:], [.text(Figures.milliseconds(figures.totalMilliseconds))]))
    cells.append(.tag("td", [:], [.text(Figures.count(figures.statements))]))
    cells.append(.tag("td", [:], [.text(row.isFloor ? "" : Figures.count(figures.faults))]))
    cells.append(.tag("td", [:], [.text(Figures.count(figures.found))]))
    return .tag("tr", [:], [.tag("th", ["scope": "row"], [.text(row.subject)])] + cells)
  }

  private func _time(_ milliseconds: Double) -> Markup {
    guard milliseconds > ShootoutResult.frameMilliseconds else {
      return .tag("td", [:], [.text(Figures.milliseconds(milliseconds))])
    }
    return .tag(
      "td", ["class": "bad"],
      [
        .tag("abbr", ["title": "longer than a frame"], [.text("▲")]),
        .text(" " + Figures.milliseconds(milliseconds)),
      ])
  }
}
