import Foundation
import Synchronization

/// The events of a thread that have not been written yet.
final class TraceRing: Sendable {
  private struct State {
    var events: [TraceEvent] = []
    var dropped = 0
    var thread = 0
    /// Whether the thread has ended, so that another one may have the ring.
    var isFree = false
  }

  /// The events that a thread keeps; more are dropped and counted.
  static let capacity = 1 << 16

  private let _state: Mutex<State>

  init(thread: Int) { _state = Mutex(State(thread: thread)) }

  func add(_ event: consuming TraceEvent) {
    let event = event
    _state.withLock { state in
      if state.events.count < Self.capacity { state.events.append(event) } else { state.dropped += 1 }
    }
  }

  /// Removes and returns all events.
  func take() -> (events: [TraceEvent], dropped: Int, thread: Int) {
    _state.withLock { state in
      let taken = (state.events, state.dropped, state.thread)
      (state.events, state.dropped) = ([], 0)
      return taken
    }
  }

  /// Leaves the ring to another thread.
  func free() { _state.withLock { $0.isFree = true } }

  /// Takes a ring whose thread has ended and whose events are written.
  func reuse(for thread: Int) -> Bool {
    _state.withLock { state in
      guard state.isFree, state.events.isEmpty else { return false }
      (state.isFree, state.thread) = (false, thread)
      return true
    }
  }
}

/// The rings of all threads.
final class TraceRings: Sendable {
  private struct State {
    var rings: [TraceRing] = []
    var threads = 0
  }

  private let _state = Mutex(State())
  private let _key: pthread_key_t

  init() {
    var key = pthread_key_t()
    pthread_key_create(&key) { ring in
      guard let ring: UnsafeMutableRawPointer = ring else { return }
      Unmanaged<TraceRing>.fromOpaque(ring).takeUnretainedValue().free()
    }
    _key = key
  }

  // Threads that end later must not free rings that are gone.
  deinit { pthread_key_delete(_key) }

  /// The ring of the current thread. Threads are numbered from 1; the main thread is 0.
  var current: TraceRing {
    if let known = pthread_getspecific(_key) {
      return Unmanaged<TraceRing>.fromOpaque(known).takeUnretainedValue()
    }
    let ring = _state.withLock { state in
      if !Thread.isMainThread { state.threads += 1 }
      let thread = Thread.isMainThread ? 0 : state.threads
      if let free = state.rings.first(where: { $0.reuse(for: thread) }) { return free }
      // Kept for good: as many as threads have been at work at once.
      let ring = TraceRing(thread: thread)
      state.rings.append(ring)
      return ring
    }
    pthread_setspecific(_key, Unmanaged.passUnretained(ring).toOpaque())
    return ring
  }

  var all: [TraceRing] { _state.withLock { $0.rings } }
}
