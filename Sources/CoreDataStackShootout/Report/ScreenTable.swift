import CoreDataToolKit
import MainThreadWatch

/// The figures of the screens, as rows of a table: for each screen the floor's and each stack's.
struct ScreenTable {
  struct Row {
    let screen: String
    let subject: String
    let figures: ScreenFigures
    let isFloor: Bool

    /// The median of the waits beside an import, and the longest; nil for the floor.
    var waits: (median: Double, worst: Double)? {
      figures.busyMilliseconds.isEmpty
        ? nil : (Statistics.median(figures.busyMilliseconds), figures.busyMilliseconds.max() ?? 0)
    }
  }

  let rows: [Row]

  init(_ result: ShootoutResult) {
    let names = result.stacks.first?.screens.map(\.name) ?? []
    rows = names.flatMap { name in
      let floor = result.floorScreens.first { $0.name == name }.map {
        Row(screen: name, subject: result.place.floorTitle, figures: $0, isFloor: true)
      }
      let stacks = result.stacks.compactMap { stack in
        stack.screens.first { $0.name == name }.map {
          Row(screen: name, subject: stack.design.rawValue, figures: $0, isFloor: false)
        }
      }
      return [floor].compactMap(\.self) + stacks
    }
  }

  static let explanation = """
    screens: first and again, the time until the first rows, the first object or the number was there, in a stack opened just
    before and once more. beside import: the same in ms, with the wait for main. longest: the longest block; all: every block.

    """

  /// The table for a terminal; empty without screens.
  func text(usesColor: Bool) -> String {
    guard !rows.isEmpty else { return "" }
    let busy = ["median", "worst"].map { TextTable.Column($0, .right, in: "beside import") }
    var table = TextTable(
      [.init("screen", .left), .init("stack", .left), .init("first ms", .right), .init("again ms", .right)]
        + busy
        + ["longest ms", "all ms", "statements", "faults", "found"].map { TextTable.Column($0, .right) })
    var screen = ""
    for row in rows {
      let figures = row.figures
      table.add([
        .init(row.screen == screen ? "" : row.screen),
        row.isFloor ? .init(row.subject, .dim) : .init(row.subject),
        Self._judged(figures.firstMilliseconds),
        row.isFloor ? "" : Self._judged(figures.againMilliseconds),
        row.waits.map { Self._judged($0.median) } ?? "", row.waits.map { Self._judged($0.worst) } ?? "",
        Self._judged(figures.longestMilliseconds), .init(Figures.milliseconds(figures.totalMilliseconds)),
        .init(Figures.count(figures.statements)), row.isFloor ? "" : .init(Figures.count(figures.faults)),
        .init(Figures.count(figures.found)),
      ])
      screen = row.screen
    }
    return table.text(usesColor: usesColor)
  }

  private static func _judged(_ milliseconds: Double) -> TextTable.Cell {
    let style: TextStyle = milliseconds > ShootoutResult.frameMilliseconds ? .red : .green
    return .init(Figures.milliseconds(milliseconds), style)
  }
}

extension ScreenAdvice {
  /// The advice with its gain.
  var sentence: String {
    let gain = "\(Figures.milliseconds(after)) ms in place of \(Figures.milliseconds(before))"
    guard !isOfFirstRows else {
      return "'\(screen)': \(change) shows the first rows after \(gain)."
    }
    return
      "'\(screen)': \(change) takes \(gain) in all, with \(statementsAfter) statements in place of \(statementsBefore)."
  }
}
