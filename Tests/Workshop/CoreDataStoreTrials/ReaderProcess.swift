import Foundation
import Synchronization

/// A child process that reads files in order and reports the outcomes.
final class ReaderProcess {
  struct Outcome {
    let file: String
    let words: String
    let isFailure: Bool
  }

  private let _process = Process()
  private let _output = Pipe()
  private let _timeLimit: Double
  /// The time of the child's last output, and the CPU time that it had used at that point.
  private let _lastWord = Mutex((date: Date(), work: 0.0))
  /// The factor between the limits on elapsed and on CPU time. A busy machine slows a child down.
  private static let _patience = 12.0

  init(_ words: [String], timeLimit: Double) throws {
    _timeLimit = timeLimit
    _process.executableURL = URL(fileURLWithPath: words[0])
    _process.arguments = Array(words.dropFirst())
    _process.standardOutput = _output
    _process.standardError = FileHandle.nullDevice
    try _process.run()
  }

  /// Returns the outcome of each file and the failure of the child, if any. Kills a child that stops
  /// reporting.
  func wait() -> (outcomes: [Outcome], failure: String?) {
    let watch = DispatchSource.makeTimerSource(queue: .global())
    let isLate = Mutex(false)
    watch.schedule(deadline: .now() + 1, repeating: 1)
    watch.setEventHandler { [self] in
      let last = _lastWord.withLock { $0 }
      let isWorking = _work() - last.work > _timeLimit
      guard isWorking || Date().timeIntervalSince(last.date) > _timeLimit * Self._patience else { return }
      isLate.withLock { $0 = true }
      kill(_process.processIdentifier, SIGKILL)
    }
    watch.resume()
    var outcomes: [Outcome] = []
    var buffer = Data()
    while true {
      let data = _output.fileHandleForReading.availableData
      if data.isEmpty { break }
      let work = _work()
      _lastWord.withLock { $0 = (Date(), work) }
      buffer += data
      while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
        buffer = Data(buffer[buffer.index(after: end)...])
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        if fields.count == 3 {
          outcomes.append(Outcome(file: fields[1], words: fields[2], isFailure: fields[0] == "bad"))
        }
      }
    }
    _process.waitUntilExit()
    watch.cancel()
    if isLate.withLock({ $0 }) { return (outcomes, "took longer than \(Int(_timeLimit)) seconds") }
    if _process.terminationReason == .uncaughtSignal || _process.terminationStatus != 0 {
      return (outcomes, "ended its reader (\(_process.terminationStatus))")
    }
    return (outcomes, nil)
  }

  /// Returns the CPU time of the child in seconds.
  private func _work() -> Double {
    let path = "/proc/\(_process.processIdentifier)/stat"
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return 0 }
    // User and system time are the twelfth and thirteenth fields after the name, which is in parentheses.
    let fields = text[text.index(after: end)...].split(separator: " ")
    guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
