/// A point of the engine where what one thread does next can change what another one sees.
package enum InterleavingPoint: String, Sendable {
  /// Entering or leaving a context's queue.
  case queue
  /// Between taking ancestors' unsaved changes and asking the store.
  case read
  /// Between collecting unsaved changes and publishing them.
  case publish
  /// Around handing a child's save to its parent.
  case deliver
  /// Between linking temporary IDs to permanent ones and the store's COMMIT.
  case link
  /// Between a store's COMMIT and telling the row cache.
  case commit
}

#if DEBUG || INTERLEAVING

import Foundation
import Synchronization

/// Decides which of several threads runs, so that a test can repeat an interleaving.
///
/// Only one scheduled thread runs at a time. A thread gives way where it calls one of these methods, and
/// nowhere else; the engine calls none of them while it holds a lock that a scheduled thread may wait for.
package protocol InterleavingSchedule: AnyObject, Sendable {
  /// May let other threads run first.
  func reach(_ point: InterleavingPoint)
  /// Waits until the calling thread is at the head of the resource's line.
  func acquire(_ resource: ObjectIdentifier)
  /// Leaves the resource to the next in line.
  func release(_ resource: ObjectIdentifier)
  /// Runs a block on a thread of its own that has the resource, after all that are in line already.
  func enqueue(on resource: ObjectIdentifier, _ block: @escaping @Sendable () -> Void)
}

/// Connects the engine's threads to a schedule; exists in debug builds and where `INTERLEAVING` is defined.
package enum Interleaving {
  /// Whether any thread was ever scheduled: one load decides in a program that tests nothing.
  private static let _isUsed = Atomic<Bool>(false)
  /// Stands for the stores' writers: one write transaction is open at a time.
  private static let _writer = Resource()

  private final class Resource: Sendable {}

  /// What decides when a thread runs.
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

  /// Lets the schedule, if there is one, switch to another thread.
  static func reach(_ point: InterleavingPoint) { _schedule?.reach(point) }

  /// Runs `body` while no other scheduled thread runs one for the same object.
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

  /// Runs `body`, which writes to a store, while no other scheduled thread writes to one.
  static func writing<T>(_ body: () throws -> T) rethrows -> T { try exclusively(_writer, body) }

  /// Enqueues a block for the object if the calling thread is scheduled.
  static func enqueue(on resource: AnyObject, _ block: @escaping @Sendable () -> Void) -> Bool {
    guard let schedule = _schedule else { return false }
    schedule.enqueue(on: ObjectIdentifier(resource), block)
    return true
  }
}

#else

/// Nothing: schedules exist in debug builds and where `INTERLEAVING` is defined.
enum Interleaving {
  static var isScheduled: Bool {
    @inline(__always) get { false }
  }

  @inline(__always)
  static func reach(_ point: InterleavingPoint) {}

  @inline(__always)
  static func exclusively<T>(_ resource: AnyObject, _ body: () throws -> T) rethrows -> T { try body() }

  @inline(__always)
  static func writing<T>(_ body: () throws -> T) rethrows -> T { try body() }

  @inline(__always)
  static func enqueue(on resource: AnyObject, _ block: @Sendable () -> Void) -> Bool { false }
}

#endif
