import Foundation
import Synchronization

/// The result of a request.
open class NSPersistentStoreResult: NSObject {}

/// A result that arrives later.
///
/// Made on the context's queue; `cancel()` may come from any thread, the rest is to be read on the context's
/// queue.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
  // Unchecked: `_isCancelled` is atomic; everything else is written and read on the context's queue.

  /// Context that the request was executed by.
  public let managedObjectContext: NSManagedObjectContext
  /// The error; nil as long as there is none.
  public internal(set) var operationError: (any Error)?
  /// Rows done of rows estimated; nil unless a `Progress` was current when the request was executed.
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
    // Progress calls its handler some time after it was cancelled.
    _isCancelled.load(ordering: .acquiring) || progress?.isCancelled ?? false
  }

  /// Stops the delivery, and the statement that reads the rows if it runs: there is no final result and the
  /// completion block is not called. Any thread.
  ///
  /// ```swift
  /// let fetch = NSAsynchronousFetchRequest(fetchRequest: request, completionBlock: nil)
  /// let result = try context.execute(fetch) as? NSAsynchronousFetchResult<Book>
  /// result?.cancel()
  /// ```
  open func cancel() { _isCancelled.store(true, ordering: .releasing) }
}

/// Receives the result of an asynchronous fetch, whatever the type of its objects.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock =
  (NSAsynchronousFetchResult<any NSFetchRequestResult>) -> Void

/// The results of an asynchronous fetch.
open class NSAsynchronousFetchResult<ResultType>: NSPersistentStoreAsynchronousResult, @unchecked Sendable {
  // Unchecked: as in the superclass.

  /// Request that this is the result of.
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
  /// What is fetched.
  public let fetchRequest: NSFetchRequest<ResultType>
  /// Called on the context's queue when the result is complete or has failed.
  public let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// Number of rows that progress counts towards; 0 if it is unknown.
  open var estimatedResultCount = 0

  /// Creates an asynchronous form of a fetch.
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
