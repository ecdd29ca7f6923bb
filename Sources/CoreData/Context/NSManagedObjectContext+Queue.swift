import Foundation

extension NSManagedObjectContext {
  /// Runs a block on the context's queue, in turn, and returns at once. Changes are processed after it.
  public final func perform(_ block: @escaping @Sendable () -> Void) {
    queue.async {
      block()
      self.endOfBlock()
    }
  }

  /// Runs a block for the context and waits. May be called from inside itself. Changes are not processed
  /// after it.
  ///
  /// A private-queue context runs the block on the caller's thread; a main-queue one on the main queue.
  public final func performAndWait(_ block: () -> Void) {
    queue.sync(block)
  }

  /// Runs a block for the context, waits, and hands back what it returns or throws.
  public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    try queue.sync(block)
  }

  /// Runs a block on the context's queue without blocking the caller.
  ///
  /// Nothing is saved or rolled back when the block throws.
  public final func perform<T, E: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    if schedule == .immediate, queue.isCurrent, !isConfined { return try block() }
    let outcome: Handover<Result<T, E>> = await withCheckedContinuation { continuation in
      queue.async {
        let result: Result<T, E>
        do throws(E) {
          result = .success(try block())
        } catch {
          result = .failure(error)
        }
        self.endOfBlock()
        continuation.resume(returning: Handover(value: result))
      }
    }
    return try outcome.value.get()
  }

  /// What a block returned, on its way to the one caller waiting for it.
  private struct Handover<T>: @unchecked Sendable {
    // Unchecked: made on the context's queue, which is done with it, and read by the waiting task only.
    let value: T
  }

  final var isConfined: Bool { concurrencyType == .confinement }

  /// What follows every enqueued block.
  final func endOfBlock() {
    processPendingChanges()
    undoManager?.endEvent()
    sweepIfDue()
  }

  /// Processes changes at the end of the main queue's turn, once for all changes until then.
  final func scheduleFlush() {
    guard case .main = queue.kind, !isFlushScheduled else { return }
    isFlushScheduled = true
    let reference = WeakContext(context: self)
    queue.async {
      guard let context = reference.context else { return }
      context.isFlushScheduled = false
      context.endOfBlock()
    }
  }
}

extension NSManagedObjectContext: NSLocking {
  /// Deprecated: contexts work on queues.
  @available(*, deprecated, message: "Use perform blocks")
  public func lock() {}

  /// Deprecated: contexts work on queues.
  @available(*, deprecated, message: "Use perform blocks")
  public func unlock() {}

  /// Deprecated: contexts work on queues. Always true.
  @available(*, deprecated, message: "Use perform blocks")
  public func tryLock() -> Bool { true }
}
