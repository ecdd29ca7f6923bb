import CoreDataCTorture
import Foundation

/// A copy of this process that does one piece of work: a fork costs a few milliseconds, a new program
/// fifty.
///
/// The process that forks has one thread and never opens a store.
package struct ChildProcess {
  package enum Ending: Equatable {
    case finished
    /// With the child's message.
    case failed(String)
    case killed
    case crashed(signal: Int32)
    case hung
  }

  private let _id: Int32
  private let _page: TrialPage
  /// Seconds after which a child counts as hung.
  package static let timeLimit = 60

  /// Starts a child.
  package init(
    _ page: TrialPage, isLoud: Bool = false, _ body: () throws -> Void
  ) throws {
    _page = page
    guard torture_thread_count() == 1 else {
      throw TortureFailure("the process that forks has \(torture_thread_count()) threads")
    }
    _id = torture_fork()
    guard _id >= 0 else { throw TortureFailure("fork failed: \(String(cString: strerror(errno)))") }
    guard _id == 0 else { return }
    if !isLoud {
      let null = open("/dev/null", O_WRONLY)
      dup2(null, STDERR_FILENO)
      close(null)
    }
    _exit(Self._run(page, body))
  }

  /// Runs the work of the child, and returns its exit code.
  ///
  /// In a new thread: Swift's mutexes identify a thread by its number, and the forked one still has the
  /// number from the parent process.
  private static func _run(_ page: TrialPage, _ body: () throws -> Void) -> Int32 {
    var code: Int32 = 4
    withoutActuallyEscaping(body) { body in
      var work: () -> Void = {
        do {
          try body()
          code = 0
        } catch {
          page.words = ErrorWords.of(error)
          code = 3
        }
      }
      withUnsafeMutablePointer(to: &work) { work in
        torture_run_in_thread({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, work)
      }
    }
    return code
  }

  /// Kills the child after a number of microseconds.
  package func kill(afterMicroseconds delay: Int64) -> Ending {
    var status: Int32 = 0
    if torture_wait(_id, delay, &status) == 1 { return _ending(status) }
    Foundation.kill(_id, SIGKILL)
    return wait()
  }

  /// Waits for the child to exit, or kills it after a timeout.
  package func wait() -> Ending {
    var status: Int32 = 0
    guard torture_wait(_id, Int64(Self.timeLimit) * 1_000_000, &status) == 1 else {
      Foundation.kill(_id, SIGKILL)
      _ = torture_wait(_id, 5_000_000, &status)
      return .hung
    }
    return _ending(status)
  }

  private func _ending(_ status: Int32) -> Ending {
    let signal = status & 0x7f
    if signal == SIGKILL { return .killed }
    if signal != 0 { return .crashed(signal: signal) }
    switch (status >> 8) & 0xff {
    case 0: return .finished
    case 3: return .failed(_page.words)
    case let code: return .failed("ended with \(code): \(_page.words)")
    }
  }
}

extension ChildProcess.Ending {
  /// The failure; nil if the child exited or was killed as planned.
  package var failure: String? {
    switch self {
    case .finished, .killed: nil
    case .failed(let words): words
    case .crashed(let signal): "crashed with signal \(signal)"
    case .hung: "took longer than \(ChildProcess.timeLimit) seconds"
    }
  }
}

/// Describes an error in one line, with underlying errors.
package enum ErrorWords {
  package static func of(_ error: any Error) -> String {
    if let failure = error as? TortureFailure { return failure.description }
    let error = error as NSError
    var words = "\(error.domain) \(error.code) \(error.debugText)"
    if let reason = error.localizedFailureReason { words += " (\(reason))" }
    if let underlying = error.userInfo[NSUnderlyingErrorKey] { words += " < \(underlying)" }
    return words.replacing("\n", with: " ")
  }
}
