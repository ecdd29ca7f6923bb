/// What is to be fetched: models of a class that meet a predicate, in an order.
public struct FetchDescriptor<T>: Sendable where T: PersistentModel {
  /// What models meet; nil for all.
  public var predicate: Predicate<T>?
  /// The order; empty for whatever order the store finds them in.
  public var sortBy: [SortDescriptor<T>]
  /// Most models to fetch; nil for no limit.
  public var fetchLimit: Int?
  /// Models to skip first.
  public var fetchOffset: Int?
  /// Whether unsaved changes take part.
  public var includePendingChanges = true
  /// Properties to read at once, the others when they are asked for; empty for all.
  public var propertiesToFetch: [PartialKeyPath<T>] {
    get { _propertiesToFetch.paths }
    set { _propertiesToFetch.paths = newValue }
  }
  /// Relationships whose models are read along.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] {
    get { _prefetching.paths }
    set { _prefetching.paths = newValue }
  }

  private var _propertiesToFetch = KeyPathList<T>()
  private var _prefetching = KeyPathList<T>()

  /// Creates a descriptor.
  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}

/// Key paths, which are immutable but not marked Sendable.
private struct KeyPathList<T>: @unchecked Sendable {
  var paths: [PartialKeyPath<T>] = []
}
