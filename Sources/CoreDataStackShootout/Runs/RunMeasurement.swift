import MainThreadWatch

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

extension RunMeasurement {
  /// Reads a result, which an older build writes without the newer parts.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    totalSeconds = try container.decode(Double.self, forKey: .totalSeconds)
    processorSeconds = try container.decode(Double.self, forKey: .processorSeconds)
    peakMegabytes = try container.decode(Double.self, forKey: .peakMegabytes)
    saves = try container.decode(Int.self, forKey: .saves)
    rows = try container.decode(Int.self, forKey: .rows)
    digest = try container.decodeIfPresent(StoreDigest.self, forKey: .digest)
    main = try container.decodeIfPresent(MainThreadFigures.self, forKey: .main)
    list = try container.decodeIfPresent(ListFigures.self, forKey: .list)
    replay = try container.decodeIfPresent(ReplayFigures.self, forKey: .replay)
    screens = try container.decodeIfPresent([ScreenFigures].self, forKey: .screens) ?? []
    advice = try container.decodeIfPresent([ScreenAdvice].self, forKey: .advice) ?? []
    timeline = try container.decode(Timeline.self, forKey: .timeline)
  }
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
