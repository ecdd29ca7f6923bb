import Foundation

/// Results as a table for a terminal.
struct Table {
  let report: Report

  var text: String {
    var lines: [[String]] = []
    let isCount = report.results.contains { $0.engineInstructions != nil }
    lines.append(
      isCount
        ? ["work", "objects", "engine, instr/object", "floor, instr/object", "x floor"]
        : [
          "work", "objects", "engine ms", "±", "floor ms", "±", "x floor", "at most", "peak MB",
          "floor MB",
        ])
    for result in report.results { lines.append(isCount ? _counts(result) : _times(result)) }
    var text = report.results.isEmpty ? "" : TextTable.aligned(lines)
    for result in report.results {
      guard let mine = result.figure("p99_ms", \.engine), let floor = result.figure("p99_ms", \.floor) else {
        continue
      }
      text +=
        "\nreader beside the import: p99 \(TextTable.number(mine)) ms, floor \(TextTable.number(floor)) ms"
      text += " (x \(TextTable.number(mine / floor)), at most 1.2)\n"
    }
    text += _besides
    text += _peers
    if report.isRealTime, report.results.contains(where: \.work.isConcurrent) {
      text +=
        "\nMeasured under a real-time priority (SCHED_FIFO or SCHED_RR), under which works with several threads "
      text += "jump.\nThese ran without it: "
      text += Work.allCases.filter(\.isConcurrent).map(\.rawValue).joined(separator: ", ") + ".\n"
    }
    if !report.claims.isEmpty {
      text += "\n"
      text += TextTable.aligned(
        [["claim", "value", "at most", "aim"]]
          + report.claims.map { claim in
            [
              claim.name, TextTable.number(claim.value) + " " + claim.unit,
              claim.limit.map(TextTable.number) ?? "",
              claim.aim.map(TextTable.number) ?? "",
            ]
          })
    }
    return text
  }

  /// What is told about single works.
  private var _besides: String {
    report.results.compactMap { result -> String? in
      let name = result.work.rawValue
      if let seconds = result.figure("handler_ms", \.engine) {
        return
          "\(name): of the engine's time, the program's own closure takes \(TextTable.number(seconds)) ms\n"
      }
      if let engine = result.figure("written_per_s", \.engine),
        let floor = result.figure("written_per_s", \.floor)
      {
        return
          "\(name): the writer beside changed \(TextTable.number(engine)) objects a second, the floor's \(TextTable.number(floor))\n"
      }
      return nil
    }.reduce(into: "") { $0 += ($0.isEmpty ? "\n" : "") + $1 }
  }

  /// Other implementations, in a table of their own.
  private var _peers: String {
    let runs = report.results.flatMap(\.peers)
    var names: [(name: String, version: String)] = []
    for run in runs where !names.contains(where: { $0.name == run.name }) {
      names.append((run.name, run.version))
    }
    guard !names.isEmpty else { return "" }
    var lines = [["others, medians", "floor ms", "engine ms", "x floor"]]
    for name in names { lines[0] += ["\(name.name) ms", "±", "x floor", "peak MB"] }
    for result in report.results where !result.peers.isEmpty {
      var line = [
        result.work.rawValue, TextTable.number(result.floorSamples.median * 1000),
        TextTable.number(result.engineSamples.median * 1000), TextTable.number(result.ratio),
      ]
      for name in names {
        guard let run = result.peers.first(where: { $0.name == name.name }) else {
          line += ["", "", "", ""]
          continue
        }
        line += [
          TextTable.number(run.seconds.median * 1000), "\(Int(run.seconds.spread * 100)) %",
          TextTable.number(result.ratio(of: run)), TextTable.number(run.peakMegabytes.median),
        ]
      }
      lines.append(line)
    }
    let versions = names.map { "\($0.name) \($0.version)" }.joined(separator: ", ")
    return "\n" + TextTable.aligned(lines) + "\(versions); all with equal results\n"
  }

  private func _times(_ result: Report.Result) -> [String] {
    [
      result.work.rawValue, String(result.objects), TextTable.number(result.engineSamples.median * 1000),
      "\(Int(result.engineSamples.spread * 100)) %", TextTable.number(result.floorSamples.median * 1000),
      "\(Int(result.floorSamples.spread * 100)) %", TextTable.number(result.ratio),
      (report.isOnServer ? result.work.limitOnServer : result.work.limit).map(TextTable.number) ?? "",
      TextTable.number(result.peakMegabytes), TextTable.number(result.floorPeakMegabytes),
    ]
  }

  private func _counts(_ result: Report.Result) -> [String] {
    let each = Double(result.work.operations(objects: result.objects))
    return [
      result.work.rawValue, String(result.objects), String(Int((result.engineInstructions ?? 0) / each)),
      String(Int((result.floorInstructions ?? 0) / each)), TextTable.number(result.ratio),
    ]
  }
}

extension Work {
  /// How many objects, or questions, a figure is divided by.
  func operations(objects: Int) -> Int {
    switch self {
    case .fetchPage, .count, .oneReader, .twoReaders, .fourReaders: 1000
    case .update, .delete, .insertEach, .updateEach: 1500
    case .byID: min(objects, 15_000)
    default: objects
    }
  }
}
