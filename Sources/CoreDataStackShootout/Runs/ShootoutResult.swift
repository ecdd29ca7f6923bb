import Foundation

/// The result of a shootout: medians over its runs.
struct ShootoutResult: Sendable {
  struct Stack: Sendable {
    let design: StackDesign
    let totalSeconds: Double
    /// Of the fastest and of the slowest run.
    let totalRange: ClosedRange<Double>
    let processorSeconds: Double
    let ratioToFloor: Double
    /// The relative standard deviation of the ratio over the runs, each with its own floor.
    let ratioDeviation: Double
    let mainBusySeconds: Double
    let mainProcessorSeconds: Double
    let mainLongestMilliseconds: Double
    let framesDropped: Int
    let heartbeat: HeartbeatFigures
    let saves: Int
    let peakMegabytes: Double
    let rows: Int
    /// Nil without a live list.
    let list: ListFigures?
    /// Of the run whose total is nearest to the median.
    let timeline: Timeline
  }

  let workload: Workload
  /// File name, or "generated".
  let sourceName: String
  /// Lines that were imported.
  let lines: Int
  let skippedRows: Int
  let floorSeconds: Double
  let floorProcessorSeconds: Double
  let floorPeakMegabytes: Double
  let stacks: [Stack]
  let machine: Machine
  /// When the shootout ended.
  let date: Date
  /// Where the stores were.
  let place: any StorePlace

  /// Summarizes the runs of each subject.
  init(
    workload: Workload, sourceName: String, lines: Int, skippedRows: Int = 0,
    measurements: [Subject: [RunMeasurement]],
    place: any StorePlace = SQLiteFiles(), machine: Machine = .current, date: Date = Date()
  ) {
    self.machine = machine
    self.place = place
    self.date = date
    self.workload = workload
    self.sourceName = sourceName
    self.lines = lines
    self.skippedRows = skippedRows
    let floor = measurements[.floor] ?? []
    let floorSeconds = Statistics.median(floor.map(\.totalSeconds))
    self.floorSeconds = floorSeconds
    floorProcessorSeconds = Statistics.median(floor.map(\.processorSeconds))
    floorPeakMegabytes = Statistics.median(floor.map(\.peakMegabytes))
    stacks = workload.stacks.map { design in
      Stack(
        design: design, runs: measurements[.stack(design)] ?? [], floors: floor.map(\.totalSeconds),
        floorSeconds: floorSeconds)
    }
  }
}

extension ShootoutResult.Stack {
  fileprivate init(design: StackDesign, runs: [RunMeasurement], floors: [Double], floorSeconds: Double) {
    func median(_ value: (RunMeasurement) -> Double) -> Double { Statistics.median(runs.map(value)) }
    func mainMedian(_ value: (MainThreadFigures) -> Double) -> Double {
      Statistics.median(runs.compactMap(\.main).map(value))
    }
    self.design = design
    let total = median(\.totalSeconds)
    totalSeconds = total
    let totals = runs.map(\.totalSeconds)
    totalRange = (totals.min() ?? total)...(totals.max() ?? total)
    processorSeconds = median(\.processorSeconds)
    ratioToFloor = floorSeconds > 0 ? total / floorSeconds : 0
    ratioDeviation = Statistics.relativeDeviation(
      zip(runs, floors).compactMap { $1 > 0 ? $0.totalSeconds / $1 : nil })
    mainBusySeconds = mainMedian(\.busySeconds)
    mainProcessorSeconds = mainMedian(\.processorSeconds)
    mainLongestMilliseconds = mainMedian(\.longestMilliseconds)
    framesDropped = Int(mainMedian { Double($0.framesDropped) }.rounded(.up))
    heartbeat = HeartbeatFigures(
      p50: mainMedian(\.heartbeat.p50), p99: mainMedian(\.heartbeat.p99), max: mainMedian(\.heartbeat.max))
    saves = Int(median { Double($0.saves) })
    peakMegabytes = median(\.peakMegabytes)
    rows = runs.last?.rows ?? 0
    list = runs.last?.list
    let typical = runs.min { abs($0.totalSeconds - total) < abs($1.totalSeconds - total) }
    timeline = typical?.timeline ?? Timeline()
  }
}
