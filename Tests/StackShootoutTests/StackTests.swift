import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStackShootout

@Suite("The stacks at work")
struct StackTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  /// Stops, some of which occur again with other values.
  private static let _stops: [Stop] = {
    var stops = GeneratedCity.stops(count: 230)
    for index in stride(from: 0, to: 60, by: 7) {
      stops.append(
        Stop(identifier: stops[index].identifier, name: "again \(index)", latitude: 1, longitude: 2))
    }
    return stops
  }()

  private func _measure(
    _ subject: Subject, mode: ImportMode = .findOrCreate, saveEvery: Int = 50, keepsLiveList: Bool = false
  ) throws -> RunMeasurement {
    let feed = _scratch.file("stops.txt")
    try Data(GeneratedCity.feedText(Self._stops).utf8).write(to: URL(fileURLWithPath: feed))
    let job = WorkerJob(
      subject: subject, feedPath: feed, storeName: _scratch.file("\(subject.name).sqlite"), mode: mode,
      saveEvery: saveEvery, keepsLiveList: keepsLiveList)
    return try WorkerLauncher(executable: ToolProcess.executable).run(job) { _ in }
  }

  @Test(arguments: StackDesign.allCases, ImportMode.allCases)
  func `Each design imports everything, in each mode`(design: StackDesign, mode: ImportMode) throws {
    let measurement = try _measure(.stack(design), mode: mode)
    #expect(measurement.rows == (mode == .insert ? 239 : 230))
    #expect(measurement.saves == 5)
    #expect(measurement.timeline.saves.count == 5)
    let main = try #require(measurement.main)
    #expect(main.busySeconds > 0 && main.busySeconds <= measurement.totalSeconds)
    #expect(main.longestMilliseconds > 0 && main.longestMilliseconds <= main.busySeconds * 1000)
    #expect(main.heartbeat.max >= main.heartbeat.p50)
  }

  @Test(arguments: StackDesign.allCases)
  func `A list of all stops by name stays live in each design`(design: StackDesign) throws {
    let list = try #require(try _measure(.stack(design), keepsLiveList: true).list)
    // There are 230 stops; some repeated ones are updated or move after they were shown.
    #expect(list.rows == 230)
    // A fetch in the list's own context processes earlier changes first, so there main is notified of each
    // stop separately.
    #expect(list.rounds >= 1 && list.rounds <= (design == .main ? 239 : 11))
    #expect(list.changes >= 230 && list.changes <= 239)
    #expect(try _measure(.stack(.main)).list == nil)
  }

  @Test(arguments: ImportMode.allCases)
  func `The floor does the same work`(mode: ImportMode) throws {
    let measurement = try _measure(.floor, mode: mode)
    #expect(measurement.rows == (mode == .insert ? 239 : 230))
    #expect(measurement.saves == 5)
    #expect(measurement.main == nil)
  }

  @Test func `An import in main's context is one block of its queue`() throws {
    let measurement = try _measure(.stack(.main))
    let main = try #require(measurement.main)
    #expect(main.longestMilliseconds > measurement.totalSeconds * 1000 / 2)
  }

  @Test func `The store has Core Data's tables and the model's index`() throws {
    _ = try _measure(.stack(.nested3))
    let database = try PlainSQLite(path: _scratch.file("nested3.sqlite"), readOnly: true)
    let tables = try database.rows("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap { $0[0] }
    #expect(Set(tables).isSuperset(of: ["ZSTOP", "Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]))
    let columns = try database.rows("SELECT name FROM pragma_table_info('ZSTOP')").compactMap { $0[0] }
    #expect(columns == ["Z_PK", "Z_ENT", "Z_OPT", "ZLATITUDE", "ZLONGITUDE", "ZIDENTIFIER", "ZNAME"])
    let plan = try database.rows("EXPLAIN QUERY PLAN SELECT * FROM ZSTOP WHERE ZIDENTIFIER = '1' LIMIT 1")
    #expect(plan[0][3]?.contains("Z_Stop_") == true)
  }

  @Test func `The floor's file is laid out as the stacks' files are`() throws {
    _ = try _measure(.floor)
    _ = try _measure(.stack(.shared))
    let layouts = try ["floor", "shared"].map { name in
      let database = try PlainSQLite(path: _scratch.file("\(name).sqlite"), readOnly: true)
      return try [
        "SELECT sql FROM sqlite_master WHERE tbl_name IN ('ZSTOP', 'Z_PRIMARYKEY') ORDER BY name",
        "PRAGMA journal_mode", "PRAGMA page_size", "PRAGMA auto_vacuum", "PRAGMA encoding",
      ].map { try database.rows($0) }
    }
    #expect(layouts[0] == layouts[1])
  }

  @Test func `A child that ends without a result is reported`() {
    let job = WorkerJob(subject: .floor, feedPath: "", storeName: "")
    #expect(
      throws: ToolFailure(
        .internalError, "The process that ran 'floor' ended without a result (exit code 1).")
    ) { try WorkerLauncher(executable: "/bin/false").run(job) { _ in } }
    #expect {
      _ = try WorkerLauncher(executable: "/no/such/tool").run(job) { _ in }
    } throws: {
      ($0 as? ToolFailure)?.code == .internalError
    }
  }

  @Test func `A child whose job fails says why`() {
    let job = WorkerJob(subject: .stack(.shared), feedPath: "/no/such", storeName: _scratch.file("x.sqlite"))
    #expect {
      _ = try WorkerLauncher(executable: ToolProcess.executable).run(job) { _ in }
    } throws: { error in
      "\(error)".hasPrefix("The run of 'shared' failed: There is no file '/no/such'.")
    }
  }
}

@Suite("A whole shootout by the built tool")
struct WholeShootoutTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  private var _options: [String] { ["--objects", "300", "--save-every", "100", "--runs", "1"] }

  @Test func `JSON has all stacks with all rows, and the page is written`() throws {
    let page = _scratch.file("page.html")
    let outcome = try ToolProcess.run(["shootout", "--format", "json", "--report", page] + _options)
    #expect(outcome.code == 0, "\(outcome.error)")
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let stacks = try #require(document["stacks"] as? [[String: Any]])
    #expect(stacks.map { $0["id"] as? String } == StackDesign.allCases.map(\.rawValue))
    #expect(stacks.allSatisfy { $0["rows"] as? Int == 300 && $0["saves"] as? Int == 3 })
    #expect(try String(contentsOfFile: page, encoding: .utf8).contains("<svg"))
  }

  @Test func `Skipped rows are reported and the rest imported`() throws {
    let feed = _scratch.file("stops.txt")
    let text = GeneratedCity.feedText(GeneratedCity.stops(count: 20)) + "1,,short\n2,,x,,far,1,,,,\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: feed))
    let outcome = try ToolProcess.run(["shootout", "--stops", feed, "--runs", "1", "--stacks", "shared"])
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("note: 2 rows were skipped, 20 are imported.\n  line 22: too few columns"))
    #expect(outcome.error.contains("line 23: stop_lat is no number: 'far'"))
    let lines = outcome.output.split(separator: "\n")
    #expect(
      StackDesign.allCases.filter { design in lines.contains { $0.hasPrefix(design.rawValue) } } == [.shared])
    #expect(lines[3].hasPrefix("shared") && lines[3].hasSuffix("20"))
  }

  @Test func `Stores are left where that was asked for, and nowhere else`() throws {
    let directory = _scratch.file("stores")
    let outcome = try ToolProcess.run(
      ["shootout", "--stores", directory, "--stacks", "nested3", "--format", "json"] + _options)
    #expect(outcome.code == 0, "\(outcome.error)")
    let left = try FileManager.default.contentsOfDirectory(atPath: directory).filter {
      $0.hasSuffix(".sqlite")
    }
    #expect(left.sorted() == ["floor.sqlite", "nested3.sqlite"])
    #expect(
      try PlainSQLite(path: directory + "/nested3.sqlite").rows("SELECT COUNT(*) FROM ZSTOP") == [["300"]])
    #expect(try FileManager.default.contentsOfDirectory(atPath: _scratch.path) == ["stores"])
  }

  @Test func `An interrupted run leaves nothing behind`() throws {
    let outcome = try ToolProcess.run(
      ["shootout", "--objects", "200000", "--runs", "1000"], variables: ["TMPDIR": _scratch.path]
    ) { process in
      // While it runs, its copy of the input is in a temporary directory.
      while process.isRunning {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: _scratch.path)) ?? []
        if files.contains(where: { $0.hasSuffix("/stops.txt") }) { break }
        usleep(10_000)
      }
      process.interrupt()
    }
    #expect(outcome.code == 130)
    #expect(try FileManager.default.contentsOfDirectory(atPath: _scratch.path).isEmpty)
  }
}
