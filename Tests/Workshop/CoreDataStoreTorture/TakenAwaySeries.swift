import CoreData
import CoreDataCTorture
import CoreDataStoreTrials
import CoreDataToolKit
import Foundation

/// Deletes, moves or replaces files of an open store: a save must fail, or be in the file; a replacement must
/// remain unchanged.
package struct TakenAwaySeries: TrialSeries {
  package var command: String { "taken-away" }

  package enum Act: String, Sendable, CaseIterable {
    case deleted
    case deletedWithLog
    case moved
    /// Another store is renamed over it.
    case replaced
    /// Deleted with its log, and replaced by another store.
    case recreated
    case directoryMoved
    case emptied

    var title: String {
      switch self {
      case .deleted: "deleted"
      case .deletedWithLog: "deleted with its log"
      case .moved: "moved"
      case .replaced: "another store renamed over it"
      case .recreated: "deleted, and another store put there"
      case .directoryMoved: "directory moved"
      case .emptied: "cut to 0 bytes"
      }
    }

    /// Whether another store is at the path afterwards.
    var leavesOther: Bool { self == .replaced || self == .recreated }
  }

  package let count: Int
  package let seed: UInt64

  package init(count: Int, seed: UInt64) { (self.count, self.seed) = (count, seed) }

  package func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws {
    for number in 0..<count where turns.isMine(number) {
      var numbers = SeededRandom(seed: seed &* 32_452_843 &+ UInt64(number))
      let act = Act.allCases[number % Act.allCases.count]
      let form = StoreForm.all.randomElement(using: &numbers)!
      report(try Self._report(act, form, savesBefore: Int.random(in: 0...2, using: &numbers), place))
    }
  }

  package static func runOne(_ name: String, in place: TrialPlace) throws -> RoundReport? {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 3, let act = Act(rawValue: parts[0]), let form = StoreForm(name: parts[1]),
      let saves = Int(parts[2])
    else { return nil }
    return try _report(act, form, savesBefore: saves, place)
  }

  private static func _report(_ act: Act, _ form: StoreForm, savesBefore: Int, _ place: TrialPlace) throws
    -> RoundReport
  {
    let name = "\(act.rawValue)/\(form.name)/\(savesBefore)"
    let failure = try _run(act, form, savesBefore, name, place)
    return RoundReport("file taken away", act.title, name, failure: failure)
  }

  private static func _run(
    _ act: Act, _ form: StoreForm, _ savesBefore: Int, _ name: String, _ place: TrialPlace
  ) throws -> String? {
    let directory = place.newDirectory()
    defer {
      place.clean(directory)
      place.clean(URL(fileURLWithPath: directory.path + "moved"))
    }
    let page = place.page
    page.clear()
    try place.template.copy(.filled, form, isLive: false, to: directory, page)
    let url = directory.appendingPathComponent(StoreTemplate.storeName)
    let ending = try ChildProcess(page, isLoud: place.isLoud) {
      setenv("TMPDIR", directory.appendingPathComponent("tmp").path, 1)
      let store = try TrialStore(url, form)
      for _ in 0..<savesBefore { try store.save(writer: 0, on: page) }
      try _perform(act, on: directory)
      let bytes = act.leavesOther ? try Data(contentsOf: url) : nil
      do {
        try store.save(writer: 0, on: page)
        page.words = "saved"
      } catch {
        page.words = ErrorWords.of(error)
      }
      try? store.close()
      if let bytes, try Data(contentsOf: url) != bytes {
        throw TortureFailure("the file that took the place was changed; the save: \(page.words)")
      }
    }.wait()
    if let failure = ending.failure { return "while it works: \(failure)" }
    let wasSaved = page.words == "saved"
    if wasSaved, act != .emptied { return "a save reports success" }
    try place.keep(directory, name)
    let outcomes: [SavesByWriter]
    switch act {
    case .replaced, .recreated:
      outcomes = [[WorkRun.laterWriter: StoreTemplate.otherCount...StoreTemplate.otherCount]]
    case .emptied: outcomes = [[:], [0: page.saves(of: 0)]]
    case .deleted: outcomes = [[:], [0: page.saves(of: 0)]]
    default: outcomes = [[:]]
    }
    if act == .directoryMoved {
      try FileManager.default.createDirectory(
        at: directory.appendingPathComponent("tmp"), withIntermediateDirectories: true)
    }
    var questions = StoreQuestions(url, form, outcomes: outcomes)
    questions.checksHistory = false
    questions.otherFiles = StoreTemplate.files(named: StoreTemplate.otherName)
      .union(StoreTemplate.files(named: "Moved.sqlite"))
    return try place.ask(questions, name, directory)
  }

  private static func _perform(_ act: Act, on directory: URL) throws {
    let files = FileManager.default
    let store = directory.appendingPathComponent(StoreTemplate.storeName)
    let other = directory.appendingPathComponent(StoreTemplate.otherName)
    func deleteAll() {
      for suffix in ["", "-wal", "-shm", "-journal"] { try? files.removeItem(atPath: store.path + suffix) }
    }
    /// Copies the other store's external data, too.
    func bringBlobs() throws {
      let (from, to) = ("\(directory.path)/.Other_SUPPORT", "\(directory.path)/.Store_SUPPORT")
      guard files.fileExists(atPath: from) else { return }
      try? files.removeItem(atPath: to)
      try files.moveItem(atPath: from, toPath: to)
    }
    switch act {
    case .deleted: try files.removeItem(at: store)
    case .deletedWithLog: deleteAll()
    case .moved: try files.moveItem(at: store, to: directory.appendingPathComponent("Moved.sqlite"))
    case .replaced:
      guard rename(other.path, store.path) == 0 else { throw TortureFailure("rename failed") }
      try bringBlobs()
    case .recreated:
      deleteAll()
      try files.moveItem(at: other, to: store)
      try bringBlobs()
    case .directoryMoved:
      guard rename(directory.path, directory.path + "moved") == 0 else {
        throw TortureFailure("rename failed")
      }
      try files.createDirectory(at: directory, withIntermediateDirectories: true)
    case .emptied: guard truncate(store.path, 0) == 0 else { throw TortureFailure("truncate failed") }
    }
  }
}
