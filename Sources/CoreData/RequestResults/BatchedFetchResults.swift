import Foundation

/// Objects of a fetch, created and loaded in batches as they are accessed.
///
/// All IDs are read at once, which fixes `count` and the order at the time of the fetch. Each batch reads its
/// objects' values in one statement and is released with its objects, unless the program retains them. Like
/// the objects, confined to the context's queue. An object deleted since appears as a fault that cannot be
/// filled. Not in Core Data, whose batched NSArray is traversed entirely when Swift bridges it to an array.
///
/// ```swift
/// let request = Book.fetchRequest()
/// request.fetchBatchSize = 500
/// let books = try context.fetchBatched(request)
/// for book in books.prefix(2_000) { print(book.title ?? "untitled") }
/// ```
public struct BatchedFetchResults<Object: NSManagedObject>: RandomAccessCollection {
  private let _context: NSManagedObjectContext
  private let _ids: [NSManagedObjectID]
  private let _batchSize: Int
  private let _current = Current()

  /// The batch accessed last.
  private final class Current {
    var number = -1
    var objects: [Object] = []
  }

  init(_ context: NSManagedObjectContext, _ ids: [NSManagedObjectID], batchSize: Int) {
    _context = context
    _ids = ids
    _batchSize = batchSize
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { _ids.count }

  /// The IDs of all objects, in order.
  public var objectIDs: [NSManagedObjectID] { _ids }

  /// The object at a position. If the store cannot be read, a fault that reads again when it fires, or a
  /// trap: see ``ReadFailurePolicy``.
  public subscript(position: Int) -> Object {
    precondition(_ids.indices.contains(position), "index \(position) is outside 0..<\(_ids.count)")
    let number = position / _batchSize
    if number != _current.number {
      let range = number * _batchSize..<Swift.min((number + 1) * _batchSize, _ids.count)
      let objects = _ids[range].map { _context.registry.objectOrFault($0) }
      do {
        try PrefetchPass(_context).loadValues(of: objects)
      } catch {
        _context.failedReads.fail(
          objects[position % _batchSize], "load a batch of '\(_ids[position].entity.name ?? "?")'", error)
      }
      _current.objects = objects.map { object in
        guard let object = object as? Object else {
          programmerError(
            "the fetch gives \(type(of: object)), not \(Object.self); check the entity's class.")
        }
        return object
      }
      _current.number = number
    }
    return _current.objects[position % _batchSize]
  }
}

extension NSManagedObjectContext {
  /// Fetches objects that are loaded in batches.
  ///
  /// The batch size is the request's `fetchBatchSize`, or 100 if that is 0. Not in Core Data.
  ///
  /// ```swift
  /// let page = try context.fetchBatched(request)[100..<120].map(\.title)
  /// ```
  ///
  /// - Throws: As `fetch(_:)`.
  public final func fetchBatched<Object: NSManagedObject>(
    _ request: NSFetchRequest<Object>
  ) throws -> BatchedFetchResults<Object> {
    let identities = AnyFetchRequest()
    identities.copySettings(from: request)
    identities.resultType = .managedObjectIDResultType
    let size = request.fetchBatchSize > 0 ? request.fetchBatchSize : 100
    return BatchedFetchResults(
      self, try FetchPass(self).identities(identities, sortsUnsaved: true), batchSize: size)
  }
}
