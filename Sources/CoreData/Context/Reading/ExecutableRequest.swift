import CoreDataSQLiteBinding
import Foundation

/// A request that `NSManagedObjectContext.execute(_:)` can execute.
protocol ExecutableRequest: NSPersistentStoreRequest {
  /// Executes the request on the context's queue.
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult
}

extension NSManagedObjectContext {
  final func carryOut(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
    checkQueue()
    guard let executable = request as? any ExecutableRequest else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "\(label) cannot execute a \(type(of: request)): it takes fetch requests and batch requests. Save with save()."
      )
    }
    guard let recorder = TraceRecorder.current, !(request is AnyFetchRequest) else {
      return try executable.result(in: self)
    }
    let begin = TraceRecorder.now
    defer { recorder.add(.execute("\(type(of: request))"), since: begin, in: self) }
    return try executable.result(in: self)
  }

  /// Returns the coordinator, for requests that stores execute.
  ///
  /// - Throws: A Cocoa error if the context has no coordinator.
  final func requestedCoordinator(for request: NSPersistentStoreRequest) throws
    -> NSPersistentStoreCoordinator
  {
    guard let coordinator = persistentStoreCoordinator else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "\(label) has neither coordinator nor parent; there is no store to carry out a \(type(of: request)).")
    }
    return coordinator
  }
}

extension NSFetchRequest: ExecutableRequest {
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult(
      NSAsynchronousFetchRequest(fetchRequest: self), context, progress: nil)
    result.finalResult = try context.fetch(self)
    return result
  }
}

extension NSAsynchronousFetchRequest: ExecutableRequest {
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    guard context.concurrencyType != .confinement else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "\(context.label) has no queue to deliver an asynchronous fetch on; give it a queue of its own.")
    }
    guard context.parent == nil, let coordinator = context.persistentStoreCoordinator else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "\(context.label) is not connected to a coordinator itself, which an asynchronous fetch needs; execute it in the "
          + "context at the root, or fetch in a perform block.")
    }
    // Copied, because the caller may modify its request.
    let request = fetchRequest.copy() as! NSFetchRequest<ResultType>
    if let affectedStores { request.affectedStores = affectedStores }
    var plan = try FetchPass(context).plan(for: request)
    plan.content = try request.contentOfObjects(plan.layout)
    let rows = plan
    let progress = Progress.current().map { _ in
      Progress(totalUnitCount: estimatedResultCount > 0 ? Int64(estimatedResultCount) : -1)
    }
    let generation = context.readGeneration
    let resets = context.resets.load(ordering: .acquiring)
    let endsByReset = context.endsCancelledFetches
    let isReset: @Sendable () -> Bool = { endsByReset && context.resets.load(ordering: .acquiring) != resets }
    let result = NSAsynchronousFetchResult(self, context, progress: progress)
    let delivery = Delivery(request: request, result: result, completion: completionBlock)
    DispatchQueue.global(qos: .userInitiated).async {
      if result.isCancelled { return }
      // The background reads rows only; objects are created on the context's queue.
      let epoch = coordinator.rowCache.epoch
      let found =
        delivery.readsObjects
        ? Result {
          try QueryCancellation.ending(when: { result.isCancelled || isReset() }) {
            try coordinator.fetch(rows, in: delivery.affectedStores, at: generation)
          }
        } : nil
      context.enqueue {
        QueryCancellation.ending(when: { result.isCancelled }) {
          delivery.finish(
            isReset() ? .failure(CocoaError(.userCancelled)) : found,
            isCurrent: { isReset() || coordinator.rowCache.epoch == epoch })
        }
      }
    }
    return result
  }

  /// Carries a fetch to the background and back.
  private struct Delivery: @unchecked Sendable {
    // Unchecked: the request is a private copy; result and completion are used on the context's queue only.
    let request: NSFetchRequest<ResultType>
    let result: NSAsynchronousFetchResult<ResultType>
    let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    var readsObjects: Bool { request.resultType == .managedObjectResultType && request.fetchBatchSize == 0 }
    var affectedStores: [NSPersistentStore]? { request.affectedStores }

    func finish(_ found: Result<[StoredObject], any Error>?, isCurrent: () -> Bool) {
      if result.isCancelled { return }
      let context = result.managedObjectContext
      do {
        // Rows saved since the read would be missing from the result.
        if let found, isCurrent() {
          result.finalResult = try FetchPass(context).results(request, found: found.get())
        } else {
          result.finalResult = try context.fetch(request)
        }
      } catch {
        result.operationError = error
      }
      if let progress = result.progress {
        let count = Int64(result.finalResult?.count ?? 0)
        progress.totalUnitCount = count
        progress.completedUnitCount = count
      }
      completion?(result)
    }
  }
}
