import CoreData
import Foundation

/// A typed wrapper of `NSFetchedResultsController`. Used on the context's queue.
///
/// ```swift
/// let request = Book.fetchRequest()
/// request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// let list = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
/// try list.performFetch()
/// print(list.count, list[IndexPath(row: 0, section: 0)].title ?? "untitled")
/// ```
public final class FetchedResultsController<T: NSManagedObject> {
  /// The fetch request.
  public let fetchRequest: NSFetchRequest<T>
  private let _controller: NSFetchedResultsController<T>
  private let _forwarder = FetchedResultsForwarder()
  private var _tell: ((FetchedResultsEvent<T>, FetchedResultsController<T>) -> Void)?
  private var _streams: [UUID: AsyncStream<FetchedResultsUpdate<T>>.Continuation] = [:]
  private var _update = FetchedResultsUpdate<T>()
  private var _sections: [FetchedResultsSectionInfo<T>]?

  /// Creates a controller, which is empty until `performFetch()`.
  public init(
    fetchRequest: NSFetchRequest<T>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String? = nil, cacheName: String? = nil
  ) {
    self.fetchRequest = fetchRequest
    _controller = NSFetchedResultsController(
      fetchRequest: fetchRequest, managedObjectContext: context, sectionNameKeyPath: sectionNameKeyPath,
      cacheName: cacheName)
    _forwarder.owner = { [weak self] in self?._hear($0) }
    _controller.delegate = _forwarder
  }

  deinit {
    _controller.delegate = nil
    for stream in _streams.values { stream.finish() }
  }

  // MARK: Results

  /// Fetches, and observes changes from now on.
  ///
  /// - Throws: Errors of `NSFetchedResultsController.performFetch()`; the delegate's
  ///   `fetchedResultsControllerDidPerformFetch(_:)` is called nevertheless.
  public func performFetch() throws {
    defer {
      _sections = nil
      _tell?(.performed, self)
    }
    try _controller.performFetch()
  }

  /// The results in order; nil before the first fetch.
  public var fetchedObjects: [T]? { _controller.fetchedObjects }

  /// The first result.
  public var first: T? {
    // Avoids the list of all objects, which is rebuilt after each change.
    guard let section = _controller.sections?.firstIndex(where: { $0.numberOfObjects > 0 }) else {
      return nil
    }
    return _controller.object(at: IndexPath(item: 0, section: section))
  }

  /// Number of results; 0 before the first fetch.
  public var count: Int { _controller.sections?.reduce(0) { $0 + $1.numberOfObjects } ?? 0 }

  /// The sections in order; nil before the first fetch.
  public var sections: [FetchedResultsSectionInfo<T>]? {
    if let _sections { return _sections }
    let sections = _controller.sections?.map { FetchedResultsSectionInfo<T>($0) }
    _sections = sections
    return sections
  }

  /// Number of sections.
  public var sectionCount: Int { _controller.sections?.count ?? 0 }

  /// Name given to the initializer.
  public var cacheName: String? { _controller.cacheName }

  /// The object at an index path. Traps if there is none.
  public subscript(indexPath: IndexPath) -> T { _controller.object(at: indexPath) }

  /// Index path of an object; nil if it is not among the results.
  public func indexPathForObject(_ object: T) -> IndexPath? { _controller.indexPath(forObject: object) }

  // MARK: Following

  /// Sets the delegate; held weakly.
  public func setDelegate<Delegate: FetchedResultsControllerDelegate>(_ delegate: Delegate)
  where Delegate.T == T {
    _tell = { [weak delegate] event, controller in
      guard let delegate else { return }
      switch event {
      case .willChange: delegate.fetchedResultsControllerWillChangeContent(controller)
      case .object(let change): delegate.fetchedResultsController(controller, didChangeObject: change)
      case .section(let change): delegate.fetchedResultsController(controller, didChangeSection: change)
      case .didChange: delegate.fetchedResultsControllerDidChangeContent(controller)
      case .performed: delegate.fetchedResultsControllerDidPerformFetch(controller)
      }
    }
  }

  /// Each round of changes from now on, as IDs and index paths; ends with the controller.
  ///
  /// ```swift
  /// let list = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
  /// try list.performFetch()
  /// for await update in list.updates {
  ///   print(update.inserted.count, update.deleted.count, update.count)
  /// }
  /// ```
  public var updates: AsyncStream<FetchedResultsUpdate<T>> {
    let id = UUID()
    let (stream, continuation) = AsyncStream.makeStream(of: FetchedResultsUpdate<T>.self)
    // The next yield detects a terminated reader, so nothing is accessed from its thread.
    _streams[id] = continuation
    return stream
  }

  private func _hear(_ event: FetchedResultsForwarder.Event) {
    switch event {
    case .willChange:
      _sections = nil
      _update = FetchedResultsUpdate()
      _tell?(.willChange, self)
    case .object(let object, let type, let old, let new):
      guard let object = object as? T, let change = FetchedResultsObjectChange(object, type, old, new) else {
        return
      }
      _update.add(change)
      _tell?(.object(change), self)
    case .section(let info, let index, let type):
      let info = FetchedResultsSectionInfo<T>(info)
      switch type {
      case .insert:
        _update.insertedSections.append(index)
        _tell?(.section(.insert(info: info, index: index)), self)
      case .delete:
        _update.deletedSections.append(index)
        _tell?(.section(.delete(info: info, index: index)), self)
      default: break
      }
    case .didChange:
      _tell?(.didChange, self)
      _update.count = count
      for (id, stream) in _streams {
        if case .terminated = stream.yield(_update) { _streams[id] = nil }
      }
    }
  }
}

/// An event that a typed controller reports to its delegate.
private enum FetchedResultsEvent<T: NSManagedObject> {
  case willChange
  case object(FetchedResultsObjectChange<T>)
  case section(FetchedResultsSectionChange<T>)
  case didChange
  case performed
}

/// The delegate of the untyped controller, so that the typed one need not be an NSObject.
private final class FetchedResultsForwarder: NSObject, NSFetchedResultsControllerDelegate {
  enum Event {
    case willChange
    case object(Any, NSFetchedResultsChangeType, IndexPath?, IndexPath?)
    case section(any NSFetchedResultsSectionInfo, Int, NSFetchedResultsChangeType)
    case didChange
  }

  var owner: ((Event) -> Void)?

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    owner?(.willChange)
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    owner?(.object(anObject, type, indexPath, newIndexPath))
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    owner?(.section(sectionInfo, sectionIndex, type))
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    owner?(.didChange)
  }
}
