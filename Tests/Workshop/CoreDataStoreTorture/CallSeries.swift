import CoreDataStoreTrials
import CoreDataToolKit
import Foundation

/// Kills: works chosen by chance, each killed at a call or an instant chosen by chance.
package struct KillSeries: TrialSeries {
  package var command: String { "kills" }
  package let count: Int
  package let seed: UInt64

  package init(count: Int, seed: UInt64) { (self.count, self.seed) = (count, seed) }

  package func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws {
    let rounds = CallRounds(place)
    for number in 0..<count where turns.isMine(number) {
      let round = try _round(number, rounds)
      report(try Self._report(round, rounds))
    }
  }

  private func _round(_ number: Int, _ rounds: CallRounds) throws -> CallRound {
    var numbers = SeededRandom(seed: seed &* 1_000_003 &+ UInt64(number))
    let work = Work.allCases[number % Work.allCases.count]
    let form = StoreForm.all.randomElement(using: &numbers)!
    let isLive = work.start == .filled && form.journal == .wal && Bool.random(using: &numbers)
    var hit = [CallRound.Hit.before, .after, .amid, .instant].randomElement(using: &numbers)!
    let measure = try rounds.measure(CallRound(work, form, isLive: isLive, hit, at: 0))
    if measure.callCount(hit) == 0 { hit = .instant }
    let limit = hit == .instant ? max(1, measure.microseconds) : measure.callCount(hit)
    return CallRound(work, form, isLive: isLive, hit, at: Int64.random(in: 1...limit, using: &numbers))
  }

  private static func _report(_ round: CallRound, _ rounds: CallRounds) throws -> RoundReport {
    RoundReport("kills", round.work.title, round.name, failure: try rounds.run(round))
  }

  package static func runOne(_ name: String, in place: TrialPlace) throws -> RoundReport? {
    guard let round = CallRound(name: name), round.hit.isKill else { return nil }
    return try _report(round, CallRounds(place))
  }
}

/// Faults: every call of every work fails in each way, once in the system call and once in a layer below
/// SQLite.
package struct FaultSeries: TrialSeries {
  package var command: String { "faults" }
  /// Runs every nth round.
  package let stride: Int
  /// Runs every nth of the rounds whose store lacks history or external data: their calls are a subset of
  /// those of a store that has both.
  package let lesserStride: Int
  /// The only work; nil for all of them.
  package let work: Work?
  /// The only form of stores; nil for all of them.
  package let form: StoreForm?
  package let seed: UInt64

  package init(
    stride: Int, lesserStride: Int? = nil, work: Work? = nil, form: StoreForm? = nil, seed: UInt64
  ) {
    (self.stride, self.lesserStride) = (stride, lesserStride ?? stride)
    (self.work, self.form, self.seed) = (work, form, seed)
  }

  /// A work on a store, all calls of which fail in turn.
  private struct Script {
    let work: Work
    let form: StoreForm
    let isLive: Bool
    let layer: CallRound.Layer

    static let all = Work.allCases.flatMap { work in
      StoreForm.all.flatMap { form in
        [false, true].filter { !$0 || (work.start == .filled && form.journal == .wal) }.flatMap { isLive in
          CallRound.Layer.allCases.map { Script(work: work, form: form, isLive: isLive, layer: $0) }
        }
      }
    }
  }

  package func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws {
    let rounds = CallRounds(place)
    var turn = 0
    for (number, script) in Script.all.enumerated() {
      guard work == nil || script.work == work, form == nil || script.form == form else { continue }
      let stride = script.form.keepsHistory && script.form.hasBlobs ? self.stride : lesserStride
      // A script that is run costs more than a round of it: small samples leave most scripts out.
      let scriptStride = max(1, stride / 40)
      guard (number + Int(seed % 1_000_003)) % scriptStride == 0 else { continue }
      turn += 1
      guard turns.isMine(turn) else { continue }
      try _run(script, callStride: stride / scriptStride, number, rounds, report)
    }
  }

  private func _run(
    _ script: Script, callStride: Int, _ number: Int, _ rounds: CallRounds, _ report: (RoundReport) -> Void
  ) throws {
    var position = number + Int(seed % 1_000_003)
    func round(_ hit: CallRound.Hit, _ at: Int64) -> CallRound {
      CallRound(script.work, script.form, isLive: script.isLive, layer: script.layer, hit, at: at)
    }
    for hit in CallRound.Hit.faults {
      for at in 0..<(try rounds.measure(round(hit, 0)).callCount(hit)) {
        position += 1
        guard position % callStride == 0 else { continue }
        report(try Self._report(round(hit, at + 1), rounds))
      }
    }
  }

  private static func _report(_ round: CallRound, _ rounds: CallRounds) throws -> RoundReport {
    RoundReport(
      "faults, \(round.layer == .vfs ? "VFS" : "system calls")", round.work.title, round.name,
      failure: try rounds.run(round))
  }

  package static func runOne(_ name: String, in place: TrialPlace) throws -> RoundReport? {
    guard let round = CallRound(name: name), !round.hit.isKill else { return nil }
    return try _report(round, CallRounds(place))
  }
}
