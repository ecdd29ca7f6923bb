import Foundation
import Synchronization

/// The result of a request.
open class NSPersistentStoreResult: NSObject {}

/// A result that arrives later.
///
/// Created on the context's queue. `cancel()` may be called from any thread; read everything else on the
/// context's queue.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  // Unchecked: `_isCancelled` is atomic; all other members are confined to the context's queue.

  /// The context that executed the request.
  public let managedObjectContext: NSManagedObjectContext
  /// The error; nil without one.
  public internal(set) var operationError: (any Error)?
  /// Rows read out of rows estimated; nil unless a `Progress` was current when the request was executed.
  public let progress: Progress?
  private let _isCancelled = Atomic<Bool>(false)

  init(_ context: NSManagedObjectContext, progress: Progress?) {
    managedObjectContext = context
    self.progress = progress
    super.init()
    progress?.cancellationHandler = { [weak self] in self?._isCancelled.store(true, ordering: .releasing) }
  }

  /// Whether the result was cancelled.
  final var isCancelled: Bool {
    // Progress calls its handler some time after its cancellation.
    _isCancelled.load(ordering: .acquiring) || progress?.isCancelled ?? false
  }

  /// Cancels the fetch, including a running statement: there is no final result, and the completion block is
  /// not called. Any thread.
  ///
  /// ```swift
  /// let fetch = NSAsynchronousFetchRequest(fetchRequest: request, completionBlock: nil)
  /// let result = try context.execute(fetch) as? NSAsynchronousFetchResult<Book>
  /// result?.cancel()
  /// ```
  open func cancel() { _isCancelled.store(true, ordering: .releasing) }
}

/// Receives the result of an asynchronous fetch, for any type of objects.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
  (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// The results of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
  // Unchecked: as in the superclass.

  /// The request that produced this result.
  public let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// The results; nil until the fetch is complete.
  public internal(set) var finalResult: [ResultType]?

  init(
    _ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext, progress: Progress?
  ) {
    fetchRequest = request
    super.init(context, progress: progress)
  }
}

/// A fetch whose rows are read off the context's queue.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`. Not safe to use from several threads at once.
///
/// ```swift
/// let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
///   print(result.finalResult?.count ?? 0, result.operationError.map { "\($0)" } ?? "")
/// }
/// try context.execute(fetch)
/// ```
open class NSAsynchronousFetchRequest<ResultType>: NSPersistentStoreRequest {
  /// The fetch request.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called on the context's queue when the fetch is complete or has failed.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// The total row count for progress; 0 if unknown.
  open var estimatedResultCount = 0

  /// Creates an asynchronous request from a fetch request.
  public init(
    fetchRequest request: NSFetchRequest<ResultType>,
    completionBlock blk: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completionBlock = blk
    super.init()
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSAsynchronousFetchRequest(
      fetchRequest: fetchRequest.copy() as! NSFetchRequest<ResultType>, completionBlock: completionBlock)
    copy.estimatedResultCount = estimatedResultCount
    copy.affectedStores = affectedStores
    return copy
  }
}
