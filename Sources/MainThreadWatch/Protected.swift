import Foundation

/// State that several threads use, one at a time. A lock of Foundation's, which all systems have.
final class Protected<State>: @unchecked Sendable {
  // Unchecked: the state is used under the lock only.
  private let _lock = NSLock()
  private var _state: State

  init(_ state: State) { _state = state }

  func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    _lock.lock()
    defer { _lock.unlock() }
    return try body(&_state)
  }
}
