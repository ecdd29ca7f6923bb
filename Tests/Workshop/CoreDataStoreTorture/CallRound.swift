import CoreDataCTorture
import Foundation

/// A round in which one call of a work is hit, or in which the work is killed after some time. Its name
/// contains all parameters that are needed to repeat it.
package struct CallRound: Sendable, Hashable {
  package enum Hit: String, Sendable, CaseIterable {
    case before, after, amid
    /// After a number of microseconds, at an arbitrary point.
    case instant
    case noSpace = "ENOSPC"
    case inputOutput = "EIO"
    case shortWrite = "short"
    case sticky

    /// Whether it ends the process.
    package var isKill: Bool { [.before, .after, .amid, .instant].contains(self) }

    package static let faults: [Hit] = [.noSpace, .inputOutput, .shortWrite, .sticky]

    var action: torture_action {
      switch self {
      case .before: torture_kill_before
      case .after: torture_kill_after
      case .amid: torture_kill_amid
      case .instant: torture_count_changes
      case .noSpace: torture_no_space
      case .inputOutput: torture_io_error
      case .shortWrite: torture_short_write
      case .sticky: torture_io_error_from_now_on
      }
    }
  }

  package enum Layer: String, Sendable, CaseIterable {
    case system
    case vfs
  }

  package let work: Work
  package let form: StoreForm
  /// Whether the store is in the state that a killed process left.
  package let isLive: Bool
  package let layer: Layer
  package let hit: Hit
  /// Number of the call, or microseconds; 0 for no hit.
  package let at: Int64

  package init(_ work: Work, _ form: StoreForm, isLive: Bool, layer: Layer = .system, _ hit: Hit, at: Int64) {
    (self.work, self.form, self.isLive, self.layer, self.hit, self.at) = (work, form, isLive, layer, hit, at)
  }

  package var name: String {
    "\(work.rawValue)/\(form.name)/\(isLive ? "live" : "closed")/\(layer.rawValue)/\(hit.rawValue)/\(at)"
  }

  package init?(name: String) {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 6, let work = Work(rawValue: parts[0]), let form = StoreForm(name: parts[1]),
      ["live", "closed"].contains(parts[2]), let layer = Layer(rawValue: parts[3]),
      let hit = Hit(rawValue: parts[4]), let at = Int64(parts[5])
    else { return nil }
    self.init(work, form, isLive: parts[2] == "live", layer: layer, hit, at: at)
  }

  var plan: TrialPage.Plan {
    TrialPage.Plan(
      layer: layer == .vfs ? torture_layer_vfs : torture_layer_system, action: hit.action,
      at: hit == .instant ? 0 : at)
  }
}

/// Runs rounds that hit a call.
package final class CallRounds {
  private let _place: TrialPlace
  private var _measured: [String: Measure] = [:]

  package init(_ place: TrialPlace) { _place = place }

  /// Measurements of a work without a hit.
  package struct Measure {
    fileprivate let callCounts: [CallRound.Hit: Int64]
    package let microseconds: Int64

    /// Number of calls to which this hit applies: 0 if the work only reads, and the hit applies to changes.
    package func callCount(_ hit: CallRound.Hit) -> Int64 { callCounts[hit] ?? 0 }
  }

  /// Runs a round.
  ///
  /// - Returns: The failure; nil if there is none.
  package func run(_ round: CallRound) throws -> String? {
    let directory = try _prepare(round)
    defer { _place.clean(directory) }
    let page = _place.page
    var run = WorkRun(directory.appendingPathComponent(StoreTemplate.storeName), round.form, page)
    if !round.hit.isKill { run.recover = { page.disarm() } }
    run.startsOver = round.at % 2 == 0
    let ending = try _work(round, run, directory)
    if let failure = ending.failure { return "while it works: \(failure); the call was \(page.call)" }
    if round.hit != .instant, round.hit.isKill, ending != .killed {
      return page.callCount(round.hit.action) < round.at ? nil : "was not killed"
    }
    try _place.keep(directory, round.name)
    let asked = try _ask(run.questions(after: round.work), round.name, directory)
    return asked.map { "\($0); the call was \(page.call)" }
  }

  private func _prepare(_ round: CallRound) throws -> URL {
    let directory = _place.newDirectory()
    _place.page.clear()
    try _place.template.copy(round.work.start, round.form, isLive: round.isLive, to: directory, _place.page)
    return directory
  }

  private func _work(_ round: CallRound, _ run: WorkRun, _ directory: URL) throws -> ChildProcess.Ending {
    let page = _place.page
    let isLoud = _place.isLoud
    let child = try ChildProcess(page, isLoud: isLoud) {
      setenv("TMPDIR", directory.appendingPathComponent("tmp").path, 1)
      if round.layer == .vfs { torture_vfs_register() }
      var plan = round.plan
      plan.isTraced = isLoud
      let start = torture_now_microseconds()
      page.arm(plan, below: directory)
      try run.run(round.work)
      page.disarm()
      page.microseconds = torture_now_microseconds() - start
    }
    return round.hit == .instant && round.at > 0 ? child.kill(afterMicroseconds: round.at) : child.wait()
  }

  private func _ask(_ questions: StoreQuestions, _ name: String, _ directory: URL) throws -> String? {
    try _place.ask(questions, name, directory)
  }

  /// Runs the work of a round once without a hit, and counts its calls.
  package func measure(_ round: CallRound) throws -> Measure {
    let dry = CallRound(round.work, round.form, isLive: round.isLive, layer: round.layer, .instant, at: 0)
    if let known = _measured[dry.name] { return known }
    let directory = try _prepare(dry)
    defer { _place.clean(directory) }
    let run = WorkRun(directory.appendingPathComponent(StoreTemplate.storeName), dry.form, _place.page)
    let ending = try _work(dry, run, directory)
    if let failure = ending.failure { throw TortureFailure("\(dry.name) fails without a fault: \(failure)") }
    let counts = CallRound.Hit.allCases.map { ($0, _place.page.callCount($0.action)) }
    let measure = Measure(
      callCounts: Dictionary(uniqueKeysWithValues: counts), microseconds: _place.page.microseconds)
    _measured[dry.name] = measure
    return measure
  }
}
