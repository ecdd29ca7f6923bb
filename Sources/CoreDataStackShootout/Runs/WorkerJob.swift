import Foundation

/// What a child process is asked to do; it travels as one argument.
package struct WorkerJob: Sendable, Codable, Equatable {
  package var subject: Subject
  /// A GTFS file.
  package var feedPath: String
  /// File the store is made in.
  package var storePath: String
  package var mode: ImportMode
  package var saveEvery: Int
  /// Whether a fetched results controller of all stops by name is kept live on main.
  package var keepsLiveList: Bool
  /// Whether to tell after each save how far the import is.
  package var reportsProgress: Bool

  package init(
    subject: Subject, feedPath: String, storePath: String, mode: ImportMode = .findOrCreate,
    saveEvery: Int = 250, keepsLiveList: Bool = false, reportsProgress: Bool = false
  ) {
    self.subject = subject
    self.feedPath = feedPath
    self.storePath = storePath
    self.mode = mode
    self.saveEvery = saveEvery
    self.keepsLiveList = keepsLiveList
    self.reportsProgress = reportsProgress
  }

  /// The job as an argument.
  func argument() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }

  init(argument: String) throws { self = try JSONDecoder().decode(WorkerJob.self, from: Data(argument.utf8)) }
}

/// What a child process says, a line each.
enum WorkerMessage: Codable {
  /// So many lines of the input are imported.
  case progress(Int)
  case finished(RunMeasurement)
  /// The work failed; a sentence that says why.
  case failed(String)
}
