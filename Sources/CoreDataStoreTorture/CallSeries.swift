import Foundation
import CoreDataStoreTrials

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
    var numbers = SeededNumbers(seed: seed &* 1_000_003 &+ UInt64(number))
    let work = Work.allCases[number % Work.allCases.count]
    let form = StoreForm.all.randomElement(using: &numbers)!
    let isLive = work.start == .filled && form.journal == .wal && Bool.random(using: &numbers)
    var hit = [CallRound.Hit.before, .after, .amid, .instant].randomElement(using: &numbers)!
    let measure = try rounds.measure(CallRound(work, form, isLive: isLive, hit, at: 0))
    if measure.callCount == 0 { hit = .instant }
    let limit = hit == .instant ? max(1, measure.microseconds) : measure.callCount
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

/// Faults: every call of every work fails in each way, once by the system and once by a layer below SQLite.
package struct FaultSeries: TrialSeries {
  package var command: String { "faults" }
  /// Runs one round in so many.
  package let stride: Int
  package let seed: UInt64

  package init(stride: Int, seed: UInt64) { (self.stride, self.seed) = (stride, seed) }

  package func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws {
    let rounds = CallRounds(place)
    var number = Int(seed % UInt64(stride))
    var config = 0
    for work in Work.allCases {
      for form in StoreForm.all {
        for isLive in [false, true] where !isLive || (work.start == .filled && form.journal == .wal) {
          config += 1
          guard turns.isMine(config) else { continue }
          for layer in CallRound.Layer.allCases {
            for hit in CallRound.Hit.faults {
              let dry = CallRound(work, form, isLive: isLive, layer: layer, hit, at: 0)
              for at in 0..<(try rounds.measure(dry).callCount) {
                number += 1
                guard number % stride == 0 else { continue }
                report(
                  try Self._report(
                    CallRound(work, form, isLive: isLive, layer: layer, hit, at: at + 1), rounds))
              }
            }
          }
        }
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
