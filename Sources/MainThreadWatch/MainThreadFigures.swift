/// What work cost the main thread.
public struct MainThreadFigures: Sendable, Codable, Hashable {
  /// Seconds in which the main thread was awake: between one wait of its run loop and the next.
  public var busySeconds: Double
  /// Seconds of processor time that the main thread used, which a busy machine does not stretch.
  public var processorSeconds: Double
  /// The longest single piece of work on the main thread, in milliseconds.
  public var longestMilliseconds: Double
  /// Whole frames of 1/60 s that passed during one piece of work: what a user sees as a stutter.
  public var framesDropped: Int
  /// How long a block that is sent to the main queue sixty times a second waited.
  public var heartbeat: HeartbeatFigures

  /// One frame of a screen, in milliseconds.
  public static let frameMilliseconds = 1000.0 / 60

  /// Summarizes a recording: waking time, its blocks, heartbeats.
  package init(spans: [TimeSpan], blocks: [TimeSpan], processorNanoseconds: UInt64, latencies: [UInt64]) {
    busySeconds = Double(spans.reduce(0) { $0 + $1.nanoseconds }) / 1e9
    processorSeconds = Double(processorNanoseconds) / 1e9
    longestMilliseconds = Double(blocks.map(\.nanoseconds).max() ?? 0) / 1e6
    // A block of just one frame may fit between two frames.
    framesDropped = blocks.reduce(0) { sum, block in
      sum + (block.nanoseconds > Heartbeat.period ? Int(block.nanoseconds / Heartbeat.period) : 0)
    }
    let milliseconds = latencies.map { Double($0) / 1e6 }
    heartbeat = HeartbeatFigures(
      p50: Statistics.percentile(0.5, milliseconds), p99: Statistics.percentile(0.99, milliseconds),
      max: milliseconds.max() ?? 0)
  }
}

/// How long a heartbeat waited for the main queue, in milliseconds.
public struct HeartbeatFigures: Sendable, Codable, Hashable {
  /// The median.
  public var p50: Double
  /// The 99th percentile.
  public var p99: Double
  /// The longest.
  public var max: Double

  /// Creates figures, in milliseconds.
  public init(p50: Double, p99: Double, max: Double) { (self.p50, self.p99, self.max) = (p50, p99, max) }
}

extension MainThreadFigures: CustomStringConvertible {
  /// The figures in one line.
  public var description: String {
    func rounded(_ value: Double, _ digits: Double) -> Double { (value * digits).rounded() / digits }
    return
      "main thread: busy for \(rounded(busySeconds, 1000)) s, \(rounded(processorSeconds, 1000)) s of processor time, "
      + "at once for \(rounded(longestMilliseconds, 100)) ms at most; \(framesDropped) frames dropped; a heartbeat waited "
      + "\(rounded(heartbeat.p50, 100)) ms (median), \(rounded(heartbeat.max, 100)) ms (worst)"
  }
}
