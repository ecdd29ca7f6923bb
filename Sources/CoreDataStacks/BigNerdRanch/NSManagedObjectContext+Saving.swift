import CoreData
import Foundation

/// Called with the result of a save.
public typealias CoreDataStackSaveCompletion = @Sendable (CoreDataStack.SaveResult) -> Void

extension NSManagedObjectContext {
  /// Saves on the context's queue and waits; does nothing without changes.
  ///
  /// ```swift
  /// try background.saveContextAndWait()
  /// ```
  ///
  /// - Throws: Errors of `save()`.
  public func saveContextAndWait() throws {
    try performAndWaitOrThrow {
      if hasChanges { try save() }
    }
  }

  /// Saves on the context's queue and returns immediately.
  ///
  /// - Parameter completion: Called on the context's queue; succeeds even without changes.
  public func saveContext(_ completion: CoreDataStackSaveCompletion? = nil) {
    let save: @Sendable () -> Void = {
      do {
        if self.hasChanges { try self.save() }
        completion?(.success)
      } catch {
        completion?(.failure(error))
      }
    }
    if _isConfined { save() } else { perform(save) }
  }

  /// Saves on the context's queue without blocking the caller.
  ///
  /// - Throws: Errors of `save()`.
  public func saveContext() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      saveContext { continuation.resume(with: $0.result) }
    }
  }

  /// Saves the context, then each parent up to the store, and waits.
  ///
  /// ```swift
  /// let child = NSManagedObjectContext(.privateQueue)
  /// child.parent = context
  /// try child.saveContextToStoreAndWait()
  /// ```
  ///
  /// - Throws: The error of the first failing `save()`; changes saved below it remain saved there.
  public func saveContextToStoreAndWait() throws {
    try performAndWaitOrThrow {
      if hasChanges { try save() }
      try parent?.saveContextToStoreAndWait()
    }
  }

  /// Saves the context, then each parent up to the store, each on its own queue, and returns immediately.
  ///
  /// - Parameter completion: Called once: at the root, or at the first error.
  public func saveContextToStore(_ completion: CoreDataStackSaveCompletion? = nil) {
    saveContext { result in
      guard case .success = result, let parent = self.parent else {
        completion?(result)
        return
      }
      parent.saveContextToStore(completion)
    }
  }

  /// Saves the context, then each parent up to the store, without blocking the caller.
  ///
  /// ```swift
  /// let progress = Progress(totalUnitCount: -1)
  /// try await background.saveContextToStore(progress: progress)
  /// ```
  ///
  /// - Parameter progress: Receives one unit per context of the chain, so that a wait cursor can be shown.
  ///   After a cancellation between two saves, the changes stay pending in the context that received them
  ///   last.
  /// - Throws: The error of the first failing `save()`; changes saved below it remain saved there.
  ///   `CocoaError.userCancelled`.
  public func saveContextToStore(progress: Progress? = nil) async throws {
    let chain = Array(sequence(first: self, next: \.parent))
    let steps = ProgressSteps(progress, count: chain.count)
    for context in chain {
      try steps.begin()
      try await context.saveContext()
      steps.finish()
    }
  }

  /// Runs a block for the context and waits; calls nest. Returns or throws what the block does.
  public func performAndWaitOrThrow<Return>(_ body: () throws -> Return) rethrows -> Return {
    if _isConfined { return try body() }
    return try performAndWait { try body() }
  }

  /// A confinement context has no queue; everything runs on the calling thread.
  private var _isConfined: Bool { concurrencyType.rawValue == 0 }
}

extension NSPersistentStoreCoordinator {
  /// Runs a block on the coordinator's queue and waits. Returns or throws what the block does.
  public func performAndWaitOrThrow<Return>(_ body: () throws -> Return) rethrows -> Return {
    try performAndWait { try body() }
  }
}
