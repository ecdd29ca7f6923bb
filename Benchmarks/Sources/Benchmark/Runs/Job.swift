/// What one process is asked to do; it travels as an argument.
struct Job: Codable {
  var work: Work
  var side: Side
  var objects: Int
  /// Done first, not timed.
  var warmUps = 0
  /// Each timed. None: only what comes before the work is done, for counting instructions.
  var repetitions = 1
  /// Where the process may make files.
  var directory: String
  /// How the floor's own file is laid out.
  var floorFile = FloorFile.plain
  /// The store with all stops, of this side.
  var template: String?
}

/// What a process found.
struct Measurement: Codable {
  var seconds: [Double] = []
  var check = Check()
  var peakMegabytes = 0.0
  /// Figures by name that only some works have.
  var figures: [String: Double] = [:]
}

/// What a process says at its end.
enum JobOutcome: Codable {
  case finished(Measurement)
  case failed(String)
}
