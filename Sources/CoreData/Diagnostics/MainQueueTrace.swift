import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reports blocks that the engine runs on the main queue on behalf of other queues; the stack shootout draws
/// them, and the load trials measure them.
package enum MainQueueTrace {
  /// A block that the main queue has run.
  package struct Block: Sendable {
    /// Its start, in nanoseconds of `DispatchTime`.
    package let begin: UInt64
    /// Its end, in nanoseconds of `DispatchTime`.
    package let end: UInt64
    /// Nanoseconds of processor time that the thread used meanwhile; 0 unless the recorder asks for it.
    package let processor: UInt64
  }

  /// Receives a block at its end, on the main queue.
  package typealias Recorder = @Sendable (Block) -> Void

  /// In a structure: a bare closure in a generic type is wrapped once more by each access, and keeps the wrappers.
  private struct Recording: Sendable {
    let recorder: Recorder
  }

  private static let _recording = Mutex<Recording?>(nil)
  private static let _isOn = Atomic<Bool>(false)
  private static let _readsProcessorTime = Atomic<Bool>(false)

  /// Sets the recorder; nil removes it.
  ///
  /// - Parameter readsProcessorTime: Whether blocks say their processor time, which takes two system calls of
  ///   the main thread for each.
  package static func record(readsProcessorTime: Bool = false, with recorder: Recorder?) {
    _recording.withLock { $0 = recorder.map(Recording.init) }
    _readsProcessorTime.store(readsProcessorTime, ordering: .relaxed)
    _isOn.store(recorder != nil, ordering: .releasing)
  }

  private static var _current: Recorder? {
    guard _isOn.load(ordering: .acquiring) else { return nil }
    return _recording.withLock { $0 }?.recorder
  }

  /// The clocks at a block's start.
  struct Start {
    private let _begin: UInt64
    /// Nil if the recorder does not want it.
    private let _processor: UInt64?

    /// Reads the clocks; nil without a recorder.
    init?() {
      guard MainQueueTrace._isOn.load(ordering: .acquiring) else { return nil }
      _begin = DispatchTime.now().uptimeNanoseconds
      _processor =
        MainQueueTrace._readsProcessorTime.load(ordering: .relaxed) ? MainQueueTrace._processorTime : nil
    }

    /// Reports the block that ends now.
    func end() {
      MainQueueTrace._current?(
        Block(
          begin: _begin, end: DispatchTime.now().uptimeNanoseconds,
          processor: _processor.map { MainQueueTrace._processorTime - $0 } ?? 0))
    }
  }

  /// Nanoseconds of processor time that the calling thread has used.
  private static var _processorTime: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
