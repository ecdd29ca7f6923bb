import CoreDataCSQLite
import Foundation

/// Results as they are printed as JSON and kept.
struct Document: Codable {
  struct Result: Codable {
    var work: String
    var objects: Int
    var engine_s: Double
    var floor_s: Double
    var ratio: Double
    var peak_mb: Double
    var floor_peak_mb: Double?
    /// Middle half of the samples, as a part of their median.
    var engine_spread: Double?
    var floor_spread: Double?
    var engine_samples_s: [Double]?
    var floor_samples_s: [Double]?
    var engine_instructions: Double?
    var floor_instructions: Double?
    /// Latency of the reader beside an import, in milliseconds.
    var reader_ms: [String: Double]?
    var floor_reader_ms: [String: Double]?
    /// Other implementations in the same run, by name.
    var peers: [String: Peer]?
    /// What the program's own closure takes of the engine's time, in milliseconds.
    var handler_ms: Double?
    /// Objects that the writer beside the readers changed in a second.
    var written_per_s: Double?
    var floor_written_per_s: Double?
  }

  struct Peer: Codable {
    var version: String
    var samples_s: [Double]
    var median_s: Double
    var x_floor: Double
    var peak_mb: Double
  }

  struct Claim: Codable {
    var name: String
    var value: Double
    var unit: String
    var at_most: Double?
    var aim: Double?
  }

  var date: String
  var versions: [String: String]
  var results: [Result]
  var claims: [Claim]

  init(_ report: Report, date: Date = Date()) {
    let format = ISO8601DateFormatter()
    self.date = format.string(from: date)
    versions = Self._versions
    if let version = report.serverVersion {
      versions["postgresql"] = "\(version / 10_000).\(version % 10_000)"
    }
    if report.isRealTime { versions["scheduling"] = "real-time; ordinary for works with several threads" }
    results = report.results.map { result in
      Result(
        work: result.work.rawValue, objects: result.objects, engine_s: result.engineSamples.median,
        floor_s: result.floorSamples.median, ratio: result.ratio, peak_mb: result.peakMegabytes,
        floor_peak_mb: result.floorPeakMegabytes, engine_spread: result.engineSamples.spread,
        floor_spread: result.floorSamples.spread, engine_samples_s: result.engineSamples,
        floor_samples_s: result.floorSamples, engine_instructions: result.engineInstructions,
        floor_instructions: result.floorInstructions, reader_ms: Self._reader(result, \.engine),
        floor_reader_ms: Self._reader(result, \.floor), peers: Self._peers(result),
        handler_ms: result.figure("handler_ms", \.engine),
        written_per_s: result.figure("written_per_s", \.engine),
        floor_written_per_s: result.figure("written_per_s", \.floor))
    }
    claims = report.claims.map {
      Claim(name: $0.name, value: $0.value, unit: $0.unit, at_most: $0.limit, aim: $0.aim)
    }
  }

  private static func _peers(_ result: Report.Result) -> [String: Peer]? {
    guard !result.peers.isEmpty else { return nil }
    return Dictionary(
      uniqueKeysWithValues: result.peers.map { runs in
        let peer = Peer(
          version: runs.version, samples_s: runs.seconds, median_s: runs.seconds.median,
          x_floor: result.ratio(of: runs), peak_mb: runs.peakMegabytes.median)
        return (runs.name, peer)
      })
  }

  private static func _reader(_ result: Report.Result, _ side: KeyPath<Report.Round, Measurement>) -> [String:
    Double]?
  {
    guard let p50 = result.figure("p50_ms", side), let p99 = result.figure("p99_ms", side) else { return nil }
    return [
      "p50": p50, "p99": p99, "max": result.figure("max_ms", side) ?? 0,
      "reads": result.figure("reads", side) ?? 0,
    ]
  }

  private static var _versions: [String: String] {
    #if compiler(>=6.3)
    let swift = "6.3 or newer"
    #else
    let swift = "6.2"
    #endif
    return [
      "sqlite": String(cString: sqlite3_libversion()), "swift": swift,
      "system": ProcessInfo.processInfo.operatingSystemVersionString,
      "processors": String(ProcessInfo.processInfo.activeProcessorCount),
    ]
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// Whether the stores were on a PostgreSQL server.
  var isOnServer: Bool { versions["postgresql"] != nil }

  /// Name of the files that it is kept in.
  var name: String {
    date.replacing(":", with: "").replacing("-", with: "") + (isOnServer ? "-postgresql" : "")
  }

  /// The newest of the runs kept in a directory that is comparable with this one; nil if there is none.
  func last(in directory: String) -> Document? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for name in names.filter({ $0.hasSuffix(".json") }).sorted(by: >) {
      guard let data = FileManager.default.contents(atPath: "\(directory)/\(name)"),
        let document = try? JSONDecoder().decode(Document.self, from: data)
      else { continue }
      guard document.isOnServer == isOnServer else { continue }
      return document
    }
    return nil
  }
}
