import CoreDataToolKit
import Foundation

/// The parsed command line of a shootout.
struct ShootoutOptions {
  enum Format: String, CaseIterable { case table, json }

  let workload: Workload
  let format: Format
  let limits: [RunLimit]
  /// A file of screens, or 'model'.
  let screens: String?
  /// URL of the server that has the stores; nil for files.
  let serverURL: String?
  private let _storeDirectory: String?

  init(_ arguments: ParsedArguments) throws(UsageError) {
    var workload = Workload()
    if let replay = try Self._replay(arguments) {
      workload.source = .replay(replay)
    } else if let records = try Self._records(arguments) {
      workload.source = .records(records)
    } else if let path = arguments.text("stops") {
      if arguments.has("objects") { throw .conflict("--stops", "--objects") }
      workload.source = .file(path: path)
    } else if let count = try arguments.integer("objects", in: 1...10_000_000) {
      workload.source = .generated(count: count)
    }
    if let stacks: [StackDesign] = try arguments.choices("stacks") { workload.stacks = stacks }
    if let mode: ImportMode = try arguments.choice("mode") { workload.mode = mode }
    if let saveEvery = try arguments.integer("save-every", in: 1...Int.max) { workload.saveEvery = saveEvery }
    workload.keepsLiveList = arguments.has("live-list")
    if let runs = try arguments.integer("runs", in: 1...1000) { workload.runs = runs }
    workload.isOnServer = arguments.has("store")
    self.workload = workload
    format = try arguments.choice("format") ?? .table
    var limits: [RunLimit] = []
    for text in arguments.values["limit"] ?? [] { limits.append(try RunLimit(text)) }
    for limit in limits {
      if case .growth = limit.bound, !arguments.has("compare"), !arguments.has("against") {
        throw .missingCompanion("--limit \(limit.figure.rawValue)=+…%", "--compare FILE")
      }
    }
    if arguments.has("against"), arguments.has("compare") { throw .conflict("--against", "--compare") }
    self.limits = limits
    screens = arguments.text("screens")
    _storeDirectory = arguments.text("stores")
    serverURL = arguments.text("store")
    if let serverURL {
      if _storeDirectory != nil { throw .conflict("--store", "--stores") }
      guard ServerStore.isURL(serverURL) else {
        throw .notAURL(option: "--store", form: "postgresql://user@host/database")
      }
    }
  }

  /// The recording that '--replay' names; nil without it.
  private static func _replay(_ arguments: ParsedArguments) throws(UsageError) -> ReplayInput? {
    guard let traces = arguments.values["replay"] else {
      for option in ["pauses", "from-keys"] where arguments.has(option) {
        throw .missingCompanion("--" + option, "--replay")
      }
      return nil
    }
    for option in [
      "data", "make", "entity", "key", "stops", "objects", "mode", "save-every", "screens", "live-list",
    ] where arguments.has(option) {
      throw .conflict("--replay", "--" + option)
    }
    guard let store = arguments.text("from") else { throw .missingCompanion("--replay", "--from STORE") }
    return ReplayInput(
      tracePaths: traces, storePath: store, keysPath: arguments.text("from-keys"),
      modelPath: arguments.text("model"),
      keepsPauses: arguments.has("pauses"))
  }

  /// The records that '--model' and its options describe; nil without it.
  private static func _records(_ arguments: ParsedArguments) throws(UsageError) -> RecordInput? {
    if let store = arguments.text("from") {
      for option in ["data", "make", "stops", "objects"] where arguments.has(option) {
        throw .conflict("--from", "--" + option)
      }
      return RecordInput(
        modelPath: arguments.text("model") ?? "", entity: arguments.text("entity") ?? "",
        keys: arguments.values["key"] ?? [], origin: .store(path: store))
    }
    guard let model = arguments.text("model") else {
      for option in ["data", "entity", "key", "make"] where arguments.has(option) {
        throw .missingCompanion("--" + option, "--model")
      }
      return nil
    }
    for option in ["stops", "objects"] where arguments.has(option) {
      throw .conflict("--model", "--" + option)
    }
    let keys = arguments.values["key"] ?? []
    if let made = arguments.text("make") {
      for option in ["data", "entity"] where arguments.has(option) {
        throw .conflict("--make", "--" + option)
      }
      let parts = made.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, let count = Int(parts[1]) else {
        throw .wrongForm(option: "--make", text: made, form: "Order=10000")
      }
      guard (1...10_000_000).contains(count) else {
        throw .outOfRange(option: "--make", number: count, allowed: 1...10_000_000)
      }
      return RecordInput(modelPath: model, entity: String(parts[0]), keys: keys, origin: .made(count: count))
    }
    guard let data = arguments.text("data") else {
      throw .missingCompanion("--model", "--data FILE, --make NAME=N or --from STORE")
    }
    guard let entity = arguments.text("entity") else { throw .missingCompanion("--data", "--entity NAME") }
    return RecordInput(modelPath: model, entity: entity, keys: keys, origin: .file(path: data))
  }

  /// The directory for stores, created if missing, after checking that nothing in it would be overwritten;
  /// nil if none was given.
  func preparedStoreDirectory() throws(ToolFailure) -> String? {
    guard let directory = _storeDirectory else { return nil }
    do {
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    } catch {
      throw ToolFailure(
        .cannotCreateOutput, "Cannot make stores in '\(directory)': \(error.localizedDescription)")
    }
    for name in ["floor"] + workload.stacks.map(\.rawValue) {
      let file = "\(directory)/\(name).sqlite"
      if FileManager.default.fileExists(atPath: file) {
        throw ToolFailure(
          .cannotCreateOutput,
          "There is a '\(file)' already. Remove it, or name another directory for the stores.")
      }
    }
    return directory
  }
}
