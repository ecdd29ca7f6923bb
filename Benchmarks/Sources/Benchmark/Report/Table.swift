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
    var text = report.results.isEmpty ? "" : _aligned(lines)
    for result in report.results {
      guard let mine = result.reader("p99_ms", \.engine), let floor = result.reader("p99_ms", \.floor) else {
        continue
      }
      text += "\nreader beside the import: p99 \(_number(mine)) ms, floor \(_number(floor)) ms"
      text += " (x \(_number(mine / floor)), at most 1.2)\n"
    }
    if report.isRealTime, report.results.contains(where: \.work.isConcurrent) {
      text +=
        "\nMeasured under a real-time priority (SCHED_FIFO or SCHED_RR), under which works with several threads "
      text += "jump.\nThese ran without it: "
      text += Work.allCases.filter(\.isConcurrent).map(\.rawValue).joined(separator: ", ") + ".\n"
    }
    if !report.claims.isEmpty {
      text += "\n"
      text += _aligned(
        [["claim", "value", "at most", "aim"]]
          + report.claims.map { claim in
            [
              claim.name, _number(claim.value) + " " + claim.unit, claim.limit.map(_number) ?? "",
              claim.aim.map(_number) ?? "",
            ]
          })
    }
    return text
  }

  private func _times(_ result: Report.Result) -> [String] {
    [
      result.work.rawValue, String(result.objects), _number(result.engineSamples.median * 1000),
      "\(Int(result.engineSamples.spread * 100)) %", _number(result.floorSamples.median * 1000),
      "\(Int(result.floorSamples.spread * 100)) %", _number(result.ratio),
      (report.isOnServer ? PostgreSQLRun.limit(result.work) : result.work.limit).map(_number) ?? "",
      _number(result.peakMegabytes), _number(result.floorPeakMegabytes),
    ]
  }

  private func _counts(_ result: Report.Result) -> [String] {
    let each = Double(result.work.operations(objects: result.objects))
    return [
      result.work.rawValue, String(result.objects), String(Int((result.engineInstructions ?? 0) / each)),
      String(Int((result.floorInstructions ?? 0) / each)), _number(result.ratio),
    ]
  }

  private func _number(_ value: Double) -> String {
    value >= 100 ? String(Int(value.rounded())) : String(format: value >= 10 ? "%.1f" : "%.2f", value)
  }

  /// The first column to the left, the others to the right.
  private func _aligned(_ lines: [[String]]) -> String {
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      line.indices.map { column in
        let gap = String(repeating: " ", count: widths[column] - line[column].count)
        return column == 0 ? line[column] + gap : gap + line[column]
      }.joined(separator: "  ") + "\n"
    }.joined()
  }
}

extension Work {
  /// How many objects, or questions, a figure is divided by.
  func operations(objects: Int) -> Int {
    switch self {
    case .fetchPage, .count: 1000
    case .update, .delete: 1500
    case .byID: min(objects, 15_000)
    default: objects
    }
  }
}
