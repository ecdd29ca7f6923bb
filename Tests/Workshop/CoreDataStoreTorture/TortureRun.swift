import CoreDataCTorture
import Foundation

/// Runs series of rounds in several drivers at once: copies of this process that fork the processes of their
/// rounds.
package final class TortureRun {
  private let _root: URL
  private let _jobs: Int
  private let _findings: URL?
  /// Tried and survived rounds by series and kind, in order of appearance.
  package private(set) var tally = TortureTally()

  /// - Parameters:
  /// - root: A directory that does not exist yet; removed afterwards.
  /// - findings: The directory for files of failed rounds.
  package init(root: URL, jobs: Int, findings: URL? = nil) {
    (_root, _jobs, _findings) = (root, jobs, findings)
  }

  /// Runs the series in order; calls `note` with a line for each failure, and `progress` with one now and
  /// then.
  package func run(_ series: [any TrialSeries], note: (String) -> Void, progress: (String) -> Void) throws {
    guard torture_is_preloaded() != 0 else {
      throw TortureFailure(
        "no library counts this process's system calls; start it by Scripts/stress torture")
    }
    for one in series { try _run(one, note, progress) }
  }

  private func _run(_ series: any TrialSeries, _ note: (String) -> Void, _ progress: (String) -> Void) throws
  {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw TortureFailure("no pipe can be made") }
    let word = series.command
    var drivers: [Int32] = []
    for driver in 0..<_jobs {
      let id = torture_fork()
      guard id >= 0 else { throw TortureFailure("fork failed: \(String(cString: strerror(errno)))") }
      guard id == 0 else {
        drivers.append(id)
        continue
      }
      close(ends[0])
      _exit(_drive(series, driver, into: ends[1]))
    }
    close(ends[1])
    var buffer: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var last = Date()
    while case let count = read(ends[0], &chunk, chunk.count), count > 0 {
      buffer += chunk[..<count]
      while let end = buffer.firstIndex(of: 10) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        guard let report = RoundReport(line: line[...]) else { continue }
        tally.add(report)
        if report.outcome == .failed {
          note(
            "FAILED \(word) \(report.name): \(report.words)\n"
              + "  again: Scripts/stress torture \(word) --round \(report.name)"
          )
        }
      }
      if Date().timeIntervalSince(last) > 10 {
        last = Date()
        progress(tally.progress)
      }
    }
    close(ends[0])
    for driver in drivers {
      var status: Int32 = 0
      waitpid(driver, &status, 0)
      if status != 0 {
        tally.add(RoundReport(word, "driver", "driver", .failed, "a driver ended with status \(status)"))
      }
    }
  }

  private func _drive(_ series: any TrialSeries, _ driver: Int, into pipe: Int32) -> Int32 {
    func send(_ report: RoundReport) {
      let bytes = Array(report.line.utf8)
      _ = write(pipe, bytes, bytes.count)
    }
    let word = series.command
    do {
      let place = try TrialPlace(_root.appendingPathComponent("\(word)-\(driver)"), findings: nil)
      defer { place.close() }
      try series.run(in: place, turns: Turns(driver: driver, count: _jobs), report: send)
      return 0
    } catch {
      send(RoundReport(word, "driver", "driver-\(driver)", .failed, ErrorWords.of(error)))
      return 0
    }
  }
}

/// Counts rounds by series and kind.
package struct TortureTally {
  package struct Line {
    package let series: String
    package let kind: String
    package var tried = 0
    package var survived = 0
    package var skipped = 0
    /// Why some were skipped.
    package var reason = ""
  }

  package private(set) var lines: [Line] = []

  package init() {}

  package mutating func add(_ report: RoundReport) {
    let index: Int
    if let known = lines.firstIndex(where: { $0.series == report.series && $0.kind == report.kind }) {
      index = known
    } else {
      lines.append(Line(series: report.series, kind: report.kind))
      index = lines.count - 1
    }
    switch report.outcome {
    case .skipped:
      lines[index].skipped += 1
      lines[index].reason = report.words
    case .survived:
      lines[index].tried += 1
      lines[index].survived += 1
    case .failed: lines[index].tried += 1
    }
  }

  package var failureCount: Int { lines.reduce(0) { $0 + $1.tried - $1.survived } }
  package var tried: Int { lines.reduce(0) { $0 + $1.tried } }

  var progress: String { "\(tried) rounds, \(failureCount) failures" }
}
