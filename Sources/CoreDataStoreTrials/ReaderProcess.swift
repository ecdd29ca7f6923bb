import Foundation
import Synchronization

/// A child process that reads files one after the other and says how it went.
final class ReaderProcess {
  struct Outcome {
    let file: String
    let words: String
    let isFailure: Bool
  }

  private let _process = Process()
  private let _output = Pipe()
  private let _timeLimit: Double
  private let _lastWord = Mutex(Date())

  init(_ words: [String], timeLimit: Double) throws {
    _timeLimit = timeLimit
    _process.executableURL = URL(fileURLWithPath: words[0])
    _process.arguments = Array(words.dropFirst())
    _process.standardOutput = _output
    _process.standardError = FileHandle.nullDevice
    try _process.run()
  }

  /// What became of each file, and how the child ended if not well; it is killed when it says nothing for too
  /// long.
  func wait() -> (outcomes: [Outcome], failure: String?) {
    let watch = DispatchSource.makeTimerSource(queue: .global())
    let isLate = Mutex(false)
    watch.schedule(deadline: .now() + 1, repeating: 1)
    watch.setEventHandler { [self] in
      guard Date().timeIntervalSince(_lastWord.withLock { $0 }) > _timeLimit else { return }
      isLate.withLock { $0 = true }
      kill(_process.processIdentifier, SIGKILL)
    }
    watch.resume()
    var outcomes: [Outcome] = []
    var buffer = Data()
    while true {
      let data = _output.fileHandleForReading.availableData
      if data.isEmpty { break }
      _lastWord.withLock { $0 = Date() }
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
}
