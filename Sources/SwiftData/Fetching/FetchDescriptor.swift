/// A fetch of models of a class, with a predicate and an order.
public struct FetchDescriptor<T>: Sendable where T: PersistentModel {
  // The members are inlined into the caller's module, which knows the class: unspecialized, each would look
  // up the metadata of its types at run time.

  /// The condition for models; nil for all.
  // Spelled out, so that initializers move their argument here: 'Predicate<T>?' would begin as nil.
  public var predicate: Optional<Predicate<T>>
  /// The order; empty for the store's.
  public var sortBy: [SortDescriptor<T>]
  /// The maximum number of models; nil for no limit.
  @inlinable public var fetchLimit: Int? {
    get { _options.limit }
    set { _options.limit = newValue }
  }
  /// The number of models to skip.
  @inlinable public var fetchOffset: Int? {
    get { _options.offset }
    set { _options.offset = newValue }
  }
  /// Whether to include unsaved changes.
  @inlinable public var includePendingChanges: Bool {
    get { _options.includesPendingChanges }
    set { _options.includesPendingChanges = newValue }
  }
  /// The properties to read immediately, the others on demand; empty for all.
  public var propertiesToFetch: [PartialKeyPath<T>] {
    get { _options.propertiesToFetch.map { unsafeDowncast($0, to: PartialKeyPath<T>.self) } }
    set { _options.propertiesToFetch = newValue }
  }
  /// The relationships to prefetch.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] {
    get { _options.prefetchedRelationships.map { unsafeDowncast($0, to: PartialKeyPath<T>.self) } }
    set { _options.prefetchedRelationships = newValue }
  }

  @usableFromInline var _options: FetchOptions

  /// Creates a descriptor.
  @inlinable public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
    _options = FetchOptions()
  }
}

/// The parts of a descriptor that don't depend on the class of the models.
@usableFromInline struct FetchOptions: @unchecked Sendable {
  // Unchecked: key paths are immutable but not marked Sendable.

  @usableFromInline var limit: Int?
  @usableFromInline var offset: Int?
  @usableFromInline var includesPendingChanges: Bool
  @usableFromInline var propertiesToFetch: [AnyKeyPath]
  @usableFromInline var prefetchedRelationships: [AnyKeyPath]

  @inlinable init() {
    limit = nil
    offset = nil
    includesPendingChanges = true
    propertiesToFetch = []
    prefetchedRelationships = []
  }
}
