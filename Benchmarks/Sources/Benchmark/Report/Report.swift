import Foundation

/// What a session found.
struct Report {
  struct Round {
    let engine: Measurement
    let floor: Measurement
    var ratio: Double { engine.seconds.median / floor.seconds.median }
  }

  /// What another implementation took for a work, in the same run.
  struct PeerRuns {
    let name: String
    var version = ""
    var seconds: [Double] = []
    var peakMegabytes: [Double] = []

    init(name: String) { self.name = name }
  }

  struct Result {
    let work: Work
    let objects: Int
    var rounds: [Round] = []
    var engineInstructions: Double?
    var floorInstructions: Double?
    var peers: [PeerRuns] = []

    init(work: Work, objects: Int, rounds: [Round]) {
      self.work = work
      self.objects = objects
      self.rounds = rounds
    }

    init(work: Work, objects: Int, engineInstructions: Double, floorInstructions: Double) {
      self.work = work
      self.objects = objects
      self.engineInstructions = engineInstructions
      self.floorInstructions = floorInstructions
    }

    var engineSamples: [Double] { rounds.flatMap(\.engine.seconds) }
    var floorSamples: [Double] { rounds.flatMap(\.floor.seconds) }

    /// Median over rounds of engine over floor; ratios never mix rounds.
    var ratio: Double {
      if let engineInstructions, let floorInstructions { return engineInstructions / floorInstructions }
      return rounds.map(\.ratio).median
    }

    /// A peer's median over the floor's.
    func ratio(of peer: PeerRuns) -> Double { peer.seconds.median / floorSamples.median }

    var peakMegabytes: Double { rounds.map(\.engine.peakMegabytes).median }
    var floorPeakMegabytes: Double { rounds.map(\.floor.peakMegabytes).median }

    /// A figure that only some works have; nil for the others.
    func figure(_ name: String, _ side: KeyPath<Round, Measurement>) -> Double? {
      let values = rounds.compactMap { $0[keyPath: side].figures[name] }
      return values.isEmpty ? nil : values.median
    }
  }

  /// A figure of the engine alone.
  struct Claim {
    let name: String
    let value: Double
    let unit: String
    let limit: Double?
    let aim: Double?
  }

  /// Version of the PostgreSQL server that the stores were on, as 150018; nil for SQLite files.
  var serverVersion: Int?
  var isOnServer: Bool { serverVersion != nil }
  /// Whether it was measured under a real-time priority, which works with several threads give up.
  var isRealTime = false
  var results: [Result] = []
  var claims: [Claim] = []
}
