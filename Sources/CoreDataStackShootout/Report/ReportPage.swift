import CoreDataToolKit

/// The result as one self-contained HTML page: table and timelines, in light and dark.
struct ReportPage {
  private let _result: ShootoutResult

  init(_ result: ShootoutResult) { _result = result }

  /// The page.
  var html: String {
    let head: [Markup] = [
      .tag("meta", ["charset": "utf-8"]),
      .tag("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
      .tag("meta", ["name": "color-scheme", "content": "light dark"]),
      .tag("title", [:], ["Core Data stack shootout"]),
      .tag("style", [:], [.verbatim(ReportStyle.text)]),
    ]
    let body: Markup = .tag("main", [:], _sections)
    return Markup.page(.tag("html", ["lang": "en"], [.tag("head", [:], head), .tag("body", [:], [body])]))
  }

  private var _sections: [Markup] {
    var sections: [Markup] = [
      .tag("h1", [:], ["Core Data stack shootout"]),
      .tag("p", [:], [.text(_result.caption + ".")]),
      .tag("ul", ["class": "verdict"], _lines.map(_verdict)),
      .tag(
        "div",
        ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Figures of all stacks"],
        [_table]),
      _legend,
    ]
    sections += _result.stacks.map(_section)
    sections += ScreenSections(_result).sections
    sections += [_articles, _glossary, _footer].compactMap(\.self)
    return sections
  }

  private var _lines: [(sentence: String, article: Article)] { Verdict(_result).lines }

  private func _verdict(_ line: (sentence: String, article: Article)) -> Markup {
    .tag(
      "li", [:],
      [
        .text(line.sentence + " "),
        .tag(
          "a",
          ["class": "why", "href": "#\(line.article.rawValue)", "aria-label": "Why: \(line.article.title)"],
          ["why"]),
      ])
  }

  // MARK: Table

  /// Columns under the heading that they share, if any.
  private static let _columns: [(group: String?, titles: [String])] = [
    (nil, ["total s"]), (nil, ["× floor"]), ("main thread", ["busy s", "longest ms", "dropped"]),
    ("heartbeat ms", ["median", "99 %", "worst"]), (nil, ["saves"]), (nil, ["peak MB"]), (nil, ["rows"]),
  ]

  private static let _listColumns: (group: String?, titles: [String]) = (
    "live list", ["rows", "rounds", "changes"]
  )

  private var _table: Markup {
    let columns = Self._columns + (_result.workload.keepsLiveList ? [Self._listColumns] : [])
    var groups: [Markup] = [.tag("th", ["scope": "col", "rowspan": "2"], ["stack"])]
    var titles: [Markup] = []
    for column in columns {
      guard let group = column.group else {
        groups.append(.tag("th", ["scope": "col", "rowspan": "2"], [.text(column.titles[0])]))
        continue
      }
      groups.append(
        .tag(
          "th", ["scope": "colgroup", "colspan": "\(column.titles.count)", "class": "group"], [.text(group)]))
      titles += column.titles.map { .tag("th", ["scope": "col"], [.text($0)]) }
    }
    let count = columns.reduce(0) { $0 + $1.titles.count }
    var floor = [String](repeating: "", count: count)
    floor[0] = Figures.seconds(_result.floorSeconds)
    floor[1] = Figures.ratio(1)
    floor[9] = Figures.megabytes(_result.floorPeakMegabytes)
    var rows = !_result.hasFloor ? [] : [_row(_result.place.floorTitle, floor.map { ($0, false) })]
    rows += _result.stacks.map { _row($0) }
    return .tag(
      "table", [:],
      [.tag("thead", [:], [.tag("tr", [:], groups), .tag("tr", [:], titles)]), .tag("tbody", [:], rows)])
  }

  private func _row(_ stack: ShootoutResult.Stack) -> Markup {
    let frame = ShootoutResult.frameMilliseconds
    return _row(
      stack.design.rawValue,
      [
        (Figures.seconds(stack.totalSeconds), false),
        (!_result.hasFloor ? "" : Figures.ratio(stack.ratioToFloor), false),
        (Figures.seconds(stack.mainBusySeconds), false),
        (Figures.milliseconds(stack.mainLongestMilliseconds), stack.mainLongestMilliseconds > frame),
        (Figures.count(stack.framesDropped), stack.framesDropped > 0),
        (Figures.milliseconds(stack.heartbeat.p50), stack.heartbeat.p50 > frame),
        (Figures.milliseconds(stack.heartbeat.p99), stack.heartbeat.p99 > frame),
        (Figures.milliseconds(stack.heartbeat.max), stack.heartbeat.max > frame),
        (Figures.count(stack.saves), false), (Figures.megabytes(stack.peakMegabytes), false),
        (Figures.count(stack.rows), false),
      ] + (stack.list.map { [$0.rows, $0.rounds, $0.changes] } ?? []).map { (Figures.count($0), false) })
  }

  private func _row(_ title: String, _ cells: [(text: String, isBad: Bool)]) -> Markup {
    var fields: [Markup] = [.tag("th", ["scope": "row"], [.text(title)])]
    for cell in cells {
      // Not by colour alone: screen readers read the mark, and colour-blind readers see it.
      fields.append(
        cell.isBad
          ? .tag(
            "td", ["class": "bad"],
            [
              .tag("abbr", ["title": "main was blocked for a frame or longer"], [.text("▲")]),
              .text(" " + cell.text),
            ])
          : .tag("td", [:], [.text(cell.text)]))
    }
    return .tag("tr", [:], fields)
  }

  // MARK: Timelines

  private var _legend: Markup {
    func entry(_ name: String, _ text: String) -> Markup {
      .tag("span", [:], [.tag("i", ["class": name]), .text(text)])
    }
    return .tag(
      "p", ["class": "legend"],
      [
        entry("main", "main thread"), entry("background", "other threads"), entry("save", "a save"),
        entry("dropped", "a block longer than a frame"),
      ] + (_result.hasFloor ? [entry("floor", "the floor is done")] : []) + [
        .tag(
          "span", [:], [.tag("b", ["class": "bad"], ["▲"]), .text(" main was blocked for a frame or longer")])
      ])
  }

  private func _section(_ stack: ShootoutResult.Stack) -> Markup {
    let drawing = TimelineDrawing(
      scale: max(_result.stacks.map(\.totalSeconds).max() ?? 0, _result.floorSeconds),
      floorSeconds: _result.floorSeconds)
    return .tag(
      "section", [:],
      [
        .tag(
          "h2", [:], [.text(stack.design.title + " "), .tag("code", [:], [.text(stack.design.rawValue)])]),
        .tag("p", [:], [.text(stack.design.summary)]),
        .tag(
          "div",
          [
            "class": "scroll", "tabindex": "0", "role": "region",
            "aria-label": "Timeline of \(stack.design.rawValue)",
          ], [drawing.svg(stack)]),
      ])
  }

  // MARK: Explanations

  private static let _terms: [(term: String, meaning: String)] = [
    (
      "total, × floor",
      "wall time until everything is saved and main knows of it; times as long as the same work on the floor, the first row"
    ),
    ("main thread: busy", "time it was awake, between one wait of its run loop and the next"),
    (
      "longest, dropped",
      "the longest single piece of work that the main queue ran, and how many frames of 1/60 s passed whole inside one "
        + "piece: what a user sees as a stutter"
    ),
    (
      "heartbeat",
      "how long a block sent to the main queue sixty times a second waited: median, 99th percentile, worst"
    ),
    (
      "saves, rows",
      "saves of the importing context; objects in the store afterwards, each compared with the input, or with what the floor has made of it"
    ),
    ("peak MB", "most memory the process held, in megabytes of 1,000,000 bytes"),
  ]

  private static let _listTerm = (
    term: "live list",
    meaning: "objects in main's list afterwards, rounds of changes that it was told of, and changes in them"
  )

  private var _glossary: Markup {
    let terms = Self._terms + (_result.workload.keepsLiveList ? [Self._listTerm] : [])
    return .tag(
      "section", [:],
      [
        .tag("h2", [:], ["What the figures mean"]),
        .tag(
          "dl", [:],
          terms.flatMap { [.tag("dt", [:], [.text($0.term)]), .tag("dd", [:], [.text($0.meaning + ".")])] }),
      ])
  }

  /// What explains the lines of the verdict.
  private var _articles: Markup? {
    let told = Set(_lines.map(\.article))
    guard !told.isEmpty else { return nil }
    let terms = Article.allCases.filter(told.contains).flatMap { article -> [Markup] in
      [
        .tag("dt", ["id": article.rawValue], [.text(article.title)]),
        .tag("dd", [:], [.text("\(article.text) The article '\(article.document)' says more.")]),
      ]
    }
    return .tag("section", [:], [.tag("h2", [:], ["Why"]), .tag("dl", [:], terms)])
  }

  private var _footer: Markup {
    let made = "\(_result.date.formatted(.iso8601)), on \(_result.machine.line(_result.place.engine))."
    return .tag(
      "footer", [:], [.tag("p", [:], [.text(Self._methodText)]), .tag("p", [:], [.text(made)])])
  }

  private static let _methodText = """
    Figures are medians; each run is a separate process, and floor and stacks take turns. The timelines show the \
    run nearest to the median; all have the same scale, and a bar's height is the share of that moment that was \
    spent working.
    """
}
