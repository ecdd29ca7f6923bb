import CoreData
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// The input of a shootout, read once to learn what is in it, to be copied for the runs.
struct PreparedInput {
  private enum Content {
    case bytes([UInt8])
    case file(SpooledInput)
    case store(StoredInput)
    case replay(ReplayInput, SpooledInput)
  }

  /// A file name, or "generated".
  let name: String
  private let _content: Content
  /// The lines that are imported.
  let count: Int
  private(set) var skipped = 0
  /// The first few reasons for which lines are skipped, with their places.
  private(set) var problems: [String] = []
  /// How the copy is read; nil for stops.
  private(set) var records: RecordInput?
  /// The recording; nil for an import.
  private(set) var replay: ReplayInput?
  /// Keys of records that no index of the model begins with.
  private(set) var unindexedKeys: [String] = []
  /// What of a store is imported otherwise than it is, in sentences.
  private(set) var remarks: [String] = []

  /// - Throws: `ToolFailure` for an input that cannot be used.
  init(_ workload: Workload, _ environment: ToolEnvironment) throws {
    switch workload.source {
    case .file(let path):
      let (bytes, feed) = try Self._stops(path)
      self.init(name: Workload.name(ofInput: path), .bytes(bytes), count: feed.stops.count)
      skipped = feed.skippedRows
      problems = feed.problems.map { "line \($0.line): \($0.reason)" }
    case .generated(let count):
      let text = GeneratedCity.feedText(GeneratedCity.stops(count: count))
      self.init(name: "generated", .bytes(Array(text.utf8)), count: count)
    case .replay(let input):
      let store = try SpooledInput(path: input.storePath, notesKeys: true)
      var opened = input
      opened.storePath = store.path
      opened.keysPath = opened.keysPath ?? store.keysPath
      if let keys = opened.keysPath { _ = try CopiedKeys.read(keys) }
      let work = try ReplayWork(opened)
      let names = input.tracePaths.map { Workload.name(ofInput: $0) }.joined(separator: ", ")
      self.init(name: names, .replay(opened, store), count: work.count)
      replay = opened
    case .records(let input) where input.spansEntities:
      let stored = try StoredInput(input, environment)
      self.init(name: stored.name, .store(stored), count: stored.count)
      (records, unindexedKeys, remarks) = (stored.records, stored.unindexedKeys, stored.remarks)
    case .records(let input):
      let plan = try input.plan()
      guard workload.mode == .insert || plan.key(of: plan.entity) != nil else {
        throw ToolFailure(
          .usage,
          "Which attribute tells one '\(input.entity)' from another? Say '--key ATTRIBUTE', or '--mode insert' to look "
            + "none up.")
      }
      try self.init(input, plan)
    }
  }

  private init(name: String, _ content: Content, count: Int) {
    (self.name, _content, self.count) = (name, content, count)
  }

  private init(_ input: RecordInput, _ plan: RecordPlan) throws {
    var input = input
    switch input.origin {
    case .made(let count):
      var maker = try RecordMaker(plan, count: count)
      self.init(name: "generated", .bytes(Array(try maker.text().utf8)), count: count)
    case .store: preconditionFailure("prepared as a whole")
    case .file(let path):
      let file = try SpooledInput(path: path)
      var isDirectory: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory)
      input.form =
        isDirectory.boolValue
        ? .csv : .told(byPath: path, try InputFile(path: file.path, name: file.name).nextBytes() ?? [])
      let feed = try RecordReader(plan: plan).read(file, input.form)
      self.init(name: Workload.name(ofInput: path), .file(file), count: feed.records.count)
      (skipped, problems) = (feed.skipped, feed.problems)
    }
    (records, unindexedKeys) = (input, plan.unindexedKeys)
  }

  /// Copies the input into a directory, so that it stays the same for all runs, and returns where, and how it is read.
  func copy(
    into directory: String
  ) throws(ToolFailure) -> (path: String, records: RecordInput?, replay: ReplayInput?) {
    let path = directory + (records == nil ? "/stops.txt" : "/records")
    var (records, replay) = (records, replay)
    do {
      if let plan = try _plan() {
        records?.modelPath = directory + "/model.sqlite"
        try plan.writeModel(to: directory + "/model.sqlite")
      }
      switch _content {
      case .bytes(let bytes): try Data(bytes).write(to: URL(fileURLWithPath: path))
      case .file(let file): try FileManager.default.copyItem(atPath: file.path, toPath: path)
      case .replay(let input, _):
        replay?.storePath = directory + "/before.sqlite"
        try ReplayWork.copyStore(input.storePath, to: directory + "/before.sqlite")
        if let keys = input.keysPath {
          replay?.keysPath = directory + "/keys.json"
          try FileManager.default.copyItem(atPath: keys, toPath: directory + "/keys.json")
        }
      case .store(let stored): try Data(stored.bytes).write(to: URL(fileURLWithPath: path))
      }
      return (path, records, replay)
    } catch {
      throw ToolFailure(
        .cannotCreateOutput,
        "Cannot write '\(path)': \(error.localizedDescription). Is there room in '\(directory)'?")
    }
  }

  /// The model that the runs import into.
  func makeModel() throws -> NSManagedObjectModel { try _plan()?.makeModel() ?? StopModel.make() }

  /// What a screen shows of the input.
  func listing() throws -> ImportListing {
    try _plan().map { RecordWork(plan: $0, feed: RecordFeed()).listing } ?? StopWork(stops: []).listing
  }

  private func _plan() throws -> RecordPlan? {
    if case .store(let stored) = _content { return try stored.plan() }
    return try records?.plan()
  }

  private static func _stops(_ path: String) throws(ToolFailure) -> ([UInt8], StopFeed) {
    do throws(StopReaderError) {
      let bytes = try StopReader.contents(ofFile: path)
      return (bytes, try StopReader(name: path).read(bytes))
    } catch {
      throw error.failure
    }
  }
}
