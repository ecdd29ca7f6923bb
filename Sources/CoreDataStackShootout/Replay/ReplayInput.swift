/// A recording that is replayed, and the store that it begins with.
package struct ReplayInput: Sendable, Codable, Equatable {
  /// Recordings, a file for each process.
  var tracePaths: [String]
  /// A store as it was when the recording began; each run has a copy of it.
  var storePath: String
  /// The keys that the store's objects had where the recording was made, if the store is a copy with keys of its own.
  var keysPath: String?
  /// The model; nil for the one inside the store.
  var modelPath: String?
  /// Whether the pauses of the recording are kept.
  var keepsPauses: Bool
}

/// How a replay went beside its recording.
struct ReplayFigures: Sendable, Codable, Equatable {
  /// Events that were replayed.
  var events = 0
  /// Fetches and counts with the recorded predicate.
  var fetches = 0
  /// Those of them that found as many objects as in the recording.
  var equal = 0
  /// Fetches by the recorded objects' IDs, since values were not recorded.
  var byID = 0
  /// What was left out, with the reason, and how often.
  var leftOut: [String: Int] = [:]

  mutating func leaveOut(_ reason: String) { leftOut[reason, default: 0] += 1 }

  static func + (left: ReplayFigures, right: ReplayFigures) -> ReplayFigures {
    var sum = left
    sum.events += right.events
    sum.fetches += right.fetches
    sum.equal += right.equal
    sum.byID += right.byID
    sum.leftOut.merge(right.leftOut, uniquingKeysWith: +)
    return sum
  }
}
