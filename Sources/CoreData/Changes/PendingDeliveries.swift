/// Children's saves delivered to a context that has not accepted them yet, oldest first.
///
/// The context takes them out one by one, unchanged. For readers they are merged in groups of eight, eight
/// groups into one of sixty-four, and so on, so that readers search few layers however far the context falls
/// behind.
struct PendingDeliveries: Sendable {
  private enum Node: Sendable {
    case delivery(ChangeLayer)
    /// The parts are kept: once the first is taken out, the others are read separately.
    case merged(ChangeLayer, level: Int, parts: [Node])

    var layer: ChangeLayer {
      switch self {
      case .delivery(let layer): layer
      case .merged(let layer, _, _): layer
      }
    }

    var level: Int {
      switch self {
      case .delivery: 0
      case .merged(_, let level, _): level
      }
    }
  }

  private static let _width = 8
  private var _nodes = Deque<Node>()
  /// Whether a delivery has arrived since layers were last merged.
  private var _isUntidy = false

  var isEmpty: Bool { _nodes.isEmpty }

  mutating func append(_ layer: ChangeLayer) {
    _nodes.append(.delivery(layer))
    _isUntidy = true
  }

  /// The oldest delivery.
  var first: ChangeLayer? {
    var node = _nodes.first
    while case .merged(_, _, let parts)? = node { node = parts.first }
    guard case .delivery(let layer)? = node else { return nil }
    return layer
  }

  mutating func removeFirst() {
    while case .merged(_, _, let parts)? = _nodes.popFirst() { _nodes.prepend(contentsOf: parts) }
  }

  /// The layers for readers, oldest first. Built on demand, so free without readers.
  mutating func layers() -> [ChangeLayer] {
    if _isUntidy { _tidy() }
    return _nodes.map(\.layer)
  }

  private mutating func _tidy() {
    var tidy: [Node] = []
    for node in _nodes {
      tidy.append(node)
      while tidy.count >= Self._width, let level = tidy.last?.level,
        tidy.suffix(Self._width).allSatisfy({ $0.level == level })
      {
        let parts = Array(tidy.suffix(Self._width))
        tidy.removeLast(Self._width)
        tidy.append(.merged(Self._merged(parts.map(\.layer)), level: level + 1, parts: parts))
      }
    }
    _nodes = Deque(tidy)
    _isUntidy = false
  }

  /// Merges neighbours first, so that each change is visited once per level, not once per layer.
  private static func _merged(_ layers: [ChangeLayer]) -> ChangeLayer {
    var layers = layers
    while layers.count > 1 {
      layers = stride(from: 0, to: layers.count, by: 2).map { index in
        index + 1 < layers.count ? ChangeLayer.merged(layers[index], layers[index + 1]) : layers[index]
      }
    }
    return layers[0]
  }
}
