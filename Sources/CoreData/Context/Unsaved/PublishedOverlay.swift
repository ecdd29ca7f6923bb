import Synchronization

/// The published unsaved state of a context: layers, oldest first, readable from any thread.
final class PublishedOverlay: Sendable {
  private struct State {
    var layers: [ChangeLayer] = []
    /// Objects whose entries the next reader removes from the layers.
    var withdrawn = IdentitySet()
    /// Children's saves that the context has not accepted yet; on top of `layers`.
    var inbox = PendingDeliveries()
    /// Incremented with each change of the inbox.
    var deliveryRevision = 0
    /// The children of the context.
    var readers: [WeakContext] = []

    /// The layers without the entries that were withdrawn.
    mutating func settledLayers() -> [ChangeLayer] {
      if withdrawn.isEmpty { return layers }
      layers = layers.map { layer in ChangeLayer(layer.entries.filter { !withdrawn.contains($0.id) }) }
        .filter { !$0.entries.isEmpty }
      withdrawn = IdentitySet()
      return layers
    }
  }

  private let _state = Mutex(State())
  private let _hasDeliveries = Atomic<Bool>(false)
  private let _hasLayers = Atomic<Bool>(false)
  /// The number of changes so far, and that number when the last published state was collected.
  private let _noted = Atomic<Int>(0)
  private let _published = Atomic<Int>(0)
  private let _hasReaders = Atomic<Bool>(false)
  /// Whether the context may have unsaved changes that were made before a child attached, and not counted.
  private let _hasUncounted = Atomic<Bool>(false)

  /// The layers that the context has accepted. Takes no lock if there are none, as in a context without children.
  @inline(__always)
  var layers: [ChangeLayer] {
    _hasLayers.load(ordering: .acquiring) ? _state.withLock { $0.settledLayers() } : []
  }

  /// All layers visible to children, including pending deliveries.
  var visibleLayers: [ChangeLayer] { visibleLayers { $0.layers() } }

  /// All layers visible to children. Pending deliveries are composed outside the lock, which the main queue
  /// takes to deliver.
  ///
  /// - Parameter putTogether: Composes the layers of an inbox.
  func visibleLayers(_ putTogether: (inout PendingDeliveries) -> [ChangeLayer]) -> [ChangeLayer] {
    var (layers, inbox, deliveryRevision) = _state.withLock {
      ($0.settledLayers(), $0.inbox, $0.deliveryRevision)
    }
    if inbox.isEmpty { return layers }
    layers += putTogether(&inbox)
    // Cached for the next reader unless a delivery was added or removed meanwhile.
    let tidy = inbox
    _state.withLock { state in
      if state.deliveryRevision == deliveryRevision { state.inbox = tidy }
    }
    return layers
  }

  /// Whether children have delivered saves that the context has not accepted yet.
  var hasDeliveries: Bool { _hasDeliveries.load(ordering: .acquiring) }

  /// Delivers a child's save without entering the context's queue.
  func deliver(_ layer: ChangeLayer) {
    _state.withLock { state in
      state.inbox.append(layer)
      state.deliveryRevision += 1
    }
    _hasDeliveries.store(true, ordering: .releasing)
  }

  /// The oldest delivery, which stays in the inbox.
  func nextDelivery() -> ChangeLayer? { _state.withLock { $0.inbox.first } }

  /// Removes the oldest delivery and pushes the layer that the context made from it.
  func completeDelivery(as layer: ChangeLayer) {
    let layers = _pushed(layer)
    _hasLayers.store(!layers.isEmpty, ordering: .releasing)
    _state.withLock { state in
      state.layers = layers
      state.inbox.removeFirst()
      state.deliveryRevision += 1
      if state.inbox.isEmpty { _hasDeliveries.store(false, ordering: .releasing) }
    }
  }

  /// Whether the context has unpublished changes.
  @inline(__always)
  var isStale: Bool { _published.load(ordering: .acquiring) != _noted.load(ordering: .acquiring) }

  /// The number of changes so far. Read it before collecting the changes.
  var noted: Int { _noted.load(ordering: .acquiring) }

  /// True once a child has attached.
  @inline(__always)
  var hasReaders: Bool { _hasReaders.load(ordering: .acquiring) }

  /// Adds a child. Any thread may call it, while the context changes its objects on its queue.
  func addReader(_ child: NSManagedObjectContext) {
    _state.withLock { state in
      state.readers.removeAll { $0.context == nil || $0.context === child }
      state.readers.append(WeakContext(context: child))
    }
    _hasReaders.store(true, ordering: .sequentiallyConsistent)
    if _hasUncounted.exchange(false, ordering: .sequentiallyConsistent) { markStale() }
  }

  /// The children that are in use.
  var readers: [NSManagedObjectContext] { _state.withLock { $0.readers }.compactMap(\.context) }

  /// Counts a change. Costs two loads until a child has attached.
  @inline(__always)
  func markStale() {
    if hasReaders {
      _noted.wrappingAdd(1, ordering: .releasing)
    } else if !_hasUncounted.load(ordering: .relaxed) {
      _markUncounted()
    }
  }

  /// Notes a change for the first child. One that attaches meanwhile sees the note, or is seen here.
  @inline(never)
  private func _markUncounted() {
    _hasUncounted.store(true, ordering: .sequentiallyConsistent)
    if _hasReaders.load(ordering: .sequentiallyConsistent),
      _hasUncounted.exchange(false, ordering: .sequentiallyConsistent)
    {
      _noted.wrappingAdd(1, ordering: .releasing)
    }
  }

  /// Marks changes as published. Call it once their layer is in place: a reader that finds nothing stale does
  /// not wait for the context and must find them.
  func markFresh(upTo noted: Int) { _published.store(noted, ordering: .releasing) }

  /// Notes that the context has saved its changes.
  func forgetUncounted() { _hasUncounted.store(false, ordering: .relaxed) }

  /// Pushes a layer. Layers of similar size are merged, so that their number stays small and each change is
  /// merged a logarithmic number of times.
  func push(_ layer: ChangeLayer) {
    replace(with: _pushed(layer))
  }

  private func _pushed(_ layer: ChangeLayer) -> [ChangeLayer] {
    var layers = self.layers
    guard !layer.entries.isEmpty else { return layers }
    layers.append(layer)
    while layers.count >= 2,
      layers[layers.count - 1].entries.count * 2 >= layers[layers.count - 2].entries.count
        || layers.count > 6 && layers.count >= 2
    {
      let newer = layers.removeLast()
      let older = layers.removeLast()
      layers.append(ChangeLayer.merged(older, newer))
    }
    return layers
  }

  func replace(with layers: [ChangeLayer]) {
    _hasLayers.store(!layers.isEmpty, ordering: .releasing)
    _state.withLock { state in
      state.layers = layers
      state.withdrawn = IdentitySet()
    }
  }

  /// Removes an object's entry from the layers. Many entries are removed at the cost of one pass, unless the
  /// layers are read in between.
  ///
  /// - Returns: The entry, if there was one.
  func withdraw(_ id: NSManagedObjectID) -> ChangeLayer.Entry? {
    guard _hasLayers.load(ordering: .acquiring) else { return nil }
    return _state.withLock { state in
      guard !state.withdrawn.contains(id), let entry = state.layers.entry(for: IdentityKey(id)) else {
        return nil
      }
      state.withdrawn.insert(id)
      return entry
    }
  }

  /// Drops the layers that the context has accepted; pending deliveries stay.
  func clear() { replace(with: []) }
}
