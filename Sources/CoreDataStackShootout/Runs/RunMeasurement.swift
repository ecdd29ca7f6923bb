/// The measurements of one run of one subject.
struct RunMeasurement: Sendable, Codable, Equatable {
  var totalSeconds: Double
  /// Processor time of all threads that worked for the import.
  var processorSeconds: Double
  var peakMegabytes: Double
  var saves: Int
  /// Rows in the store, counted from outside and checked.
  var rows: Int
  /// What the store holds, if that is compared between the floor and the stacks.
  var digest: StoreDigest?
  /// Nil for the floor.
  var main: MainThreadFigures?
  /// Nil without a live list.
  var list: ListFigures?
  /// Nil without a replay.
  var replay: ReplayFigures?
  /// By screen.
  var screens: [ScreenFigures] = []
  /// The changes of screens that help, if they were tried.
  var advice: [ScreenAdvice] = []
  var timeline: Timeline
}

/// The cost of the import on the main thread.
struct MainThreadFigures: Sendable, Codable, Equatable {
  var busySeconds: Double
  /// Processor time, which a busy machine does not stretch.
  var processorSeconds: Double
  var longestMilliseconds: Double
  /// Whole frames that passed during one block.
  var framesDropped: Int
  var heartbeat: HeartbeatFigures

  /// Summarizes a recording: waking time, its blocks, heartbeats.
  init(spans: [TimeSpan], blocks: [TimeSpan], processorNanoseconds: UInt64, latencies: [UInt64]) {
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
struct HeartbeatFigures: Sendable, Codable, Equatable {
  var p50: Double
  var p99: Double
  var max: Double
}

/// Activity over time; all times in seconds since the import began.
struct Timeline: Sendable, Codable, Equatable {
  struct Span: Sendable, Codable, Equatable {
    var begin: Double
    var end: Double
  }

  /// Load of other threads: busy processors, averaged over the span.
  struct Load: Sendable, Codable, Equatable {
    var begin: Double
    var end: Double
    var processors: Double
  }

  /// When the main thread was awake.
  var main: [Span] = []
  /// The blocks it ran that were longer than a frame.
  var dropped: [Span] = []
  var background: [Load] = []
  /// When the importing context, or the floor, had saved.
  var saves: [Double] = []
}

extension Timeline {
  /// Combines the recordings of a time span. Loads are averaged over at most `parts` parts.
  init(
    window: TimeSpan, spans: [TimeSpan], blocks: [TimeSpan] = [], samples: [LoadSampler.Sample],
    saves: [UInt64],
    parts: Int = 400
  ) {
    func seconds(_ time: UInt64) -> Double { time > window.begin ? Double(time - window.begin) / 1e9 : 0 }
    main = spans.map { Span(begin: seconds($0.begin), end: seconds($0.end)) }
    dropped = blocks.filter { $0.nanoseconds > Heartbeat.period }
      .map { Span(begin: seconds($0.begin), end: seconds($0.end)) }
    self.saves = saves.map(seconds)
    let inside = samples.filter { $0.span.clipped(to: window) != nil }
    let size = max(1, (inside.count + parts - 1) / parts)
    background = stride(from: 0, to: inside.count, by: size).map { first in
      let part = inside[first..<min(inside.count, first + size)]
      let span = TimeSpan(begin: part.first!.span.begin, end: part.last!.span.end)
      let used = part.reduce(0) { $0 + $1.background }
      return Load(
        begin: seconds(span.begin), end: min(seconds(span.end), seconds(window.end)),
        processors: span.nanoseconds > 0 ? Double(used) / Double(span.nanoseconds) : 0)
    }
  }
}
