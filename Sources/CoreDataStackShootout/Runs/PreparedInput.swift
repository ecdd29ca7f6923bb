import CoreDataToolKit
import Foundation

/// The input of a shootout, read once to learn what is in it, and copied for the runs.
struct PreparedInput {
  /// A file name, or "generated".
  let name: String
  let bytes: [UInt8]
  /// The lines that are imported.
  let count: Int
  let skipped: Int
  /// The first few reasons for which lines are skipped, with their places.
  let problems: [String]
  /// How the copy is read; nil for stops.
  var records: RecordInput?
  /// Keys of records that no index of the model begins with.
  var unindexedKeys: [String] = []

  /// - Throws: `ToolFailure` for an input that cannot be used.
  init(_ workload: Workload) throws {
    switch workload.source {
    case .file(let path):
      let (bytes, feed) = try Self._stops(path)
      self.init(
        name: Self._name(path), bytes: bytes, count: feed.stops.count, skipped: feed.skippedRows,
        problems: feed.problems.map { "line \($0.line): \($0.reason)" })
    case .generated(let count):
      let text = GeneratedCity.feedText(GeneratedCity.stops(count: count))
      self.init(name: "generated", bytes: Array(text.utf8), count: count, skipped: 0, problems: [])
    case .records(let input):
      try self.init(input, looksUp: workload.mode != .insert)
    }
  }

  private init(
    name: String, bytes: [UInt8], count: Int, skipped: Int, problems: [String], records: RecordInput? = nil
  ) {
    (self.name, self.bytes, self.count) = (name, bytes, count)
    (self.skipped, self.problems, self.records) = (skipped, problems, records)
  }

  private init(_ input: RecordInput, looksUp: Bool) throws {
    var input = input
    let bytes: [UInt8]
    let name: String
    switch input.origin {
    case .file(let path):
      bytes = try Self._contents(path)
      name = Self._name(path)
      input.form = input.form ?? RecordReader.form(ofPath: path, bytes)
    case .made(let count):
      let plan = try RecordPlan(modelPath: input.modelPath, entity: input.entity, keys: input.keys)
      var maker = try RecordMaker(plan, count: count)
      bytes = Array(try maker.text().utf8)
      name = "generated"
      input.form = .ndjson
    }
    let copy = try TemporaryCopy(bytes)
    let (plan, feed) = try withExtendedLifetime(copy) { try input.read(copy.path, name: name) }
    guard !looksUp || plan.keySlot(of: plan.entity) != nil else {
      throw ToolFailure(
        .usage,
        "Which attribute tells one '\(input.entity)' from another? Say '--key ATTRIBUTE', or '--mode insert' to look "
          + "none up.")
    }
    self.init(
      name: name, bytes: bytes, count: feed.records.count, skipped: feed.skipped, problems: feed.problems,
      records: input)
    unindexedKeys = plan.unindexedKeys
  }

  private static func _contents(_ path: String) throws(ToolFailure) -> [UInt8] {
    do throws(StopReaderError) {
      return try StopReader.contents(ofFile: path)
    } catch {
      throw error.failure
    }
  }

  private static func _stops(_ path: String) throws(ToolFailure) -> ([UInt8], StopFeed) {
    do throws(StopReaderError) {
      let bytes = try StopReader.contents(ofFile: path)
      return (bytes, try StopReader(name: path).read(bytes))
    } catch {
      throw error.failure
    }
  }

  private static func _name(_ path: String) -> String {
    path == "-" ? "standard input" : (path as NSString).lastPathComponent
  }

  /// A temporary file, as readers of records take one.
  private final class TemporaryCopy {
    let path: String

    init(_ bytes: [UInt8]) throws {
      path = FileManager.default.temporaryDirectory.path + "/coredata-records-\(UUID().uuidString)"
      guard
        FileManager.default.createFile(
          atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
      else { throw ToolFailure(.cannotCreateOutput, "Cannot write '\(path)'.") }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }
}
