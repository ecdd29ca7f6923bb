import CoreDataToolKit

/// The result as a table for a terminal.
struct ResultTable {
  private let _result: ShootoutResult

  init(_ result: ShootoutResult) { _result = result }

  func text(usesColor: Bool) -> String {
    let main = ["busy s", "longest ms", "dropped"].map { TextTable.Column($0, .right, in: "main thread") }
    let heartbeat = ["p50", "p99", "max"].map { TextTable.Column($0, .right, in: "heartbeat ms") }
    let list = ["rows", "rounds", "changes"].map { TextTable.Column($0, .right, in: "live list") }
    let keepsList = _result.workload.keepsLiveList
    var table = TextTable(
      [.init("stack", .left), .init("total s", .right), .init("× floor", .right)] + main + heartbeat
        + [.init("saves", .right), .init("peak MB", .right), .init("rows", .right)] + (keepsList ? list : []))
    let blank = [TextTable.Cell](repeating: "", count: 7)
    let floor: [TextTable.Cell] = [
      .init(_result.place.floorTitle, .dim), .init(Figures.seconds(_result.floorSeconds)),
      .init(Figures.ratio(1)),
    ]
    if _result.hasFloor {
      table.add(floor + blank + [.init(Figures.megabytes(_result.floorPeakMegabytes))])
    }
    for stack in _result.stacks {
      let told = stack.list.map { [$0.rows, $0.rounds, $0.changes] } ?? []
      table.add(
        [
          .init(stack.design.rawValue), .init(Figures.seconds(stack.totalSeconds)),
          .init(!_result.hasFloor ? "" : Figures.ratio(stack.ratioToFloor)),
          .init(Figures.seconds(stack.mainBusySeconds)),
          _judged(stack.mainLongestMilliseconds),
          .init(Figures.count(stack.framesDropped), stack.framesDropped > 0 ? .red : .green),
          .init(Figures.milliseconds(stack.heartbeat.p50)), .init(Figures.milliseconds(stack.heartbeat.p99)),
          _judged(stack.heartbeat.max), .init(Figures.count(stack.saves)),
          .init(Figures.megabytes(stack.peakMegabytes)), .init(Figures.count(stack.rows)),
        ] + told.map { TextTable.Cell(Figures.count($0)) })
    }
    let told = Verdict(_result)
    let verdict = (told.sentences + [told.reading].compactMap(\.self)).map { $0 + "\n" }.joined()
    let screens = ScreenTable(_result)
    return table.text(usesColor: usesColor)
      + (screens.rows.isEmpty ? "" : "\n" + screens.text(usesColor: usesColor))
      + "\n\(verdict)\n\(_result.caption).\n\(_result.machine.line(_result.place.engine)).\n\n"
      + _explanation + (keepsList ? Self._listExplanation : "")
      + (screens.rows.isEmpty ? "" : ScreenTable.explanation)
  }

  private var _explanation: String {
    """
    × floor: times as long as the same work on the floor, the first row. busy: time the main thread was awake. longest: its
    longest single block. dropped: frames of 1/60 s that passed whole inside one block. heartbeat: how long a block
    sent to the main queue 60 times a second waited.

    """
  }

  private static let _listExplanation = """
    live list: objects in main's list, rounds of changes it was told of, and changes in them.

    """

  /// Milliseconds on the main thread, red if longer than a frame.
  private func _judged(_ milliseconds: Double) -> TextTable.Cell {
    let style: TextStyle = milliseconds > ShootoutResult.frameMilliseconds ? .red : .green
    return .init(Figures.milliseconds(milliseconds), style)
  }
}
