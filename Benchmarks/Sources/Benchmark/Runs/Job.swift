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
  /// Whether the process is counted, so that it does nothing but the work.
  var isCounted = false
  /// URL of a PostgreSQL database for stores in schemas; nil for SQLite files.
  var server: String?

  // Which rows a work is about.

  var lookUps: ArraySlice<Int64> { SplitMix64.permutation(objects, seed: 11).prefix(15_000) }
  /// How many stops are inserted with a save for each.
  var inserted: Int { min(objects, 1500) }
  var updated: ArraySlice<Int64> { SplitMix64.permutation(objects, seed: 13).prefix(1500) }
  var deleted: ArraySlice<Int64> {
    SplitMix64.permutation(objects, seed: 13).dropFirst(1500).prefix(1500)
  }
}

/// What a process found.
struct Measurement: Codable {
  var seconds: [Double] = []
  var check = Check()
  var peakMegabytes = 0.0
  /// Figures by name that only some works have.
  var figures: [String: Double] = [:]
}
