import Foundation

// Replaces Synchronization's Mutex under the Thread Sanitizer: that one uses futexes from a library that the
// sanitizer does not instrument, so that everything it guards would be reported.
// Scripts/sanitized puts this file into each module.

/// A value guarded by a POSIX mutex, which the Thread Sanitizer understands.
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
  // Unchecked: the value is accessed only under the lock.
  private let _lock: UnsafeMutablePointer<pthread_mutex_t>
  private let _value: UnsafeMutablePointer<Value>

  init(_ value: consuming sending Value) {
    _lock = .allocate(capacity: 1)
    pthread_mutex_init(_lock, nil)
    _value = .allocate(capacity: 1)
    _value.initialize(to: value)
  }

  deinit {
    pthread_mutex_destroy(_lock)
    _lock.deallocate()
    _value.deinitialize(count: 1)
    _value.deallocate()
  }

  borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(_lock)
    defer { pthread_mutex_unlock(_lock) }
    return try body(&_value.pointee)
  }

  borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard pthread_mutex_trylock(_lock) == 0 else { return nil }
    defer { pthread_mutex_unlock(_lock) }
    return try body(&_value.pointee)
  }
}
