import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStackShootout

/// Real stops, which only some machines have beside the package.
private let realStops = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  .deletingLastPathComponent()
  .deletingLastPathComponent().appendingPathComponent("../shared/data/vbb-stops.txt").standardizedFileURL.path

@Suite("Reading GTFS stops")
struct StopReaderTests {
  private static let _header = "stop_id,stop_name,stop_lat,stop_lon\n"

  private func _read(_ text: String) throws -> StopFeed {
    try StopReader(name: "stops.txt").read(Array(text.utf8))
  }

  @Test func `Columns are found by name, wherever they are`() throws {
    let feed = try _read("zone, stop_lon ,stop_lat,stop_name,stop_id\nA,13.5,52.5,Here,7\n")
    #expect(feed.stops == [Stop(identifier: "7", name: "Here", latitude: 52.5, longitude: 13.5)])
    #expect(feed.skippedRows == 0)
  }

  @Test func `Quoted fields hold commas, doubled quotes and line ends`() throws {
    let feed = try _read(Self._header + "\"1\",\"A, \"\"B\"\"\",1,2\n2,\"two\nlines\",3,4\n3,x,bad,4\n")
    #expect(feed.stops.map(\.name) == ["A, \"B\"", "two\nlines"])
    #expect(feed.problems.map(\.line) == [5])
  }

  @Test(arguments: ["\n", "\r\n", "\r"])
  func `Lines may end as they do on any system`(end: String) throws {
    let text = ["stop_id,stop_name,stop_lat,stop_lon", "1,a,1,2", "", "2,b,x,4", "3,\"c\",3,4"].joined(
      separator: end)
    let feed = try _read(text)
    #expect(feed.stops.map(\.identifier) == ["1", "3"])
    #expect(feed.problems.map(\.line) == [4])
  }

  @Test func `A byte order mark is no part of the first column's name`() throws {
    #expect(try _read("\u{FEFF}" + Self._header + "1,a,1,2\n").stops.count == 1)
  }

  @Test(arguments: [
    ("1,a,1", "too few columns, 3 where 4 are needed"), ("1,a,,2", "stop_lat is empty"),
    ("1,a,1,x2", "stop_lon is no number: 'x2'"), ("1,a,nan,2", "stop_lat is no number: 'nan'"),
    ("1,a,1e999,2", "stop_lat is no number: '1e999'"), ("1,a,0x10,2", "stop_lat is no number: '0x10'"),
    ("1,a,91,2", "stop_lat is beyond ±90: '91'"), ("1,a,1,-180.5", "stop_lon is beyond ±180: '-180.5'"),
    (",a,1,2", "stop_id is empty"), ("1,a,1,\"2", "a quote is opened and never closed"),
    ("1,a,\u{1B}[2J,2", "stop_lat is no number: ' [2J'"),
  ])
  func `A row that makes no sense is skipped with a reason`(row: String, reason: String) throws {
    let feed = try _read(Self._header + "0,good,1,2\n" + row)
    #expect(feed.stops.map(\.identifier) == ["0"])
    #expect(feed.skippedRows == 1)
    #expect(feed.problems == [StopFeed.Problem(line: 3, reason: reason)])
  }

  @Test func `All bad rows are counted, the first few kept`() throws {
    let feed = try _read(Self._header + "0,good,1,2\n" + String(repeating: "x\n", count: 100))
    #expect(feed.skippedRows == 100)
    #expect(feed.problems.map(\.line) == [3, 4, 5, 6, 7])
  }

  @Test func `Stops that come twice are kept twice but make one row`() throws {
    let feed = try _read(Self._header + "1,a,1,2\n2,b,1,2\n1,c,1,2\n")
    #expect(feed.stops.count == 3)
    #expect(feed.distinctIdentifiers == 2)
  }

  @Test func `Missing columns are named`() {
    #expect(
      throws: StopReaderError.missingColumns(
        name: "stops.txt", missing: ["stop_lat", "stop_lon"], found: ["stop_id", "stop_name"])
    ) { try _read("stop_id,stop_name\n1,a\n") }
  }

  @Test func `A file without content, or without a usable stop, is refused`() {
    #expect(throws: StopReaderError.empty(name: "stops.txt")) { try _read("") }
    #expect(throws: StopReaderError.empty(name: "stops.txt")) { try _read("\u{FEFF}") }
    #expect(throws: StopReaderError.noStops(name: "stops.txt", skippedRows: 0, first: nil)) {
      try _read(Self._header)
    }
    #expect(
      throws: StopReaderError.noStops(
        name: "stops.txt", skippedRows: 1,
        first: .init(line: 2, reason: "too few columns, 1 where 4 are needed"))
    ) { try _read(Self._header + "x") }
  }

  @Test func `Bytes that are no UTF-8 are refused with their line`() {
    let reader = StopReader(name: "stops.txt")
    #expect(throws: StopReaderError.notUTF8(name: "stops.txt", line: 3, looksLikeUTF16: false)) {
      try reader.read(Array((Self._header + "1,ä,1,2\n2,").utf8) + [0xE4] + Array(",1,2\n".utf8))
    }
    #expect(throws: StopReaderError.notUTF8(name: "stops.txt", line: 2, looksLikeUTF16: false)) {
      try reader.read(Array((Self._header + "1,").utf8) + [0xE2, 0x82])
    }
    #expect(throws: StopReaderError.notUTF8(name: "stops.txt", line: 1, looksLikeUTF16: true)) {
      try reader.read([0xFF, 0xFE, 0x73, 0])
    }
  }

  @Test func `No file, or a directory, is said to be one`() {
    #expect(throws: StopReaderError.noSuchFile(path: "/no/such")) { try StopReader.read(path: "/no/such") }
    #expect(throws: StopReaderError.isDirectory(path: "/")) { try StopReader.read(path: "/") }
  }

  @Test func `Random bytes never trap`() {
    var random = SeededRandom(seed: 1)
    let alphabet = Array("\",\n\r1a.-e\u{FEFF}".utf8) + [0xC3, 0x00]
    for _ in 0..<2000 {
      let tail = (0..<random.below(40)).map { _ in alphabet[random.below(alphabet.count)] }
      _ = try? StopReader(name: "x").read(tail)
      _ = try? StopReader(name: "x").read(Array(Self._header.utf8) + tail)
    }
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: realStops)))
  func `The stops of a real city are read`() throws {
    let feed = try StopReader.read(path: realStops)
    #expect(feed.stops.count == 12_793)
    #expect(feed.distinctIdentifiers == 12_793)
    #expect(feed.skippedRows == 0)
    #expect(
      feed.stops[0]
        == Stop(identifier: "5100083", name: "Kunowice", latitude: 52.343078, longitude: 14.642521))
  }
}

@Suite("An invented city")
struct GeneratedCityTests {
  @Test func `The same number makes the same stops, all different`() {
    let stops = GeneratedCity.stops(count: 15_000)
    #expect(stops == GeneratedCity.stops(count: 15_000))
    #expect(Set(stops.map(\.identifier)).count == 15_000)
    #expect(
      stops.allSatisfy { $0.latitude.magnitude <= 90 && $0.longitude.magnitude <= 180 && !$0.name.isEmpty })
    #expect(stops[0] != GeneratedCity.stops(count: 1, seed: 1)[0])
  }

  @Test func `Its timetable reads back as it was made`() throws {
    var stops = GeneratedCity.stops(count: 500)
    stops.append(Stop(identifier: "x,\"y\"", name: "two\r\nlines", latitude: -1.5, longitude: 1e-7))
    let feed = try StopReader(name: "city").read(Array(GeneratedCity.feedText(stops).utf8))
    #expect(feed.stops == stops)
    #expect(feed.skippedRows == 0)
  }

  @Test func `The generator's numbers are the published ones`() {
    var random = SeededRandom(seed: 1_234_567)
    #expect(random.next() == 6_457_827_717_110_365_317)
    #expect(random.next() == 3_203_168_211_198_807_973)
  }
}
