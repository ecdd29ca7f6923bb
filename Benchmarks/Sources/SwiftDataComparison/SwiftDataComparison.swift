import Foundation

/// Does each work through SwiftData and through Core Data's API, by turns, and prints what the one costs beside the
/// other.
///
/// Arguments: `--rounds N` (7), `--objects N` (15,000), `--side swiftdata|core-data` (both), `--works a,b` (all; those
/// before them run, too), `--repeat N` (1; how often each of the works that only read runs, for profilers), `--check`
/// (exit code 1 for a work above its bound). The figure is the process's CPU time: the best of all rounds.
@main
struct SwiftDataComparison {
  static func main() throws {
    var options = Options()
    guard options.take(CommandLine.arguments.dropFirst()) else {
      FileHandle.standardError.write(Data("usage: see Scripts/benchmark swiftdata --help\n".utf8))
      exit(64)
    }
    // Off the main thread, as a service works: contexts made on it track observation, through both APIs.
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var code: Int32 = 0
    let asked = options
    let thread = Thread {
      code = asked.run()
      done.signal()
    }
    thread.stackSize = 8 << 20
    thread.start()
    done.wait()
    exit(code)
  }
}

/// What the tool is asked for.
private struct Options: Sendable {
  var rounds = 7
  var objects = 15_000
  var sides = ["core-data", "swiftdata"]
  var works = Set(Work.allCases)
  var repetitions = 1
  var checks = false

  mutating func take(_ arguments: ArraySlice<String>) -> Bool {
    var rest = arguments
    while let option = rest.popFirst() {
      if option == "--check" {
        checks = true
        continue
      }
      guard let value = rest.popFirst() else { return false }
      switch option {
      case "--rounds": rounds = Int(value) ?? rounds
      case "--objects": objects = Int(value) ?? objects
      case "--side": sides = [value]
      case "--works": works = Set(value.split(separator: ",").compactMap { Work(rawValue: String($0)) })
      case "--repeat": repetitions = Int(value) ?? repetitions
      default: return false
      }
    }
    return true
  }

  /// Runs all rounds.
  ///
  /// - Returns: The exit code.
  func run() -> Int32 {
    do {
      let best = try _measure()
      guard sides.count == 2 else { return 0 }
      return _report(best)
    } catch {
      FileHandle.standardError.write(Data("error: \(error)\n".utf8))
      return 70
    }
  }

  /// Milliseconds of each work by side.
  private func _measure() throws -> [Work: [String: Double]] {
    let records = StopRecord.make(objects)
    let place = FileManager.default.temporaryDirectory.appendingPathComponent(
      "swiftdata-comparison-\(getpid())")
    defer { try? FileManager.default.removeItem(at: place) }
    var best: [Work: [String: Double]] = [:]
    for round in 0..<rounds {
      let order = round.isMultiple(of: 2) ? sides : sides.reversed()
      var stands: [(String, any Side)] = []
      for side in order {
        let folder = place.appendingPathComponent("\(round)-\(side)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = folder.appendingPathComponent("Stops.store")
        stands.append(
          (
            side,
            side == "swiftdata" ? try SwiftDataSide(records, at: url) : try CoreDataSide(records, at: url)
          ))
      }
      let last = Work.allCases.lastIndex { works.contains($0) } ?? 0
      for work in Work.allCases[...last] {
        let readsOnly: Set<Work> = [.fetchAll, .reads, .findOne, .pages, .traverse]
        if readsOnly.contains(work), !works.contains(work) { continue }
        var sums: Set<Int> = []
        for (side, stand) in stands {
          for _ in 0..<(readsOnly.contains(work) ? repetitions : 1) {
            let (time, sum) = try _timed { try stand.run(work) }
            sums.insert(sum)
            best[work, default: [:]][side] = min(best[work]?[side] ?? .infinity, time)
          }
        }
        guard sums.count == 1 else {
          throw CoreDataSide.Failure(
            description: "\(work.rawValue): the two sides found different sums, \(sums)")
        }
      }
      stands = []
      try? FileManager.default.removeItem(at: place)
    }
    return best
  }

  private func _timed(_ body: () throws -> Int) rethrows -> (Double, Int) {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
    }
    let start = now()
    let sum = try body()
    return (now() - start, sum)
  }

  private func _report(_ best: [Work: [String: Double]]) -> Int32 {
    var isAbove = false
    print("work             Core Data ms   SwiftData ms   ratio   bound")
    for work in Work.allCases where works.contains(work) {
      guard let engine = best[work]?["core-data"], let models = best[work]?["swiftdata"] else { continue }
      let ratio = models / engine
      if ratio > work.bound { isAbove = true }
      let name = work.rawValue.padding(toLength: 16, withPad: " ", startingAt: 0)
      print(name, String(format: "%12.1f   %12.1f   %5.2f   %5.2f", engine, models, ratio, work.bound))
    }
    return checks && isAbove ? 1 : 0
  }
}
