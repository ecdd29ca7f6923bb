import Foundation
import MainThreadWatch

/// The result of a shootout: medians over its runs.
struct ShootoutResult: Sendable {
  struct Stack: Sendable {
    let design: StackDesign
    let totalSeconds: Double
    /// Of each run, in which all stacks took turns.
    let totals: [Double]
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
    /// Of the last run; nil without a replay.
    let replay: ReplayFigures?
    /// By screen, with all waits beside imports.
    let screens: [ScreenFigures]
    /// Of the run whose total is nearest to the median.
    let timeline: Timeline

    /// By how much an import delays the screen that it delays most, in milliseconds: the median of its waits beyond what it takes
    /// alone; nil without screens.
    var screenDelay: Double? {
      screens.filter { !$0.busyMilliseconds.isEmpty }
        .map { Statistics.median($0.busyMilliseconds) - max($0.firstMilliseconds, $0.againMilliseconds) }
        .max()
    }

    /// The longest that main makes a user wait: for a block of the import, or for a screen because of it.
    var longestWait: Double { max(mainLongestMilliseconds, screenDelay ?? 0) }
  }

  let workload: Workload
  /// File name, or "generated".
  let sourceName: String
  /// Lines that were imported.
  let lines: Int
  let skippedRows: Int
  /// Whether the floor has run; without it its figures are 0.
  let hasFloor: Bool
  let floorSeconds: Double
  let floorProcessorSeconds: Double
  let floorPeakMegabytes: Double
  /// Screens without objects; empty without screens, and on servers.
  let floorScreens: [ScreenFigures]
  /// The changes of screens that help.
  let advice: [ScreenAdvice]
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
    hasFloor = !floor.isEmpty
    let floorSeconds = Statistics.median(floor.map(\.totalSeconds))
    self.floorSeconds = floorSeconds
    floorProcessorSeconds = Statistics.median(floor.map(\.processorSeconds))
    floorPeakMegabytes = Statistics.median(floor.map(\.peakMegabytes))
    floorScreens = ScreenFigures.medians(floor.map(\.screens))
    advice = floor.last?.advice ?? []
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
    totals = runs.map(\.totalSeconds)
    totalRange = (totals.min() ?? total)...(totals.max() ?? total)
    processorSeconds = median(\.processorSeconds)
    ratioToFloor = floorSeconds > 0 ? total / floorSeconds : 0
    // Without a floor, of the totals themselves.
    ratioDeviation = Statistics.relativeDeviation(
      floors.isEmpty ? totals : zip(runs, floors).compactMap { $1 > 0 ? $0.totalSeconds / $1 : nil })
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
    replay = runs.last?.replay
    screens = ScreenFigures.medians(runs.map(\.screens))
    let typical = runs.min { abs($0.totalSeconds - total) < abs($1.totalSeconds - total) }
    timeline = typical?.timeline ?? Timeline()
  }
}
