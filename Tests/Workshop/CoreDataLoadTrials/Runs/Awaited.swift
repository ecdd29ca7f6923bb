import Dispatch
import Synchronization

/// Waits on a thread for what a task does.
enum Awaited {
  private final class Outcome<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let isThere = DispatchSemaphore(value: 0)
  }

  /// Runs a body in a task, and returns or throws what it does. Not to be called on the main queue or in a
  /// task.
  @discardableResult
  static func value<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let outcome = Outcome<Value>()
    Task {
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.result.withLock { $0 = result }
      outcome.isThere.signal()
    }
    outcome.isThere.wait()
    return try outcome.result.withLock { $0! }.get()
  }
}
