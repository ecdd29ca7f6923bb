import Foundation

extension NSManagedObjectContext {
  /// Whether the calling code runs on the main queue, which after `dispatchMain()` other threads than the main one drain.
  /// Known once there is a main-queue context.
  package static var isOnMainQueue: Bool { ContextQueue.isOnMainQueue }

  final func enqueue(_ block: @escaping @Sendable () -> Void) {
    queue.async {
      block()
      self.endOfBlock()
    }
  }

  /// Runs a block through `performAndWait(_:)`, which a subclass may override.
  fileprivate final func _performAndWait<T>(
    _ block: () throws -> T, _ rethrowing: (any Error) throws -> T
  ) rethrows -> T {
    var outcome: Result<T, any Error>?
    performAndWait { () -> Void in outcome = Result { try block() } }
    switch outcome {
    case .success(let value): return value
    case .failure(let error): return try rethrowing(error)
    case nil: programmerError("performAndWait(_:) of \(type(of: self)) returned without running its block.")
    }
  }

  /// Runs a block on the context's queue without blocking the caller.
  ///
  /// Throws the error of a failed read, which its context keeps under `ReadFailurePolicy.fail`, if the block
  /// itself returns and can throw any error. An error thrown by the block neither saves nor rolls back
  /// anything. On a PostgreSQL store, cancelling the Task ends a fetch in the block with
  /// `CocoaError.userCancelled`; the block itself and its saves continue.
  ///
  /// The block and the context are no longer retained when this method returns, except for subclasses.
  ///
  /// Unlike Core Data's, the block is `@Sendable`: in Swift 6 mode a call from the main actor would otherwise
  /// send a main-actor block to another queue, which is an error. `@preconcurrency` reduces diagnostics about
  /// captures to warnings.
  ///
  /// ```swift
  /// let unread = try await background.perform {
  ///   let request = Book.fetchRequest()
  ///   request.predicate = NSPredicate(format: "isRead == NO")
  ///   return try background.count(for: request)
  /// }
  /// ```
  @preconcurrency
  public final func perform<T, E: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(E) -> T
  ) async throws(E) -> T {
    if schedule == .immediate, queue.isCurrent, !isConfined {
      return try failedReads.checked(Result.of(block)).get()
    }
    let cancellation = endsCancelledFetches ? TaskCancellation() : nil
    let awaited = AwaitedBlock(self, block)
    let outcome: Handover<Result<T, E>> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let run: @Sendable () -> Void = {
          let result = awaited.run { context, block in
            let result = cancellation?.watching { Result.of(block) } ?? Result.of(block)
            context.endOfBlock()
            return context.failedReads.checked(result)
          }
          continuation.resume(returning: result)
        }
        // A subclass may override `perform`.
        if type(of: self) == NSManagedObjectContext.self { queue.async(run) } else { perform(run) }
      }
    } onCancel: {
      cancellation?.cancel()
    }
    return try outcome.value.get()
  }

  final var isConfined: Bool { concurrencyType == .confinement }

  /// Runs after every enqueued block.
  final func endOfBlock() {
    processPendingChanges()
    _undo?.manager.endEvent()
    registry.sweepIfDue()
  }

  /// Schedules one processing of changes at the end of the main queue's current turn, for all changes made
  /// until then.
  final func scheduleFlush() {
    guard case .main = queue.kind, !events.isScheduled else { return }
    events.isScheduled = true
    let reference = WeakContext(context: self)
    queue.async(afterMerges: false) {
      guard let context = reference.context else { return }
      context.events.isScheduled = false
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

extension GivingWay where Self: NSManagedObjectContext {
  /// Runs a block for the context and waits. Returns or throws what the block does.
  ///
  /// ```swift
  /// let titles = try background.performAndWait {
  ///   try background.fetch(Book.fetchRequest()).compactMap(\.title)
  /// }
  /// ```
  public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
    if type(of: self) == NSManagedObjectContext.self { return try queue.sync(block) }
    return try _performAndWait(block) { throw $0 }
  }
}
