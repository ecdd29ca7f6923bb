import CoreDataStackShootout
import CoreDataToolKit
import Foundation

/// The results as JSON for other programs. Keys are stable; more may be added.
struct LoadDocument: Sendable {
  let results: [ScenarioResult]
  let date: Date

  var json: JSONText {
    let machine = Machine.current
    return .object([
      ("scenarios", .array(results.map(_scenario))),
      (
        "machine",
        .object([
          ("processor", .string(machine.processor)), ("processors", .integer(machine.processors)),
          ("system", .string(machine.system)), ("sqlite", .string(Machine.sqlite)),
          ("debug_build", .boolean(machine.isDebugBuild)),
        ])
      ), ("date", .string(date.formatted(.iso8601))),
    ])
  }

  private func _scenario(_ result: ScenarioResult) -> JSONText {
    .object([
      ("id", .string(result.scenario.rawValue)), ("seconds", .number(result.seconds, decimals: 3)),
      ("operations", .integer(result.operations)), ("saves", .integer(result.saves)),
      ("saves_per_s", .number(result.saveRate, decimals: 1)), ("conflicts", .integer(result.conflicts)),
      ("main_block_cpu_ms", _milliseconds(result.blocks.processor)),
      ("main_block_wall_ms", _milliseconds(result.blocks.wall)),
      ("large_block_cpu_us_per_object", _microseconds(result.blocks.perObject)),
      ("most_objects_in_a_block", .integer(result.blocks.mostObjects)),
      ("main_queue_wait_ms", _milliseconds(result.waits)), ("age_shown_ms", _milliseconds(result.ages)),
      (
        "first_reads",
        .object([
          ("count", .integer(result.reads.count)), ("stale", .integer(result.reads.stale)),
          ("longest_ms", .number(Double(result.reads.longest) / 1e6, decimals: 3)),
        ])
      ),
      ("contexts", .integer(result.contexts)), ("most_contexts", .integer(result.mostContexts)),
      ("most_objects", .integer(result.mostObjects)),
      ("early", _holdings(result.early)), ("late", _holdings(result.late)),
      ("differences", .array(result.differences.map { .string($0) })),
    ])
  }

  private func _milliseconds(_ times: Quantiles) -> JSONText { _quantiles(times, 1e6) }
  private func _microseconds(_ times: Quantiles) -> JSONText { _quantiles(times, 1e3) }

  private func _quantiles(_ times: Quantiles, _ unit: Double) -> JSONText {
    func number(_ nanoseconds: UInt64) -> JSONText { .number(Double(nanoseconds) / unit, decimals: 3) }
    return .object([
      ("count", .integer(times.count)), ("p50", number(times.p50)), ("p99", number(times.p99)),
      ("p99_9", number(times.p999)), ("longest", number(times.longest)),
    ])
  }

  private func _holdings(_ holdings: Holdings) -> JSONText {
    .object([
      ("contexts", .integer(holdings.contexts)), ("objects", .integer(holdings.objects)),
      ("bytes", .integer(holdings.bytes)), ("descriptors", .integer(holdings.descriptors)),
      ("threads", .integer(holdings.threads)),
    ])
  }
}
