/// What one scenario did, and what it cost.
package struct ScenarioResult: Codable, Sendable, Equatable {
  package var scenario: ScenarioName
  /// Time in which work was done.
  package var seconds = 0.0
  package var operations = 0
  package var saves = 0
  package var conflicts = 0
  /// The engine's blocks on the main queue.
  package var blocks = BlockFigures()
  /// How long blocks waited that were sent to the main queue sixty times a second.
  package var waits = Quantiles()
  /// How old the oldest save was that the list did not show, in nanoseconds.
  package var ages = Quantiles()
  package var reads = ReadFigures()
  /// Contexts that are in use at once, besides that of the main queue.
  package var contexts = 0
  /// The most contexts that were alive at once.
  package var mostContexts = 0
  /// The most objects that were in memory at once; 0 if they are not counted.
  package var mostObjects = 0
  /// What lives after the first part of the time, with all work done and merged, and at the end.
  package var early = Holdings()
  package var late = Holdings()
  /// What differed when all was merged, a sentence each.
  package var differences: [String] = []

  /// Operations a second.
  package var rate: Double { seconds > 0 ? Double(operations) / seconds : 0 }
  /// Saves into stores a second.
  package var saveRate: Double { seconds > 0 ? Double(saves) / seconds : 0 }
}

/// What the process holds.
package struct Holdings: Codable, Sendable, Equatable {
  package var contexts = 0
  package var objects = 0
  /// Bytes in allocations, except SQLite's, after freed memory was returned.
  package var bytes = 0
  package var descriptors = 0
  package var threads = 0
}
