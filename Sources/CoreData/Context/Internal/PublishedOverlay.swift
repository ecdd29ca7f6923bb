import Synchronization

/// What a context shows of its unsaved state: layers, oldest first, readable from any thread.
final class PublishedOverlay: Sendable {
  private struct State {
    var layers: [Layer] = []
    /// Saves of children that the context has not looked at yet; on top of `layers`.
    var inbox = Inbox()
    /// Raised with each change of the inbox.
    var mail = 0
  }

  private let _state = Mutex(State())
  private let _hasMail = Atomic<Bool>(false)
  /// Changes noted so far, and how many of them had been noted when the last published state was collected.
  private let _noted = Atomic<Int>(0)
  private let _published = Atomic<Int>(0)
  private let _hasReaders = Atomic<Bool>(false)

  /// The layers that the context has taken over.
  var layers: [Layer] { _state.withLock { $0.layers } }

  /// All layers as children read them, those still on their way included.
  var visibleLayers: [Layer] { visibleLayers { $0.layers() } }

  /// All layers as children read them. Those on their way are put together outside of the lock, which the main
  /// queue takes to deliver.
  ///
  /// - Parameter putTogether: Makes the layers of an inbox.
  func visibleLayers(_ putTogether: (inout Inbox) -> [Layer]) -> [Layer] {
    var (layers, inbox, mail) = _state.withLock { ($0.layers, $0.inbox, $0.mail) }
    if inbox.isEmpty { return layers }
    layers += putTogether(&inbox)
    // Kept for the next reader, unless something has come or gone meanwhile.
    let tidy = inbox
    _state.withLock { state in
      if state.mail == mail { state.inbox = tidy }
    }
    return layers
  }

  /// Whether children have delivered saves that the context has not looked at yet.
  var hasMail: Bool { _hasMail.load(ordering: .acquiring) }

  /// Hands a child's save over without visiting the context's queue.
  func deliver(_ layer: Layer) {
    _state.withLock { state in
      state.inbox.append(layer)
      state.mail += 1
    }
    _hasMail.store(true, ordering: .releasing)
  }

  /// The oldest delivery, without taking it out.
  func nextDelivery() -> Layer? { _state.withLock { $0.inbox.first } }

  /// Removes the oldest delivery and pushes the layer that the context made of it.
  func completeDelivery(as layer: Layer) {
    let layers = _pushed(layer)
    _state.withLock { state in
      state.layers = layers
      state.inbox.removeFirst()
      state.mail += 1
      if state.inbox.isEmpty { _hasMail.store(false, ordering: .releasing) }
    }
  }

  /// Whether the context has changes it has not published yet.
  var isStale: Bool { _published.load(ordering: .acquiring) != _noted.load(ordering: .acquiring) }

  /// Mark of the changes noted so far, to be taken before they are collected.
  var noted: Int { _noted.load(ordering: .acquiring) }

  /// True once a child has attached.
  var hasReaders: Bool { _hasReaders.load(ordering: .acquiring) }

  func addReader() { _hasReaders.store(true, ordering: .releasing) }

  /// Notes a change. Costs nothing until a child has attached.
  func markStale() {
    if hasReaders { _noted.wrappingAdd(1, ordering: .releasing) }
  }

  /// Notes that changes are published, once their layer is there: a reader that finds nothing stale does not
  /// wait for the context, and must find them.
  func markFresh(upTo noted: Int) { _published.store(noted, ordering: .releasing) }

  /// Lays a layer on top. Layers of like size are merged, so that there are never many and each change is
  /// merged a logarithmic number of times.
  func push(_ layer: Layer) {
    let layers = _pushed(layer)
    _state.withLock { $0.layers = layers }
  }

  private func _pushed(_ layer: Layer) -> [Layer] {
    var layers = self.layers
    guard !layer.entries.isEmpty else { return layers }
    layers.append(layer)
    while layers.count >= 2,
      layers[layers.count - 1].entries.count * 2 >= layers[layers.count - 2].entries.count
        || layers.count > 6 && layers.count >= 2
    {
      let newer = layers.removeLast()
      let older = layers.removeLast()
      layers.append(Layer.merged(older, newer))
    }
    return layers
  }

  func replace(with layers: [Layer]) { _state.withLock { $0.layers = layers } }

  /// Forgets what the context has taken over; what is still on its way stays.
  func clear() { _state.withLock { $0.layers = [] } }
}
