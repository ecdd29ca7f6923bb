import CoreDataToolKit
import Foundation

/// What a scenario's figures may be at most.
///
/// In a short run these are counts, memory and ages only: times of blocks vary with the machine. A long run
/// of a release build also has what a screen needs.
struct LoadLimits: Sendable {
  /// Whether the run is long enough for limits on times, and for memory that stays.
  let isLong: Bool

  /// A frame of a screen, in nanoseconds.
  static let frame: UInt64 = 1_000_000_000 / 60
  /// The greatest age of what 99 % of looks at the list show, in nanoseconds.
  private static let _age: UInt64 = 2_000_000_000
  /// Objects that may be in memory for a moment, besides twice those that stay.
  private static let _objects = 4000
  /// Bytes by which a short run may grow: its caches fill.
  private static let _growth = 4_000_000

  /// Returns a sentence about each limit that is exceeded.
  func excesses(of result: ScenarioResult) -> [String] {
    var found: [String] = result.differences.map { "\(result.scenario.rawValue): \($0)." }
    func limit(_ isKept: Bool, _ sentence: @autoclosure () -> String) {
      if !isKept { found.append("\(result.scenario.rawValue): \(sentence()).") }
    }
    limit(
      result.rate >= result.scenario.floor,
      "\(_rate(result.rate)) \(result.scenario.operation) a second are fewer than \(_rate(result.scenario.floor))"
    )
    // One for each thread that uses one, main among them, and four that a merge or a block holds for a moment.
    let most = result.contexts + 1 + 4
    limit(result.mostContexts <= most, "\(result.mostContexts) contexts are alive at once, more than \(most)")
    let mostObjects = 2 * result.early.objects + Self._objects
    limit(
      result.mostObjects <= mostObjects,
      "\(grouped(result.mostObjects)) objects are in memory at once, more than \(grouped(mostObjects))")
    limit(
      result.late.contexts <= result.early.contexts,
      "\(result.late.contexts) contexts stay, and \(result.early.contexts) did at first")
    let bytes = result.early.bytes + (isLong ? result.early.bytes / 50 : Self._growth)
    limit(
      result.late.bytes <= bytes,
      "\(grouped(result.late.bytes)) bytes stay, more than \(grouped(bytes)), and at first "
        + grouped(result.early.bytes)
    )
    // A pool may open a connection late.
    let descriptors = result.early.descriptors + 8
    limit(
      result.late.descriptors <= descriptors,
      "\(result.late.descriptors) descriptors are open, more than \(descriptors)")
    limit(result.late.threads <= 100, "\(result.late.threads) threads stay, more than 100")
    limit(
      result.ages.p99 <= Self._age,
      "1 % of looks at the list miss a save that is older than \(_seconds(Self._age)): \(_seconds(result.ages.p99))"
    )
    limit(
      result.reads.stale == 0,
      "\(result.reads.stale) of \(grouped(result.reads.count)) first reads miss what was saved before, up to "
        + "\(_seconds(result.reads.longest)) ago")
    guard isLong else { return found }
    limit(
      result.blocks.processor.p999 < Self.frame,
      "0.1 % of main's blocks take \(_milliseconds(result.blocks.processor.p999)) of processor time, not less than "
        + _milliseconds(Self.frame))
    return found
  }

  private func _rate(_ rate: Double) -> String { String(format: "%.1f", rate) }
  private func _seconds(_ nanoseconds: UInt64) -> String {
    String(format: "%.2f s", Double(nanoseconds) / 1e9)
  }
  private func _milliseconds(_ nanoseconds: UInt64) -> String {
    String(format: "%.1f ms", Double(nanoseconds) / 1e6)
  }
}
