import Foundation

/// A value behind a lock, on every system that the library supports.
final class Guarded<Value>: @unchecked Sendable {
  // Unchecked: `_value` is read and written under the lock only.
  private let _lock = NSLock()
  private var _value: Value

  init(_ value: Value) { _value = value }

  /// Reads or changes the value.
  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    _lock.lock()
    defer { _lock.unlock() }
    return try body(&_value)
  }
}
