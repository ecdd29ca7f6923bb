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
      .tag("style", [:], [.verbatim(Self._style)]),
    ]
    let body: Markup = .tag("main", [:], _sections)
    return Markup.page(.tag("html", ["lang": "en"], [.tag("head", [:], head), .tag("body", [:], [body])]))
  }

  private var _sections: [Markup] {
    var sections: [Markup] = [
      .tag("h1", [:], ["Core Data stack shootout"]),
      .tag("p", [:], [.text(_result.caption + ".")]),
      .tag("ul", ["class": "verdict"], Verdict(_result).sentences.map { .tag("li", [:], [.text($0)]) }),
      .tag(
        "div",
        ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Figures of all stacks"],
        [_table]),
      _legend,
    ]
    sections += _result.stacks.map(_section)
    sections += ScreenSections(_result).sections
    sections += [_glossary, _footer]
    return sections
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
    var rows = _result.workload.isReplay ? [] : [_row(_result.place.floorTitle, floor.map { ($0, false) })]
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
        (_result.workload.isReplay ? "" : Figures.ratio(stack.ratioToFloor), false),
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
        entry("dropped", "a block longer than a frame"), entry("floor", "the floor is done"),
        .tag(
          "span", [:], [.tag("b", ["class": "bad"], ["▲"]), .text(" main was blocked for a frame or longer")]),
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

  private static let _style = """
    :root { --text: #1d2126; --quiet: #5d6670; --page: #ffffff; --line: #d9dee4; --lane: #f1f3f6;
      --main: #2769d8; --background: #9aa3ad; --save: #1d2126; --bad: #c62f2f; --floor: #17864b; }
    @media (prefers-color-scheme: dark) {
      :root { --text: #e6e9ed; --quiet: #9aa4af; --page: #15181c; --line: #363d45; --lane: #20252b;
        --main: #5b97ff; --background: #7b858f; --save: #e6e9ed; --bad: #ff7b72; --floor: #4cc38a; } }
    body { margin: 0; background: var(--page); color: var(--text);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
    main { max-width: 1080px; margin: 0 auto; padding: 32px 20px 48px; }
    h1 { font-size: 28px; line-height: 1.2; margin: 0 0 8px; }
    h2 { font-size: 19px; line-height: 1.3; margin: 36px 0 2px; }
    h2 code { font-size: 14px; font-weight: 400; color: var(--quiet); margin-left: 6px; }
    p { margin: 0 0 12px; color: var(--quiet); max-width: 76ch; }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; min-width: 860px; font-size: 14px; font-variant-numeric: tabular-nums; }
    th, td { padding: 6px 7px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
    thead th { font-weight: 500; color: var(--quiet); vertical-align: bottom; }
    tr:first-child th:first-child, tbody th { text-align: left; padding-left: 0; }
    thead th.group { text-align: center; border-bottom: 0; padding-bottom: 0; }
    ul.verdict { margin: 0 0 18px; padding-left: 20px; max-width: 76ch; }
    @media (max-width: 560px) { main { padding: 20px 14px 36px; } dl { display: block !important; }
      dd { margin-bottom: 8px; } .legend span { display: block; } }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 20px; font-size: 14px; margin: 10px 0 0; }
    dt { font-weight: 600; }
    dd { margin: 0; color: var(--quiet); max-width: 76ch; }
    tbody th { font-weight: 600; }
    .bad { color: var(--bad); font-weight: 600; }
    abbr { text-decoration: none; font-size: 10px; vertical-align: 1px; }
    .scroll:focus-visible { outline: 2px solid var(--main); outline-offset: 2px; }
    .legend { margin: 28px 0 0; font-size: 14px; max-width: none; }
    .legend span { display: inline-block; margin-right: 22px; }
    .legend i { display: inline-block; width: 14px; height: 12px; margin-right: 7px; vertical-align: -1px; }
    .legend i.main { background: var(--main); }
    .legend i.background { background: var(--background); }
    .legend i.save { width: 2px; background: var(--save); }
    .legend i.dropped { height: 3px; vertical-align: 4px; background: var(--bad); }
    .legend i.floor { width: 0; border-left: 2px dashed var(--floor); }
    .legend i.first { width: 9px; height: 9px; border-radius: 50%; background: var(--main); }
    .legend i.busy { width: 9px; height: 9px; background: var(--background); }
    .legend i.wait { height: 2px; vertical-align: 4px; background: var(--background); }
    .legend i.frame { width: 0; border-left: 2px dashed var(--bad); }
    h3 { font-size: 16px; margin: 26px 0 4px; }
    .screen svg { min-width: 560px; max-width: 800px; margin-bottom: 6px; }
    svg .rule { stroke: var(--line); fill: none; }
    svg .wait { stroke: var(--background); stroke-width: 2; fill: none; }
    svg .busy { fill: var(--background); }
    svg .first { fill: var(--main); }
    svg .frame { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
    svg { display: block; width: 100%; min-width: 640px; height: auto; }
    svg text { font: 13px system-ui, sans-serif; fill: var(--quiet); }
    svg text.axis { font-size: 12px; }
    svg .lane { fill: var(--lane); }
    svg path.main { fill: var(--main); }
    svg path.background { fill: var(--background); }
    svg .save { stroke: var(--save); stroke-width: 1; fill: none; }
    svg .dropped { stroke: var(--bad); stroke-width: 3; fill: none; }
    svg path.axis { stroke: var(--quiet); fill: none; }
    svg .floor { stroke: var(--floor); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
    footer { margin-top: 40px; border-top: 1px solid var(--line); padding-top: 16px; font-size: 14px; }
    """
}
