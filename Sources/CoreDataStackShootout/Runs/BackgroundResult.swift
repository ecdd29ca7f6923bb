import Synchronization

/// How work on another thread has ended.
final class BackgroundResult<Value: Sendable>: Sendable {
  private let _result = Mutex<Result<Value, any Error>?>(nil)

  var isSet: Bool { _result.withLock { $0 != nil } }

  func set(_ result: Result<Value, any Error>) { _result.withLock { $0 = result } }

  /// - Throws: the work's error.
  func get() throws -> Value {
    guard let result = _result.withLock({ $0 }) else {
      throw StoreCheck.Failure(description: "the run ended without a result")
    }
    return try result.get()
  }
}
