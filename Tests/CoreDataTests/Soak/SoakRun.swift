import Foundation
import Testing

/// A soak: carries out plans and checks the engine meanwhile.
protocol Soak: AnyObject {
  var journal: SoakJournal { get }

  /// Runs the plan, up to the first failure.
  ///
  /// - Parameter progress: Called every thousand steps.
  func run(_ plan: SoakPlan, progress: (Int) -> Void) throws
}

extension Soak {
  func run(_ plan: SoakPlan) throws { try run(plan) { _ in } }
}

/// One run of a soak: its seed, mode and store, and what the script asks for.
struct SoakRun: Sendable, CustomTestStringConvertible {
  let seed: UInt64
  let mode: SoakMode
  let setting: Setting
  var testDescription: String { "seed \(seed), \(mode), \(setting)" }

  private static let _environment = ProcessInfo.processInfo.environment
  /// Whether the script runs the soak.
  static let isWatched = _environment["SOAK_SEEDS"] != nil

  /// The steps that the script asks for, or those of a short form.
  static func steps(short: Int) -> Int { _environment["SOAK_STEPS"].flatMap { Int($0) } ?? short }

  /// Runs with the seeds and the mode that the script asks for, or with those of a short form.
  static func all(short: [UInt64], modes: [SoakMode]) -> [SoakRun] {
    let modes: [SoakMode] =
      switch _environment["SOAK_MODE"] {
      case "in-turn": [.inTurn]
      case "at-once": [.scheduled]
      case "free": [.free]
      default: modes
      }
    return (_environment["SOAK_SEEDS"].map(_seeds) ?? short).flatMap { seed in
      modes.flatMap { mode in Setting.direct.map { SoakRun(seed: seed, mode: mode, setting: $0) } }
    }
  }

  /// Parses seeds in the script's format: `3`, `1-20`, `1,4,7-9`.
  private static func _seeds(in text: String) -> [UInt64] {
    text.split(separator: ",").flatMap { part -> [UInt64] in
      let ends = part.split(separator: "-").compactMap { UInt64($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }
  }

  /// Runs a plan, and records its failure together with a shorter plan that fails.
  ///
  /// - Parameter make: Creates the soak, for each plan anew.
  func test(_ plan: SoakPlan, _ make: () throws -> any Soak) throws {
    let soak = try make()
    let start = Date()
    func say(_ text: String) {
      guard Self.isWatched else { return }
      let seconds = Int(Date().timeIntervalSince(start))
      try? FileHandle.standardError.write(
        contentsOf: Data("\(testDescription): \(text) (\(seconds) s)\n".utf8))
    }
    try soak.run(plan) { say("\($0) of about \(plan.stepCount) steps") }
    guard !soak.journal.failures.isEmpty else { return say("passed") }
    say("FAILED at step \(soak.journal.step)")
    Issue.record("\(testDescription), \(soak.journal.report)")
    // On free threads the same plan may pass the next time.
    guard mode != .free else { return }
    say("looking for fewer steps that fail ...")
    let short = try _minimised(plan.prefix(phases: soak.journal.phaseCount), make)
    say("\(short.plan.stepCount) steps fail, too")
    Issue.record("\(testDescription), shortened to \(short.plan.stepCount) steps, \(short.report)")
  }

  /// Returns the shortest failing plan found, and its failure.
  private func _minimised(
    _ plan: SoakPlan, _ make: () throws -> any Soak
  ) throws -> (plan: SoakPlan, report: String) {
    var report = ""
    let attempts = Self._environment["SOAK_ATTEMPTS"].flatMap { Int($0) } ?? 600
    let short = try plan.minimised(attempts: attempts) { candidate in
      let soak = try make()
      try soak.run(candidate)
      if !soak.journal.failures.isEmpty { report = soak.journal.report }
      return !soak.journal.failures.isEmpty
    }
    return (short, report)
  }
}
