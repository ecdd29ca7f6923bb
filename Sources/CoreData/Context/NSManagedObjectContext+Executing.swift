import CoreDataSQLiteBinding
import Foundation

/// A request that `NSManagedObjectContext.execute(_:)` can carry out.
protocol ExecutableRequest: NSPersistentStoreRequest {
  /// Carries the request out on the context's queue.
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
    return try executable.result(in: self)
  }

  /// The coordinator, for requests that stores carry out.
  ///
  /// - Throws: A Cocoa error when there is none.
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
    // A copy: the caller may go on changing its own.
    let request = fetchRequest.copy() as! NSFetchRequest<ResultType>
    if let affectedStores { request.affectedStores = affectedStores }
    var plan = try context.plan(for: request)
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
      // Only what the store has is read here; objects are made on the context's queue.
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

  /// What goes to the background and comes back.
  private struct Delivery: @unchecked Sendable {
    // Unchecked: the request is a private copy; result and completion are used on the context's
    // queue only.
    let request: NSFetchRequest<ResultType>
    let result: NSAsynchronousFetchResult<ResultType>
    let completion: ((NSAsynchronousFetchResult<ResultType>) -> Void)?

    var readsObjects: Bool { request.resultType == .managedObjectResultType && request.fetchBatchSize == 0 }
    var affectedStores: [NSPersistentStore]? { request.affectedStores }

    func finish(_ found: Result<[StoredObject], any Error>?, isCurrent: () -> Bool) {
      if result.isCancelled { return }
      let context = result.managedObjectContext
      do {
        // What was saved since the rows were read would be missing from them.
        if let found, isCurrent() {
          result.finalResult = try context.fetch(request, found: found.get())
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

extension NSManagedObjectContext {
  /// A fetch of objects for which the stores have been asked already.
  fileprivate final func fetch<T>(_ request: NSFetchRequest<T>, found: [StoredObject]) throws -> [T] {
    var plan = try plan(for: request)
    plan.content = try request.contentOfObjects(plan.layout)
    let reading = try FetchReading(plan, request, in: self)
    if reading.needsOverlay, !plan.sort.isEmpty, plan.content != .values {
      // Unsaved changes have to be sorted in, by values that were not read.
      return try fetch(request)
    }
    reading.found = found
    let objects = try reading.objects()
    try finish(objects, of: request)
    return try cast(objects, request)
  }
}
