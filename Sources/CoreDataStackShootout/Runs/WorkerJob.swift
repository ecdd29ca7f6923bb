import Foundation

/// The job of a child process, passed as one argument.
package struct WorkerJob: Sendable, Codable, Equatable {
  package var subject: Subject
  /// A GTFS file.
  package var feedPath: String
  /// The store to create, as its `StorePlace` names it: a file's path, or the name of a schema.
  package var storeName: String
  package var mode: ImportMode
  package var saveEvery: Int
  /// Whether the run keeps a fetched results controller of all stops by name live on main.
  package var keepsLiveList: Bool
  /// Whether to report progress after each save.
  package var reportsProgress: Bool

  package init(
    subject: Subject, feedPath: String, storeName: String, mode: ImportMode = .findOrCreate,
    saveEvery: Int = 250, keepsLiveList: Bool = false, reportsProgress: Bool = false
  ) {
    self.subject = subject
    self.feedPath = feedPath
    self.storeName = storeName
    self.mode = mode
    self.saveEvery = saveEvery
    self.keepsLiveList = keepsLiveList
    self.reportsProgress = reportsProgress
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
