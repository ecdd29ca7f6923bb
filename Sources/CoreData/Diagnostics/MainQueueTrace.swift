import Synchronization

/// Reports blocks that the engine runs on the main queue on behalf of other queues; the stack shootout draws
/// them.
package enum MainQueueTrace {
  /// Receives the start and end of a block in nanoseconds of `DispatchTime`; called on the main queue.
  package typealias Recorder = @Sendable (_ begin: UInt64, _ end: UInt64) -> Void

  private static let _recorder = Mutex<Recorder?>(nil)
  private static let _isOn = Atomic<Bool>(false)

  /// Sets the recorder; nil removes it.
  package static func record(with recorder: Recorder?) {
    _recorder.withLock { $0 = recorder }
    _isOn.store(recorder != nil, ordering: .releasing)
  }

  static var recorder: Recorder? {
    guard _isOn.load(ordering: .acquiring) else { return nil }
    return _recorder.withLock { $0 }
  }
}
