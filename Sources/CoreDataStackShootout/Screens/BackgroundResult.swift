import Synchronization

/// How work on another thread has ended.
final class BackgroundResult: Sendable {
  private let _result = Mutex<Result<Void, any Error>?>(nil)

  var isSet: Bool { _result.withLock { $0 != nil } }

  func set(_ result: Result<Void, any Error>) { _result.withLock { $0 = result } }

  /// - Throws: the work's error.
  func get() throws { try _result.withLock { $0 }?.get() }
}
