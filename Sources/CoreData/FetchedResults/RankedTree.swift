/// A sequence that finds an element by its position, and the position by the element's handle, in O(log n).
///
/// A weight-balanced tree: balancing uses the subtree counts that positions need anyway. Nodes are in one
/// array and refer to each other by index, so that neither traversal nor deallocation of the tree involves
/// reference counting. The caller determines the order: elements stay where they are inserted, and
/// `partitionPoint(where:)` finds that position.
struct RankedTree<Element> {
  /// Identifies an element as long as it is in the tree, even if it moves.
  struct Handle: Hashable {
    fileprivate let number: Int32

    /// The handle of an element that is not in a tree.
    static var none: Handle { Handle(number: -1) }
  }

  private struct Node {
    var element: Element?
    var left: Int32 = -1
    var right: Int32 = -1
    var parent: Int32 = -1
    var count: Int32 = 1
    /// Orders like the elements, as far as a number can.
    var rank: UInt64 = 0
  }

  private var _nodes: [Node] = []
  private var _free: [Int32] = []
  private var _root: Int32 = -1

  /// Creates an empty tree.
  init() {}

  /// Creates a tree of elements in order, in O(n).
  ///
  /// - Parameters:
  ///   - rank: Returns a number for each element, for `partitionPoint(beside:where:)`.
  ///   - placed: Receives the handle of each element.
  init(
    _ elements: some Collection<Element>, rank: (Element) -> UInt64 = { _ in 0 },
    placed: (Element, Handle) -> Void = { _, _ in }
  ) {
    _nodes.reserveCapacity(elements.count)
    for element in elements {
      placed(element, Handle(number: Int32(_nodes.count)))
      _nodes.append(Node(element: element, rank: rank(element)))
    }
    _root = _link(0..<Int32(_nodes.count), parent: -1)
  }

  private mutating func _link(_ range: Range<Int32>, parent: Int32) -> Int32 {
    guard !range.isEmpty else { return -1 }
    let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
    let left = _link(range.lowerBound..<middle, parent: middle)
    let right = _link((middle + 1)..<range.upperBound, parent: middle)
    _nodes[Int(middle)].left = left
    _nodes[Int(middle)].right = right
    _nodes[Int(middle)].parent = parent
    _nodes[Int(middle)].count = Int32(range.count)
    return middle
  }

  // MARK: Reading

  /// Number of elements.
  var count: Int { Int(_count(_root)) }

  var isEmpty: Bool { _root < 0 }

  var first: Element? { isEmpty ? nil : self[0] }

  var last: Element? { isEmpty ? nil : self[count - 1] }

  /// The element at a position.
  subscript(position: Int) -> Element { _nodes[Int(_node(at: position))].element! }

  /// The element of a handle.
  subscript(handle: Handle) -> Element { _nodes[Int(handle.number)].element! }

  /// Position of an element.
  func position(of handle: Handle) -> Int {
    var node = handle.number
    var position = _count(_nodes[Int(node)].left)
    while true {
      let parent = _nodes[Int(node)].parent
      if parent < 0 { return Int(position) }
      if _nodes[Int(parent)].right == node { position += _count(_nodes[Int(parent)].left) + 1 }
      node = parent
    }
  }

  /// Returns the first position whose element does not satisfy `isBefore`; all that do must come first.
  func partitionPoint(where isBefore: (Element) throws -> Bool) rethrows -> Int {
    var node = _root
    var position: Int32 = 0
    while node >= 0 {
      if try isBefore(_nodes[Int(node)].element!) {
        position += _count(_nodes[Int(node)].left) + 1
        node = _nodes[Int(node)].right
      } else {
        node = _nodes[Int(node)].left
      }
    }
    return Int(position)
  }

  /// Returns the first position whose element does not satisfy `isBefore`, which is called only for elements
  /// of this rank: those of smaller rank count as satisfying it, those of greater rank as not. Ranks are in
  /// the nodes, so other elements are not accessed.
  func partitionPoint(beside rank: UInt64, where isBefore: (Element) throws -> Bool) rethrows -> Int {
    var node = _root
    var position: Int32 = 0
    while node >= 0 {
      let other = _nodes[Int(node)].rank
      if try other == rank ? isBefore(_nodes[Int(node)].element!) : other < rank {
        position += _count(_nodes[Int(node)].left) + 1
        node = _nodes[Int(node)].right
      } else {
        node = _nodes[Int(node)].left
      }
    }
    return Int(position)
  }

  /// All elements in order.
  var elements: [Element] {
    var result: [Element] = []
    result.reserveCapacity(count)
    forEach { result.append($0) }
    return result
  }

  /// Visits the elements in order.
  func forEach(_ body: (Element) throws -> Void) rethrows {
    var path: [Int32] = []
    var node = _root
    while node >= 0 || !path.isEmpty {
      while node >= 0 {
        path.append(node)
        node = _nodes[Int(node)].left
      }
      let next = path.removeLast()
      try body(_nodes[Int(next)].element!)
      node = _nodes[Int(next)].right
    }
  }

  private func _count(_ node: Int32) -> Int32 { node < 0 ? 0 : _nodes[Int(node)].count }

  private func _node(at position: Int) -> Int32 {
    precondition(position >= 0 && position < count, "position out of range")
    var node = _root
    var position = Int32(position)
    while true {
      let before = _count(_nodes[Int(node)].left)
      if position == before { return node }
      if position < before {
        node = _nodes[Int(node)].left
      } else {
        position -= before + 1
        node = _nodes[Int(node)].right
      }
    }
  }

  // MARK: Changing

  /// Inserts an element at a position.
  @discardableResult
  mutating func insert(_ element: Element, at position: Int, rank: UInt64 = 0) -> Handle {
    precondition(position >= 0 && position <= count, "position out of range")
    let new = _makeNode(element, rank)
    if _root < 0 {
      _root = new
      return Handle(number: new)
    }
    var node = _root
    var position = Int32(position)
    while true {
      let before = _count(_nodes[Int(node)].left)
      if position <= before {
        let left = _nodes[Int(node)].left
        if left < 0 {
          _nodes[Int(node)].left = new
          break
        }
        node = left
      } else {
        position -= before + 1
        let right = _nodes[Int(node)].right
        if right < 0 {
          _nodes[Int(node)].right = new
          break
        }
        node = right
      }
    }
    _nodes[Int(new)].parent = node
    _rebalance(from: node)
    return Handle(number: new)
  }

  /// Removes an element and invalidates its handle.
  @discardableResult
  mutating func remove(_ handle: Handle) -> Element {
    let node = handle.number
    let (left, right, parent) = (_nodes[Int(node)].left, _nodes[Int(node)].right, _nodes[Int(node)].parent)
    var start = parent
    if left >= 0, right >= 0 {
      // The next element in order replaces it; it has no left child.
      var next = right
      while _nodes[Int(next)].left >= 0 { next = _nodes[Int(next)].left }
      start = _nodes[Int(next)].parent
      if start == node {
        start = next
      } else {
        _replace(next, by: _nodes[Int(next)].right, under: start)
        _attach(right, toRightOf: next)
      }
      _attach(left, toLeftOf: next)
      _replace(node, by: next, under: parent)
    } else {
      _replace(node, by: left >= 0 ? left : right, under: parent)
    }
    _rebalance(from: start)
    let element = _nodes[Int(node)].element!
    _nodes[Int(node)] = Node(element: nil)
    _free.append(node)
    return element
  }

  /// Changes the rank of an element that stays in place.
  mutating func setRank(_ rank: UInt64, of handle: Handle) { _nodes[Int(handle.number)].rank = rank }

  private mutating func _makeNode(_ element: Element, _ rank: UInt64) -> Int32 {
    if let number = _free.popLast() {
      _nodes[Int(number)] = Node(element: element, rank: rank)
      return number
    }
    _nodes.append(Node(element: element, rank: rank))
    return Int32(_nodes.count - 1)
  }

  // MARK: Balance

  /// Recounts and rebalances the path from a node to the root.
  private mutating func _rebalance(from start: Int32) {
    var node = start
    while let tilted = _recount(upwardsFrom: node) { node = _nodes[Int(_balanced(tilted))].parent }
  }

  /// Recounts the path from a node to the root, up to the first node that is out of balance.
  private mutating func _recount(upwardsFrom start: Int32) -> Int32? {
    // Without a check of each index: an insertion into ten thousand elements recounts fourteen.
    _nodes.withUnsafeMutableBufferPointer { buffer in
      guard let nodes = buffer.baseAddress else { return nil }
      var node = start
      while node >= 0 {
        let (left, right) = (nodes[Int(node)].left, nodes[Int(node)].right)
        let leftCount = left < 0 ? 0 : nodes[Int(left)].count
        let rightCount = right < 0 ? 0 : nodes[Int(right)].count
        nodes[Int(node)].count = leftCount + rightCount + 1
        if Self._isTilted(leftCount + 1, rightCount + 1) || Self._isTilted(rightCount + 1, leftCount + 1) {
          return node
        }
        node = nodes[Int(node)].parent
      }
      return nil
    }
  }

  /// Whether one side of a node is too light for the other (ratio 3: Hirai and Yamamoto's constant).
  @inline(__always)
  private static func _isTilted(_ weight: Int32, _ other: Int32) -> Bool { weight * 3 < other }

  /// Balances the subtree of `node`, whose count is right, and returns its root (double rotation from 2: their other
  /// constant).
  private mutating func _balanced(_ node: Int32) -> Int32 {
    let (left, right) = (_nodes[Int(node)].left, _nodes[Int(node)].right)
    let (leftWeight, rightWeight) = (_count(left) + 1, _count(right) + 1)
    if Self._isTilted(leftWeight, rightWeight) {
      if _count(_nodes[Int(right)].left) + 1 >= 2 * (_count(_nodes[Int(right)].right) + 1) {
        _rotateRight(right)
      }
      return _rotateLeft(node)
    }
    if Self._isTilted(rightWeight, leftWeight) {
      if _count(_nodes[Int(left)].right) + 1 >= 2 * (_count(_nodes[Int(left)].left) + 1) { _rotateLeft(left) }
      return _rotateRight(node)
    }
    return node
  }

  @discardableResult
  private mutating func _rotateLeft(_ node: Int32) -> Int32 {
    let top = _nodes[Int(node)].right
    _replace(node, by: top, under: _nodes[Int(node)].parent)
    _attach(_nodes[Int(top)].left, toRightOf: node)
    _attach(node, toLeftOf: top)
    _recount(node)
    _recount(top)
    return top
  }

  @discardableResult
  private mutating func _rotateRight(_ node: Int32) -> Int32 {
    let top = _nodes[Int(node)].left
    _replace(node, by: top, under: _nodes[Int(node)].parent)
    _attach(_nodes[Int(top)].right, toLeftOf: node)
    _attach(node, toRightOf: top)
    _recount(node)
    _recount(top)
    return top
  }

  private mutating func _recount(_ node: Int32) {
    _nodes[Int(node)].count = _count(_nodes[Int(node)].left) + _count(_nodes[Int(node)].right) + 1
  }

  private mutating func _attach(_ child: Int32, toLeftOf node: Int32) {
    _nodes[Int(node)].left = child
    if child >= 0 { _nodes[Int(child)].parent = node }
  }

  private mutating func _attach(_ child: Int32, toRightOf node: Int32) {
    _nodes[Int(node)].right = child
    if child >= 0 { _nodes[Int(child)].parent = node }
  }

  private mutating func _replace(_ old: Int32, by new: Int32, under parent: Int32) {
    if new >= 0 { _nodes[Int(new)].parent = parent }
    if parent < 0 {
      _root = new
    } else if _nodes[Int(parent)].left == old {
      _nodes[Int(parent)].left = new
    } else {
      _nodes[Int(parent)].right = new
    }
  }

  /// Length of the longest path from the root to a leaf, for tests.
  var depth: Int {
    func depth(_ node: Int32) -> Int {
      node < 0 ? 0 : 1 + Swift.max(depth(_nodes[Int(node)].left), depth(_nodes[Int(node)].right))
    }
    return depth(_root)
  }

  /// What contradicts itself in the tree, for tests.
  var inconsistencies: [String] {
    var found: [String] = []
    var seen = 0
    func visit(_ node: Int32, under parent: Int32) {
      if node < 0 { return }
      seen += 1
      let (left, right) = (_nodes[Int(node)].left, _nodes[Int(node)].right)
      if _nodes[Int(node)].parent != parent { found.append("node \(node) is not below its parent") }
      if _nodes[Int(node)].element == nil { found.append("node \(node) has no element") }
      if _nodes[Int(node)].count != _count(left) + _count(right) + 1 {
        found.append("node \(node) is miscounted")
      }
      if Self._isTilted(_count(left) + 1, _count(right) + 1)
        || Self._isTilted(_count(right) + 1, _count(left) + 1)
      {
        found.append("node \(node) is out of balance")
      }
      visit(left, under: node)
      visit(right, under: node)
    }
    visit(_root, under: -1)
    if seen + _free.count != _nodes.count {
      found.append("\(_nodes.count - seen - _free.count) nodes are lost")
    }
    return found
  }
}
