/// A list that is extended at its end and shortened at its start, both in constant time.
///
/// An element that was taken out is released at once.
struct Deque<Element>: Sequence {
  /// Nil before `_first`.
  private var _elements: [Element?] = []
  private var _first = 0

  init() {}

  init(_ elements: some Sequence<Element>) { _elements = Array(elements) }

  var count: Int { _elements.count - _first }
  var isEmpty: Bool { count == 0 }
  var first: Element? { isEmpty ? nil : _elements[_first] }

  var last: Element? { isEmpty ? nil : _elements[_elements.count - 1] }

  mutating func append(_ element: Element) { _elements.append(element) }

  /// Replaces the newest element, if there is one.
  mutating func replaceLast(with element: Element) {
    if !isEmpty { _elements[_elements.count - 1] = element }
  }

  /// Removes and returns the oldest element.
  mutating func popFirst() -> Element? {
    if isEmpty { return nil }
    let element = _elements[_first].take()
    _first += 1
    if isEmpty {
      _elements.removeAll(keepingCapacity: _elements.count <= 16)
      _first = 0
    } else if _first >= 64, _first * 2 >= _elements.count {
      _elements.removeFirst(_first)
      _first = 0
    }
    return element
  }

  /// Puts elements before the oldest one.
  mutating func prepend(contentsOf elements: [Element]) {
    let start = Swift.max(0, _first - elements.count)
    _elements.replaceSubrange(start..<_first, with: elements.map(Optional.some))
    _first = start
  }

  func makeIterator() -> AnyIterator<Element> {
    var position = _first
    return AnyIterator {
      guard position < _elements.count else { return nil }
      defer { position += 1 }
      return _elements[position]
    }
  }
}

extension Deque: Sendable where Element: Sendable {}
