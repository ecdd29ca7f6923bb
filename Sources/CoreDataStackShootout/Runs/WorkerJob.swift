import Foundation

/// The job of a child process, passed as one argument.
package struct WorkerJob: Sendable, Codable, Equatable {
  package var subject: Subject
  /// A GTFS file, or one of records.
  package var feedPath: String
  /// How the records of the file are read; nil for stops.
  var records: RecordInput?
  /// The store to create, as its `StorePlace` names it: a file's path, or the name of a schema.
  package var storeName: String
  /// The store of the import beside which screens are opened.
  var storeNameBeside: String { storeName + "_beside" }
  package var mode: ImportMode
  package var saveEvery: Int
  /// Whether the run keeps a fetched results controller of all stops by name live on main.
  package var keepsLiveList: Bool
  /// The recording that is replayed instead of an import.
  var replay: ReplayInput?
  /// The screens that are opened when everything is imported.
  var screens: [Screen] = []
  /// Whether changes of the screens are tried, by the floor's process.
  var triesChanges = false
  /// Whether to report progress after each save.
  package var reportsProgress: Bool

  package init(
    subject: Subject, feedPath: String, records: RecordInput? = nil, storeName: String,
    mode: ImportMode = .findOrCreate,
    saveEvery: Int = 250, keepsLiveList: Bool = false, reportsProgress: Bool = false
  ) {
    self.subject = subject
    self.feedPath = feedPath
    self.records = records
    self.storeName = storeName
    self.mode = mode
    self.saveEvery = saveEvery
    self.keepsLiveList = keepsLiveList
    self.reportsProgress = reportsProgress
  }

  /// Reads the input.
  func makeWork() throws -> any ImportWork {
    if let replay { return try ReplayWork(replay) }
    guard let records else { return StopWork(stops: try StopReader.read(path: feedPath).stops) }
    return try records.makeWork(feedPath)
  }

  /// The job as an argument.
  func argument() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }

  init(argument: String) throws { self = try JSONDecoder().decode(WorkerJob.self, from: Data(argument.utf8)) }
}

/// A message of a child process, one per line.
enum WorkerMessage: Codable {
  /// The number of imported lines of the input.
  case progress(Int)
  case finished(RunMeasurement)
  /// The work failed, for the given reason.
  case failed(String)
}
