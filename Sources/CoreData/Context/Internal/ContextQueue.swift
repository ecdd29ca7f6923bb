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

/// The serial executor of one context: the main queue, a queue of its own, or (confinement) the caller's thread.
///
/// `performAndWait` runs on the caller's thread and may be entered again from inside itself, also through
/// another context's block. What a thread is executing is kept in a stack of its own, since a dispatch queue
/// cannot be asked.
final class ContextQueue: @unchecked Sendable {
  // Unchecked: immutable but `context`, which the context sets and clears itself and only its own queue
  // reads.
  enum Kind {
    case main
    case `private`(DispatchQueue)
    case confinement
  }

  let kind: Kind
  /// A queue of the name that a private one was given later; it works through the first one.
  private let _labelled = Mutex<DispatchQueue?>(nil)
  /// Merges that wait for their turn on the main queue.
  let turns = Turns()
  /// Held by the thread that executes on a private queue.
  private let _turn = NSLock()
  /// Blocks of a private queue that are not done, the one being executed included.
  private let _unfinished = Atomic<Int>(0)
  /// Not weak: a weak reference would make every retain of the context slower from then on. Cleared when it
  /// dies.
  unowned(unsafe) var context: NSManagedObjectContext?

  init(_ type: NSManagedObjectContextConcurrencyType) {
    // Contexts of private queues ask, too, whether they are called from the main queue.
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

  /// Names a private queue: a dispatch queue cannot be renamed, but another one can stand before it.
  func setLabel(_ label: String) {
    guard case .private(let queue) = kind else { return }
    _labelled.withLock { $0 = DispatchQueue(label: label, target: queue) }
  }

  /// Label of the queue in force.
  var label: String {
    switch kind {
    case .main: "main queue"
    case .private(let queue): (_labelled.withLock { $0 } ?? queue).label
    case .confinement: "none"
    }
  }

  /// Where the calling code runs, for messages.
  static var currentPlace: String {
    if let innermost = ThreadStack.current.innermost { return "queue '\(innermost.label)'" }
    return isOnMainQueue ? "the main queue" : "a thread that executes for no context"
  }

  /// Whether the calling thread is executing for this context right now.
  var isCurrent: Bool {
    switch kind {
    case .confinement: true
    case .main: Self.isOnMainQueue
    case .private: ThreadStack.current.contains(self)
    }
  }

  /// Context whose block the calling thread is executing, the innermost one.
  static var current: NSManagedObjectContext? {
    if let queue = ThreadStack.current.innermost { return queue.context }
    return nil
  }

  /// Appends a block.
  func async(_ block: @escaping @Sendable () -> Void) {
    switch kind {
    case .main:
      if Interleaving.enqueue(on: DispatchQueue.main, { self._runAsMain(block) }) { return }
      DispatchQueue.main.async { self._run(onMain: true, block) }
    case .private(let first):
      _unfinished.wrappingAdd(1, ordering: .acquiringAndReleasing)
      if Interleaving.enqueue(on: self, { self._runInTurn(block) }) { return }
      let queue = _labelled.withLock { $0 } ?? first
      queue.async { self._runInTurn(block) }
    case .confinement:
      block()
    }
  }

  /// Runs a block now: at once when the thread is executing for this context already, else after its turn has
  /// come.
  func sync<T>(_ block: () throws -> T) rethrows -> T {
    switch kind {
    case .confinement:
      return try block()
    case .main:
      if Self.isOnMainQueue { return try _run(onMain: false, block) }
      if Interleaving.isScheduled {
        return try Interleaving.exclusively(DispatchQueue.main) { try _runAsMain(block) }
      }
      return try withoutActuallyEscaping(block) { block in
        // The caller waits: the block runs elsewhere, but not at the same time as anything here.
        nonisolated(unsafe) let block = block
        return try DispatchQueue.main.sync { try self._run(onMain: true, block) }
      }
    case .private(let first):
      let queue = _labelled.withLock { $0 } ?? first
      let stack = ThreadStack.current
      if stack.contains(self) { return try _run(onMain: false, block) }
      // Inside the block the queue in force is this one; that the thread holds the main queue too must not be
      // forgotten.
      let isOnMain = Self.isOnMainQueue
      if isOnMain { stack.mainDepth += 1 }
      defer { if isOnMain { stack.mainDepth -= 1 } }
      _unfinished.wrappingAdd(1, ordering: .acquiringAndReleasing)
      return try Interleaving.exclusively(self) { try queue.sync { try self._runInTurn(block) } }
    }
  }

  /// Runs a block of the main queue on a scheduled thread, which stands for the main one meanwhile.
  private func _runAsMain<T>(_ block: () throws -> T) rethrows -> T {
    let stack = ThreadStack.current
    stack.mainDepth += 1
    defer { stack.mainDepth -= 1 }
    return try _run(onMain: true, block)
  }

  /// Runs a block on the calling thread if it is the main one and a private queue is idle. Never
  /// blocks.
  ///
  /// - Returns: False if the queue is at work, or has work waiting; then the block has not run.
  func runIfIdle(_ block: () -> Void) -> Bool {
    // A schedule does not see the lock, and would have all threads wait for it.
    guard case .private = kind, Self.isOnMainQueue, !Interleaving.isScheduled,
      _unfinished.load(ordering: .acquiring) == 0, _turn.try()
    else { return false }
    let stack = ThreadStack.current
    stack.mainDepth += 1
    defer {
      stack.mainDepth -= 1
      _turn.unlock()
    }
    _run(onMain: false, block)
    return true
  }

  /// Runs a block of a private queue once no thread executes for it that got in by `runIfIdle`.
  private func _runInTurn<T>(_ block: () throws -> T) rethrows -> T {
    _turn.lock()
    defer {
      _turn.unlock()
      _unfinished.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    }
    return try _run(onMain: false, block)
  }

  /// Runs a piece of work that takes its turn on the main queue.
  func inItsPlace(_ block: () -> Bool) -> Bool { _run(onMain: true, isTurn: true, block) }

  private func _run<T>(onMain: Bool, isTurn: Bool = false, _ block: () throws -> T) rethrows -> T {
    let stack = ThreadStack.current
    stack.push(self)
    defer { stack.pop() }
    if let context, context.overlay.hasMail { context.drainDeliveries() }
    guard onMain else { return try block() }
    let recorder = MainQueueTrace.recorder
    let begin = recorder == nil ? 0 : DispatchTime.now().uptimeNanoseconds
    defer { recorder?(begin, DispatchTime.now().uptimeNanoseconds) }
    // What was saved before this block was sent is merged before it runs.
    if !isTurn { turns.runAll() }
    return try block()
  }

  // MARK: Main queue

  private static let _mainKey = DispatchSpecificKey<Bool>()

  /// Marks the main queue once, so that code running on it is known whichever thread drains it.
  private static let _markMainQueue: Void = DispatchQueue.main.setSpecific(key: _mainKey, value: true)

  /// True on the main thread, and in a block of the main queue when another thread drains it (as after
  /// `dispatchMain()`).
  static var isOnMainQueue: Bool {
    Thread.isMainThread || ThreadStack.current.mainDepth > 0
      || DispatchQueue.getSpecific(key: _mainKey) == true
  }
}

/// The context queues that one thread is executing for, outermost first.
final class ThreadStack {
  private var _queues: [ContextQueue] = []
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

  /// The calling thread's own; no other thread sees it.
  static var current: ThreadStack {
    if let pointer = pthread_getspecific(_key) {
      return Unmanaged<ThreadStack>.fromOpaque(pointer).takeUnretainedValue()
    }
    let stack = ThreadStack()
    pthread_setspecific(_key, Unmanaged.passRetained(stack).toOpaque())
    return stack
  }
}
