import Dispatch
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The serial executor of one context: the main queue, a private queue, or (confinement) the caller's thread.
///
/// `performAndWait` runs on the caller's thread and is reentrant, also through another context's block. Each
/// thread keeps a stack of the queues it executes for, since dispatch queues cannot be queried.
final class ContextQueue: @unchecked Sendable {
  // Unchecked: immutable except for what `attach(to:)` sets, before another thread can have the queue.
  enum Kind {
    case main
    case `private`(DispatchQueue)
    case confinement
  }

  let kind: Kind
  /// A queue with the label that a private queue was given later; it targets the original.
  private let _labelled = Mutex<DispatchQueue?>(nil)
  private let _merges = Mutex(WaitingMerges())
  /// Whether any merges wait; cheap to poll.
  private let _hasMerges = Atomic<Bool>(false)
  /// Held by the thread that executes on the private queue.
  private let _turn = NSLock()
  /// Unfinished blocks of a private queue, including the running one.
  private let _unfinished = Atomic<Int>(0)
  /// The context; nil once it is being deallocated, since blocks may outlive it. Set once, by `attach(to:)`.
  @Loose private(set) var context: NSManagedObjectContext?
  /// The context's overlay, so that entering the queue only looks for deliveries.
  private var _overlay: PublishedOverlay?

  init(_ type: NSManagedObjectContextConcurrencyType) {
    // Private-queue contexts also check whether they run on the main queue.
    Self._markMainQueue
    switch type {
    case .mainQueueConcurrencyType:
      kind = .main
    case .privateQueueConcurrencyType:
      kind = .private(DispatchQueue(label: "NSManagedObjectContext"))
    default:
      kind = .confinement
    }
  }

  /// Makes this the queue of a context. For the context's init only.
  func attach(to context: NSManagedObjectContext) {
    self.context = context
    _overlay = context.overlay
  }

  /// Labels a private queue. A dispatch queue cannot be renamed, but another one can target it.
  func setLabel(_ label: String) {
    guard case .private(let queue) = kind else { return }
    _labelled.withLock { $0 = DispatchQueue(label: label, target: queue) }
  }

  /// Label of the queue in use.
  var label: String {
    switch kind {
    case .main: "main queue"
    case .private(let queue): (_labelled.withLock { $0 } ?? queue).label
    case .confinement: "none"
    }
  }

  /// Describes where the calling code runs, for messages.
  static var currentPlace: String {
    if let innermost = ThreadStack.current.innermost { return "queue '\(innermost.label)'" }
    return isOnMainQueue ? "the main queue" : "a thread that executes for no context"
  }

  /// Whether the calling thread is currently executing for this context.
  var isCurrent: Bool {
    switch kind {
    case .confinement: true
    case .main: Self.isOnMainQueue
    case .private: ThreadStack.current.contains(self)
    }
  }

  /// The context of the innermost block that the calling thread is executing.
  static var current: NSManagedObjectContext? {
    if let queue = ThreadStack.current.innermost { return queue.context }
    return nil
  }

  /// Enqueues a block.
  ///
  /// - Parameter afterMerges: Whether the block sees all saves that are waiting to be merged.
  func async(afterMerges: Bool = true, _ block: @escaping @Sendable () -> Void) {
    let due = afterMerges ? _closeMerges() : 0
    switch kind {
    case .main:
      if Interleaving.enqueueOnMain({ self._runAsMain(after: due, block) }) { return }
      DispatchQueue.main.async { self._run(onMain: true, after: due, block) }
    case .private(let first):
      _unfinished.wrappingAdd(1, ordering: .acquiringAndReleasing)
      if Interleaving.enqueue(on: self, { self._runInTurn(after: due, block) }) { return }
      let queue = _labelled.withLock { $0 } ?? first
      queue.async { self._runInTurn(after: due, block) }
    case .confinement:
      block()
    }
  }

  /// Runs a block synchronously: immediately if the thread is executing for this context, otherwise in turn.
  func sync<T>(_ block: () throws -> T) rethrows -> T {
    switch kind {
    case .confinement:
      return try block()
    case .main:
      if Self.isOnMainQueue { return try _run(onMain: false, after: 0, block) }
      let due = _closeMerges()
      if Interleaving.isScheduled {
        return try Interleaving.exclusivelyOnMain { try _runAsMain(after: due, block) }
      }
      return try withoutActuallyEscaping(block) { block in
        // The caller waits while the block runs on another thread; they never run concurrently.
        nonisolated(unsafe) let block = block
        return try DispatchQueue.main.sync { try self._run(onMain: true, after: due, block) }
      }
    case .private(let first):
      let queue = _labelled.withLock { $0 } ?? first
      let stack = ThreadStack.current
      if stack.contains(self) { return try _run(onMain: false, after: 0, block) }
      let due = _closeMerges()
      // The block now executes for this queue, but the thread still holds the main queue, which must be
      // remembered.
      let isOnMain = Self.isOnMainQueue
      if isOnMain { stack.mainDepth += 1 }
      defer { if isOnMain { stack.mainDepth -= 1 } }
      _unfinished.wrappingAdd(1, ordering: .acquiringAndReleasing)
      return try Interleaving.exclusively(self) { try queue.sync { try self._runInTurn(after: due, block) } }
    }
  }

  /// Runs a main-queue block on a scheduled thread that stands in for the main thread.
  private func _runAsMain<T>(after due: Int, _ block: () throws -> T) rethrows -> T {
    let stack = ThreadStack.current
    stack.mainDepth += 1
    defer { stack.mainDepth -= 1 }
    return try _run(onMain: true, after: due, block)
  }

  /// Runs a block on the calling thread if that is the main thread and the private queue is idle. Never
  /// blocks.
  ///
  /// - Returns: False if the queue is executing or has work waiting; the block has not run then.
  func runIfIdle(_ block: () -> Void) -> Bool {
    // A schedule does not see the lock and would make all threads wait for it.
    guard case .private = kind, Self.isOnMainQueue, !Interleaving.isScheduled,
      _unfinished.load(ordering: .acquiring) == 0, _turn.try()
    else { return false }
    let stack = ThreadStack.current
    stack.mainDepth += 1
    defer {
      stack.mainDepth -= 1
      _turn.unlock()
    }
    _run(onMain: false, after: 0, block)
    return true
  }

  /// Runs a private-queue block after any thread that entered through `runIfIdle` has left.
  private func _runInTurn<T>(after due: Int, _ block: () throws -> T) rethrows -> T {
    _turn.lock()
    defer {
      _turn.unlock()
      _unfinished.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    }
    return try _run(onMain: false, after: due, block)
  }

  private func _run<T>(onMain: Bool, after due: Int, _ block: () throws -> T) rethrows -> T {
    let start = _enter(onMain: onMain, after: due)
    defer { _leave(since: start) }
    return try block()
  }

  // Not inlined: `_run` is specialized for many closures, each of which would otherwise inline all that a
  // merge does.

  /// Prepares the calling thread for a block, and merges the saves made before the block was enqueued.
  ///
  /// - Parameter due: The number of the last group of merges to run.
  /// - Returns: The clocks from which `MainQueueTrace` counts the block, if it does.
  @inline(never)
  private func _enter(onMain: Bool, after due: Int) -> MainQueueTrace.Start? {
    ThreadStack.current.push(self)
    let start = onMain ? MainQueueTrace.Start() : nil
    if let _overlay, _overlay.hasDeliveries { context?.drainDeliveries() }
    if due > 0 { runMerges(upTo: due) }
    return start
  }

  /// Undoes `_enter` after the block.
  @inline(never)
  private func _leave(since start: MainQueueTrace.Start?) {
    start?.end()
    ThreadStack.current.pop()
  }

  // MARK: Merges

  /// Reads or changes the waiting merges.
  func changeMerges<T: Sendable>(_ body: (inout WaitingMerges) -> T) -> T {
    _merges.withLock { merges in
      defer { _hasMerges.store(!merges.isEmpty, ordering: .releasing) }
      return body(&merges)
    }
  }

  /// Ends the newest group of merges that wait, for a block that is enqueued behind it.
  ///
  /// - Returns: The group's number; 0 if none waits.
  private func _closeMerges() -> Int {
    guard _hasMerges.load(ordering: .acquiring) else { return 0 }
    return changeMerges { $0.isEmpty ? 0 : $0.close() }
  }

  // MARK: Main queue

  private static let _mainKey = DispatchSpecificKey<Bool>()

  /// Marks the main queue, so that code running on it is recognized on any thread that drains it.
  private static let _markMainQueue: Void = DispatchQueue.main.setSpecific(key: _mainKey, value: true)

  /// True while the thread holds the main queue, also in a block of another queue that it waits for.
  static var isOnMainQueue: Bool { ThreadStack.current.mainDepth > 0 || isRunningMainQueue }

  /// True on the main thread, and in a main-queue block that another thread drains (as after
  /// `dispatchMain()`).
  static var isRunningMainQueue: Bool {
    if ThreadStack.current.isMainThread { return true }
    _markMainQueue
    return DispatchQueue.getSpecific(key: _mainKey) == true
  }
}

/// The context queues that a thread is executing for, outermost first.
final class ThreadStack {
  private var _queues: [ContextQueue] = []
  /// Kept, since asking takes two system calls.
  let isMainThread = Thread.isMainThread
  /// How many times the thread entered another queue while it held the main one.
  var mainDepth = 0

  func contains(_ queue: ContextQueue) -> Bool { _queues.contains { $0 === queue } }
  var innermost: ContextQueue? { _queues.last }
  func push(_ queue: ContextQueue) { _queues.append(queue) }
  func pop() { _queues.removeLast() }

  private static let _key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key) { pointer in
      // Optional on some platforms, not on others.
      let pointer: UnsafeMutableRawPointer? = pointer
      if let pointer { Unmanaged<ThreadStack>.fromOpaque(pointer).release() }
    }
    return key
  }()

  /// The calling thread's stack; not visible to other threads.
  static var current: ThreadStack {
    if let pointer = pthread_getspecific(_key) {
      return Unmanaged<ThreadStack>.fromOpaque(pointer).takeUnretainedValue()
    }
    let stack = ThreadStack()
    pthread_setspecific(_key, Unmanaged.passRetained(stack).toOpaque())
    return stack
  }
}
