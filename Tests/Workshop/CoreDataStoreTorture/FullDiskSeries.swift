import CoreData
import CoreDataCTorture
import CoreDataStoreTrials
import CoreDataToolKit
import Foundation

/// Full disks: works on a file system in memory that is too small for them, and grows after the first error.
package struct FullDiskSeries: TrialSeries {
  package var command: String { "full-disk" }
  package let count: Int
  package let seed: UInt64

  package init(count: Int, seed: UInt64) { (self.count, self.seed) = (count, seed) }

  /// A round with the given number of free kilobytes at the start of the work.
  private struct Round {
    let work: Work
    let form: StoreForm
    let isLive: Bool
    let kilobytes: Int64
    /// Whether another process opens the store while the disk is full.
    let isOpenedFull: Bool

    var name: String {
      [
        work.rawValue, form.name, isLive ? "live" : "closed", isOpenedFull ? "opened" : "retried",
        "\(kilobytes)",
      ].joined(separator: "/")
    }

    init?(name: String) {
      let parts = name.split(separator: "/").map(String.init)
      guard parts.count == 5, let work = Work(rawValue: parts[0]), let form = StoreForm(name: parts[1]),
        ["live", "closed"].contains(parts[2]), ["opened", "retried"].contains(parts[3]),
        let kilobytes = Int64(parts[4])
      else { return nil }
      (self.work, self.form, self.kilobytes) = (work, form, kilobytes)
      (isLive, isOpenedFull) = (parts[2] == "live", parts[3] == "opened")
    }

    init(_ number: Int, _ seed: UInt64) {
      var numbers = SeededRandom(seed: seed &* 7_919 &+ UInt64(number))
      work = Work.allCases[number % Work.allCases.count]
      form = StoreForm.all.randomElement(using: &numbers)!
      isLive = work.start == .filled && form.journal == .wal && Bool.random(using: &numbers)
      isOpenedFull = Bool.random(using: &numbers)
      let limit: Int64 = work == .bigSave ? 4000 : form.hasBlobs ? 800 : 300
      kilobytes = Int64.random(in: 0...limit / 4, using: &numbers) * 4
    }
  }

  package func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws {
    if let refusal = Self._prepare(place) { return report(refusal) }
    for number in 0..<count where turns.isMine(number) {
      report(try Self._report(Round(number, seed), place))
    }
  }

  package static func runOne(_ name: String, in place: TrialPlace) throws -> RoundReport? {
    guard let round = Round(name: name) else { return nil }
    return try _prepare(place) ?? _report(round, place)
  }

  /// Moves the process to a new mount namespace; a report if it may not.
  private static func _prepare(_ place: TrialPlace) -> RoundReport? {
    let result = torture_private_mounts()
    guard result != 0 else { return nil }
    let words = "no file system may be mounted here: \(String(cString: strerror(result)))"
    return RoundReport("full disk", "all", "all", .skipped, words)
  }

  private static func _report(_ round: Round, _ place: TrialPlace) throws -> RoundReport {
    RoundReport("full disk", round.work.title, round.name, failure: try _run(round, place))
  }

  private static let _roomy: Int64 = 64 << 20

  private static func _run(_ round: Round, _ place: TrialPlace) throws -> String? {
    let directory = place.newDirectory()
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let result = torture_mount(directory.path, _roomy)
    guard result == 0 else { throw TortureFailure("mounting failed: \(String(cString: strerror(result)))") }
    defer {
      torture_unmount(directory.path)
      place.clean(directory)
    }
    let page = place.page
    page.clear()
    try place.template.copy(round.work.start, round.form, isLive: round.isLive, to: directory, page)
    let path = directory.path
    guard torture_resize(path, try _used(path) + round.kilobytes * 1024) == 0 else {
      throw TortureFailure("a mounted file system cannot be made smaller")
    }
    var run = WorkRun(directory.appendingPathComponent(StoreTemplate.storeName), round.form, page)
    run.startsOver = round.kilobytes % 8 == 0
    run.recover = {
      if round.isOpenedFull { throw TortureFailure("full") }
      if torture_resize(path, _roomy) != 0 { throw TortureFailure("cannot make room") }
    }
    let ending = try ChildProcess(page, isLoud: place.isLoud) {
      setenv("TMPDIR", directory.appendingPathComponent("tmp").path, 1)
      try run.run(round.work)
    }.wait()
    if let failure = ending.failure, failure != "full" { return "while it works: \(failure)" }
    let questions = run.questions(after: round.work)
    if ending == .failed("full"), let failure = try _openFull(questions, place) { return failure }
    guard torture_resize(path, _roomy) == 0 else { throw TortureFailure("cannot make room") }
    try place.keep(directory, round.name)
    return try place.ask(questions, round.name, directory)
  }

  private static func _used(_ path: String) throws -> Int64 {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { throw TortureFailure("no statvfs of \(path)") }
    return Int64(status.f_blocks - status.f_bfree) * Int64(status.f_frsize)
  }

  /// Opens the store in a new process while the disk is full: it is readable, or fails with an error that
  /// names the cause.
  private static func _openFull(_ questions: StoreQuestions, _ place: TrialPlace) throws -> String? {
    let page = place.page
    let ending = try ChildProcess(page, isLoud: place.isLoud) {
      do {
        let store = try TrialStore(questions.url, questions.form, questions.versionToOpen())
        if questions.versions.count == 1 { try StoreContent(store).check(questions.outcomes) }
        try store.close()
      } catch let error as TortureFailure {
        throw error
      } catch {
        guard ErrorWords.saysFull(error) || questions.versions.contains(.mapped) else {
          throw TortureFailure("the error on a full disk does not say so: \(ErrorWords.of(error))")
        }
      }
    }.wait()
    return ending.failure.map { "while the disk is full: \($0)" }
  }
}

extension ErrorWords {
  /// Whether an error reports a full disk.
  static func saysFull(_ error: any Error) -> Bool {
    let words = of(error).lowercased()
    return words.contains("full") || words.contains("space")
  }
}
