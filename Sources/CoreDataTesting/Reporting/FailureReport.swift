import Foundation

/// The failures of one test's expectations, recorded from any thread.
///
/// On the queue of a context neither framework knows which test is running: Swift Testing drops what is recorded
/// there, and the test passes. The report keeps such a failure until the test's own task takes it.
final class FailureReport: @unchecked Sendable {
  // Unchecked: `_thread` is only compared; the state is guarded by its lock.
  private struct State {
    var waiting: [(message: String, place: TestPlace)] = []
    var isOver = false
  }

  let framework: TestFramework
  private let _test: String
  private let _thread = Thread.current
  private let _state = Guarded(State())

  /// Begins the report of a test, on its thread or in its task.
  ///
  /// - Parameter test: The test's name.
  init(_ framework: TestFramework, of test: String) {
    self.framework = framework
    _test = test
  }

  /// Records a failure.
  func record(_ message: String, at place: TestPlace) {
    let isHere = framework.isInTest(begunOn: _thread)
    let isLate = _state.withLock { state in
      if !state.isOver, !isHere { state.waiting.append((message, place)) }
      return state.isOver
    }
    if isLate {
      LateFailures.add("\(place.filePath):\(place.line): \(_test), which has ended: \(message)")
    } else if isHere {
      framework.record(message, at: place)
    }
  }

  /// Records what was kept, at the end of the test, on its thread or in its task.
  func end() {
    let waiting = _state.withLock { state in
      defer { state = State(waiting: [], isOver: true) }
      return state.waiting
    }
    for failure in waiting { framework.record(failure.message, at: failure.place) }
  }
}

/// Failures of tests that have ended: no framework takes them, so the process fails.
enum LateFailures {
  private static let _isSet = Guarded(false)

  static func add(_ message: String) {
    FileHandle.standardError.write(Data("CoreDataTesting: \(message)\n".utf8))
    _isSet.withLock { isSet in
      if !isSet { atexit { _exit(EXIT_FAILURE) } }
      isSet = true
    }
  }
}
