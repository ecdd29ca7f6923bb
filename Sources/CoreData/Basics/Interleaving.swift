/// A point in the engine where threads can affect each other.
package enum InterleavingPoint: String, Sendable {
  /// Entering or leaving a context's queue.
  case queue
  /// Between reading ancestors' unsaved changes and querying the store.
  case read
  /// Between collecting unsaved changes and publishing them.
  case publish
  /// Around handing a child's save to its parent.
  case deliver
  /// Between linking temporary IDs to permanent ones and the store's COMMIT.
  case link
  /// Between a store's COMMIT and the update of the row cache.
  case commit
}

#if DEBUG || INTERLEAVING

import Foundation
import Synchronization

/// Decides which of several threads runs, so that a test can repeat an interleaving.
///
/// Only one scheduled thread runs at a time. A thread yields only in calls of these methods; the engine calls
/// none of them while it holds a lock that a scheduled thread may wait for.
package protocol InterleavingSchedule: AnyObject, Sendable {
  /// May let other threads run first.
  func reach(_ point: InterleavingPoint)
  /// Waits until the calling thread is first in the resource's queue.
  func acquire(_ resource: ObjectIdentifier)
  /// Releases the resource to the next thread in the queue.
  func release(_ resource: ObjectIdentifier)
  /// Runs a block on a separate thread that acquires the resource after all threads already in the queue.
  func enqueue(on resource: ObjectIdentifier, _ block: @escaping @Sendable () -> Void)
}

/// Connects the engine's threads to a schedule; available in debug builds and if `INTERLEAVING` is defined.
package enum Interleaving {
  /// Whether any thread was ever scheduled; outside of tests, a single load.
  private static let _isUsed = Atomic<Bool>(false)
  /// Represents the stores' writers: one write transaction is open at a time.
  private static let _writer = Resource()
  /// Represents the main queue: on this platform, `DispatchQueue.main` is another object on each access.
  package static let mainQueue: any AnyObject & Sendable = Resource()

  private final class Resource: Sendable {}

  /// The schedule of a thread.
  private final class Hold {
    let schedule: any InterleavingSchedule
    init(_ schedule: any InterleavingSchedule) { self.schedule = schedule }
  }

  /// Each thread's `Hold`, as long as it is scheduled.
  private static let _key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Runs `body` with the calling thread under `schedule`.
  package static func run(under schedule: any InterleavingSchedule, _ body: () -> Void) {
    _isUsed.store(true, ordering: .releasing)
    let outer = pthread_getspecific(_key)
    let hold = Hold(schedule)
    pthread_setspecific(_key, Unmanaged.passUnretained(hold).toOpaque())
    withExtendedLifetime(hold, body)
    pthread_setspecific(_key, outer)
  }

  private static var _schedule: (any InterleavingSchedule)? {
    guard _isUsed.load(ordering: .acquiring), let pointer = pthread_getspecific(_key) else { return nil }
    return Unmanaged<Hold>.fromOpaque(pointer).takeUnretainedValue().schedule
  }

  /// Whether the calling thread runs under a schedule.
  static var isScheduled: Bool { _schedule != nil }

  /// Lets the schedule, if any, switch to another thread.
  static func reach(_ point: InterleavingPoint) { _schedule?.reach(point) }

  /// Runs `body` while no other scheduled thread does so for the same object.
  static func exclusively<T>(_ resource: AnyObject, _ body: () throws -> T) rethrows -> T {
    guard let schedule = _schedule else { return try body() }
    let id = ObjectIdentifier(resource)
    schedule.acquire(id)
    defer {
      schedule.release(id)
      schedule.reach(.queue)
    }
    return try body()
  }

  /// Runs `body` while no other scheduled thread stands in for the main thread.
  static func exclusivelyOnMain<T>(_ body: () throws -> T) rethrows -> T { try exclusively(mainQueue, body) }

  /// Runs `body`, which writes to a store, while no other scheduled thread writes.
  static func writing<T>(_ body: () throws -> T) rethrows -> T { try exclusively(_writer, body) }

  /// Enqueues a block for the object if the calling thread is scheduled.
  static func enqueue(on resource: AnyObject, _ block: @escaping @Sendable () -> Void) -> Bool {
    guard let schedule = _schedule else { return false }
    schedule.enqueue(on: ObjectIdentifier(resource), block)
    return true
  }

  /// Enqueues a block for the main queue if the calling thread is scheduled.
  static func enqueueOnMain(_ block: @escaping @Sendable () -> Void) -> Bool {
    enqueue(on: mainQueue, block)
  }
}

#else

/// Empty: schedules exist only in debug builds and if `INTERLEAVING` is defined.
enum Interleaving {
  static var isScheduled: Bool {
    @inline(__always) get { false }
  }

  @inline(__always)
  static func reach(_ point: InterleavingPoint) {}

  @inline(__always)
  static func exclusively<T>(_ resource: AnyObject, _ body: () throws -> T) rethrows -> T { try body() }

  @inline(__always)
  static func exclusivelyOnMain<T>(_ body: () throws -> T) rethrows -> T { try body() }

  @inline(__always)
  static func writing<T>(_ body: () throws -> T) rethrows -> T { try body() }

  @inline(__always)
  static func enqueue(on resource: AnyObject, _ block: @Sendable () -> Void) -> Bool { false }

  @inline(__always)
  static func enqueueOnMain(_ block: @Sendable () -> Void) -> Bool { false }
}

#endif
