import CoreData
import CoreDataCTorture
import CoreDataStoreTrials
import CoreDataToolKit
import Foundation

/// Several processes at once on one store.
package struct CrowdSeries: TrialSeries {
  package var command: String { kind.rawValue }

  package enum Kind: String, Sendable, CaseIterable {
    /// All open a store that does not exist yet.
    case opening
    /// All migrate a store, by inference.
    case migrators
    /// All open, save and close, again and again.
    case closing
    /// Some open, save and close, one is killed, some only read.
    case killed
    /// Threads of one process open a store that does not exist yet.
    case threads

    var title: String {
      switch self {
      case .opening: "8 processes open a new store"
      case .migrators: "8 processes migrate a store"
      case .closing: "8 processes open, save, close"
      case .killed: "8 processes save, 3 are killed"
      case .threads: "8 threads open a new store"
      }
    }
  }

  package let kind: Kind
  package let count: Int
  package let seed: UInt64
  private static let _size = 8

  package init(_ kind: Kind, count: Int, seed: UInt64) {
    (self.kind, self.count, self.seed) = (kind, count, seed)
  }

  package func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws {
    for number in 0..<count where turns.isMine(number) {
      var numbers = SeededRandom(seed: seed &* 15_485_863 &+ UInt64(number))
      let form = StoreForm.all.randomElement(using: &numbers)!
      report(try Self._report(kind, form, numbers.next() >> 44, place))
    }
  }

  package static func runOne(_ name: String, in place: TrialPlace) throws -> RoundReport? {
    let parts = name.split(separator: "/").map(String.init)
    guard parts.count == 3, let kind = Kind(rawValue: parts[0]), let form = StoreForm(name: parts[1]),
      let number = UInt64(parts[2])
    else { return nil }
    return try _report(kind, form, number, place)
  }

  private static func _report(_ kind: Kind, _ form: StoreForm, _ number: UInt64, _ place: TrialPlace) throws
    -> RoundReport
  {
    let name = "\(kind.rawValue)/\(form.name)/\(number)"
    return RoundReport(
      "several at once", kind.title, name, failure: try _run(kind, form, number, name, place))
  }

  private static func _run(
    _ kind: Kind, _ form: StoreForm, _ number: UInt64, _ name: String, _ place: TrialPlace
  ) throws -> String? {
    let directory = place.newDirectory()
    defer { place.clean(directory) }
    let page = place.page
    page.clear()
    let start: StoreTemplate.Kind = kind == .opening || kind == .threads ? .nothing : .filled
    let isLive = form.journal == .wal && start == .filled && number % 2 == 0
    try place.template.copy(start, form, isLive: isLive, to: directory, page)
    let url = directory.appendingPathComponent(StoreTemplate.storeName)
    let count = kind == .threads ? 1 : _size
    let children = try (0..<count).map { child in
      try ChildProcess(page, isLoud: place.isLoud) {
        setenv("TMPDIR", directory.appendingPathComponent("tmp").path, 1)
        page.waitForStart()
        switch kind {
        case .opening: try _save(url, form, .first, writer: child + 2, times: 2, page)
        case .migrators: try _save(url, form, .extended, writer: child + 2, times: 1, page)
        case .closing, .killed:
          for _ in 0..<(kind == .closing ? 6 : 20) {
            try _save(url, form, .first, writer: child + 2, times: 1, page)
          }
        case .threads: try _openInThreads(url, form, page)
        }
      }
    }
    page.start(count)
    var failures: [String] = []
    for (index, child) in children.enumerated() {
      let ending: ChildProcess.Ending
      if kind == .killed, index < 3 {
        ending = child.kill(afterMicroseconds: Int64(number % 60_000) + Int64(index) * 5000)
      } else {
        ending = child.wait()
      }
      if let failure = ending.failure { failures.append(failure) }
    }
    guard failures.isEmpty else { return "\(failures.count) of \(count) fail: \(failures[0])" }
    try place.keep(directory, name)
    var outcome: SavesByWriter = [:]
    for writer in 0..<(_size + 2) { outcome[writer] = page.saves(of: writer) }
    var questions = StoreQuestions(url, form, outcomes: [outcome])
    if kind == .migrators { questions.versions = [.extended, .first] }
    questions.otherFiles = StoreTemplate.files(named: StoreTemplate.otherName)
    return try place.ask(questions, name, directory)
  }

  private static func _save(
    _ url: URL, _ form: StoreForm, _ version: TrialModel, writer: Int, times: Int, _ page: TrialPage
  ) throws {
    let store = try TrialStore(url, form, version)
    for _ in 0..<times { try store.save(writer: writer, on: page) }
    try store.close()
  }

  private static func _openInThreads(_ url: URL, _ form: StoreForm, _ page: TrialPage) throws {
    nonisolated(unsafe) var words = [String](repeating: "", count: _size)
    nonisolated(unsafe) let page = page
    let lock = NSLock()
    DispatchQueue.concurrentPerform(iterations: _size) { thread in
      do {
        try _save(url, form, .first, writer: thread + 2, times: 2, page)
      } catch {
        lock.withLock { words[thread] = ErrorWords.of(error) }
      }
    }
    let failures = words.filter { !$0.isEmpty }
    guard failures.isEmpty else { throw TortureFailure("\(failures.count) threads fail: \(failures[0])") }
  }
}
