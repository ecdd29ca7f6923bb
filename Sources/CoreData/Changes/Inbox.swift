/// Saves of children on their way into a context that has not looked at them yet, oldest first.
///
/// They are taken out one by one, as they came. Readers get them put together eight by eight, eights to
/// sixty-fours, and so on, so that they look through few layers however far the context has fallen behind.
struct Inbox: Sendable {
  private enum Node: Sendable {
    case delivery(Layer)
    /// The parts stay at hand: when the first is taken out, the others are read on their own.
    case merged(Layer, level: Int, parts: [Node])

    var layer: Layer {
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
  private var _nodes: [Node] = []
  /// Whether something has come since layers were last put together.
  private var _isUntidy = false

  var isEmpty: Bool { _nodes.isEmpty }

  mutating func append(_ layer: Layer) {
    _nodes.append(.delivery(layer))
    _isUntidy = true
  }

  /// The oldest delivery.
  var first: Layer? {
    var node = _nodes.first
    while case .merged(_, _, let parts)? = node { node = parts.first }
    guard case .delivery(let layer)? = node else { return nil }
    return layer
  }

  mutating func removeFirst() {
    while case .merged(_, _, let parts)? = _nodes.first { _nodes.replaceSubrange(0...0, with: parts) }
    _nodes.removeFirst()
  }

  /// The layers that readers look through, oldest first. Built on demand: without readers it costs nothing.
  mutating func layers() -> [Layer] {
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
    _nodes = tidy
    _isUntidy = false
  }

  /// Neighbours first: each change is gone through as often as there are levels, not as there are layers.
  private static func _merged(_ layers: [Layer]) -> Layer {
    var layers = layers
    while layers.count > 1 {
      layers = stride(from: 0, to: layers.count, by: 2).map { index in
        index + 1 < layers.count ? Layer.merged(layers[index], layers[index + 1]) : layers[index]
      }
    }
    return layers[0]
  }
}
