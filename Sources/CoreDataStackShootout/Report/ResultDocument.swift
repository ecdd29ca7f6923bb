import CoreDataToolKit
import MainThreadWatch

/// The result as JSON for other programs. Keys are stable; more may be added.
struct ResultDocument {
  private let _result: ShootoutResult

  init(_ result: ShootoutResult) { _result = result }

  var json: JSONText {
    let workload = _result.workload
    var lines = ("stops", JSONText.integer(_result.lines))
    var entity: [(String, JSONText)] = []
    if case .records(let input) = workload.source {
      lines.0 = "records"
      entity = [("entity", .string(input.entity)), ("keys", .array(input.keys.map { .string($0) }))]
    }
    if workload.isReplay { lines.0 = "events" }
    return .object([
      (
        "workload",
        .object(
          entity + [
            ("source", .string(_result.sourceName)), lines,
            ("skippedRows", .integer(_result.skippedRows)), ("mode", .string(workload.mode.rawValue)),
            ("saveEvery", .integer(workload.saveEvery)),
            ("liveList", .boolean(workload.keepsLiveList)), ("runs", .integer(workload.runs)),
            ("synchronous", .string(_result.place.synchronous)),
          ])
      ),
      (
        "floor",
        .object(
          [
            ("total_s", .number(_result.floorSeconds, decimals: 4)),
            ("cpu_s", .number(_result.floorProcessorSeconds, decimals: 4)),
            ("peak_mb", .number(_result.floorPeakMegabytes, decimals: 1)),
          ] + _screens(_result.floorScreens))
      ),
      ("stacks", .array(_result.stacks.map(_stack))),
      ("advice", .array(_result.advice.map(_advice))),
      (
        "machine",
        .object([
          ("processor", .string(_result.machine.processor)),
          ("processors", .integer(_result.machine.processors)), ("system", .string(_result.machine.system)),
          ("engine", .string(_result.place.engine)), ("sqlite", .string(Machine.sqlite)),
          ("debug_build", .boolean(_result.machine.isDebugBuild)),
        ])
      ),
      ("date", .string(_result.date.formatted(.iso8601))),
    ])
  }

  private func _stack(_ stack: ShootoutResult.Stack) -> JSONText {
    let list: [(String, JSONText)] =
      stack.list.map { list in
        [
          (
            "list",
            .object([
              ("rows", .integer(list.rows)), ("rounds", .integer(list.rounds)),
              ("changes", .integer(list.changes)),
            ])
          )
        ]
      } ?? []
    return .object(
      [
        ("id", .string(stack.design.rawValue)),
        ("total_s", .number(stack.totalSeconds, decimals: 4)),
        ("fastest_s", .number(stack.totalRange.lowerBound, decimals: 4)),
        ("slowest_s", .number(stack.totalRange.upperBound, decimals: 4)),
        ("cpu_s", .number(stack.processorSeconds, decimals: 4)),
        ("ratio_to_floor", .number(stack.ratioToFloor, decimals: 3)),
        ("ratio_deviation", .number(stack.ratioDeviation, decimals: 4)),
        ("main_busy_s", .number(stack.mainBusySeconds, decimals: 5)),
        ("main_cpu_s", .number(stack.mainProcessorSeconds, decimals: 5)),
        ("main_longest_ms", .number(stack.mainLongestMilliseconds, decimals: 3)),
        ("frames_dropped", .integer(stack.framesDropped)),
        (
          "heartbeat_ms",
          .object([
            ("p50", .number(stack.heartbeat.p50, decimals: 3)),
            ("p99", .number(stack.heartbeat.p99, decimals: 3)),
            ("max", .number(stack.heartbeat.max, decimals: 3)),
          ])
        ),
        ("saves", .integer(stack.saves)),
        ("peak_mb", .number(stack.peakMegabytes, decimals: 1)),
        ("rows", .integer(stack.rows)),
      ] + list + _replay(stack.replay) + _screens(stack.screens))
  }

  private func _replay(_ replay: ReplayFigures?) -> [(String, JSONText)] {
    replay.map { replay in
      [
        (
          "replay",
          .object([
            ("events", .integer(replay.events)), ("fetches", .integer(replay.fetches)),
            ("equal", .integer(replay.equal)), ("by_id", .integer(replay.byID)),
            (
              "left_out",
              .object(replay.leftOut.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
            ),
          ])
        )
      ]
    } ?? []
  }

  private func _screens(_ screens: [ScreenFigures]) -> [(String, JSONText)] {
    screens.isEmpty ? [] : [("screens", .array(screens.map(_screen)))]
  }

  private func _screen(_ screen: ScreenFigures) -> JSONText {
    let waits = screen.busyMilliseconds
    return .object(
      [
        ("name", .string(screen.name)), ("first_ms", .number(screen.firstMilliseconds, decimals: 3)),
        ("again_ms", .number(screen.againMilliseconds, decimals: 3)),
      ]
        + (waits.isEmpty
          ? []
          : [
            (
              "beside_import_ms",
              .object([
                ("p50", .number(Statistics.median(waits), decimals: 3)),
                ("max", .number(waits.max() ?? 0, decimals: 3)), ("openings", .integer(waits.count)),
              ])
            )
          ]) + [
          ("longest_ms", .number(screen.longestMilliseconds, decimals: 3)),
          ("all_ms", .number(screen.totalMilliseconds, decimals: 3)),
          ("statements", .integer(screen.statements)), ("faults", .integer(screen.faults)),
          ("found", .integer(screen.found)),
        ])
  }

  private func _advice(_ advice: ScreenAdvice) -> JSONText {
    .object([
      ("screen", .string(advice.screen)), ("article", .string(Article(advice).document)),
      ("change", .string(advice.change)),
      ("of", .string(advice.isOfFirstRows ? "first rows" : "all")),
      ("before_ms", .number(advice.before, decimals: 3)), ("after_ms", .number(advice.after, decimals: 3)),
      ("statements_before", .integer(advice.statementsBefore)),
      ("statements_after", .integer(advice.statementsAfter)),
    ])
  }
}
