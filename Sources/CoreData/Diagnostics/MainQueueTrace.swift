import Synchronization

/// Where the engine reports what it runs on the main queue from elsewhere; the stack shootout draws it.
package enum MainQueueTrace {
  /// Receives begin and end of a block in nanoseconds of `DispatchTime`; called on the main queue.
  package typealias Recorder = @Sendable (_ begin: UInt64, _ end: UInt64) -> Void

  private static let _recorder = Mutex<Recorder?>(nil)
  private static let _isOn = Atomic<Bool>(false)

  /// Sets or, with nil, removes the recorder.
  package static func record(with recorder: Recorder?) {
    _recorder.withLock { $0 = recorder }
    _isOn.store(recorder != nil, ordering: .releasing)
  }

  static var recorder: Recorder? {
    guard _isOn.load(ordering: .acquiring) else { return nil }
    return _recorder.withLock { $0 }
  }
}
