import Foundation

/// The entries of a dictionary in a property list, in the order in which they were added.
///
/// An archived object has about ten fields: comparing a mark of each key costs less than hashing, and
/// building the list a fraction of building a hash table. Untrusted input may contain dictionaries of any
/// size, so longer ones have an index.
package struct PlistFields: Sendable, ExpressibleByDictionaryLiteral, Sequence {
  /// A key with a number that distinguishes it from most others.
  struct Name: Sendable {
    let text: String
    fileprivate let mark: UInt64

    init(_ name: String) {
      text = name
      var bytes = name
      mark = bytes.withUTF8 { bytes in
        // Keys share prefixes, so the last bytes differ more often than the first. Copied, as a loop over them
        // is most of reading a model in a debug build.
        var mark: UInt64 = 0
        let count = Swift.min(8, bytes.count)
        if count > 0, let first = bytes.baseAddress {
          memcpy(&mark, first + (bytes.count - count), count)
        }
        return mark ^ UInt64(truncatingIfNeeded: bytes.count) &<< 56
      }
    }
  }

  private var _names: [String] = []
  private var _marks: [UInt64] = []
  private var _values: [PlistValue] = []
  /// Positions of the entries by key; nil while there are few.
  private var _positions: [String: Int]?
  private static let _mostWithoutIndex = 32

  package init() {}

  package init(dictionaryLiteral entries: (String, PlistValue)...) {
    for (key, value) in entries { self[key] = value }
  }

  package var count: Int { _names.count }

  package var keys: [String] { _names }

  package var values: [PlistValue] { _values }

  package subscript(name: String) -> PlistValue? {
    get { _position(Name(name)).map { _values[$0] } }
    set {
      guard let newValue else { preconditionFailure("fields are replaced, never removed") }
      set(newValue, for: Name(name))
    }
  }

  /// Adds a field, or replaces the value of an existing one.
  mutating func set(_ value: PlistValue, for key: Name) {
    if let position = _position(key) {
      _values[position] = value
      return
    }
    _names.append(key.text)
    _marks.append(key.mark)
    _values.append(value)
    if _positions != nil {
      _positions![key.text] = _names.count - 1
    } else if _names.count > Self._mostWithoutIndex {
      // Two names may be one to Swift and of other bytes.
      _positions = Dictionary(
        _names.indices.map { (_names[$0], $0) }, uniquingKeysWith: { _, later in later })
    }
  }

  mutating func reserveCapacity(_ count: Int) {
    _names.reserveCapacity(count)
    _marks.reserveCapacity(count)
    _values.reserveCapacity(count)
  }

  private func _position(_ key: Name) -> Int? {
    if let _positions { return _positions[key.text] }
    return _marks.withUnsafeBufferPointer { marks in
      guard let first = marks.baseAddress else { return nil }
      var position = 0
      while position < marks.count {
        if first[position] == key.mark, _names[position] == key.text { return position }
        position &+= 1
      }
      return nil
    }
  }

  package func makeIterator() -> AnyIterator<(key: String, value: PlistValue)> {
    var position = 0
    return AnyIterator { [_names, _values] in
      guard position < _names.count else { return nil }
      defer { position += 1 }
      return (_names[position], _values[position])
    }
  }
}

extension PlistFields: Hashable {
  /// Whether both have the same fields, in any order.
  package static func == (one: PlistFields, other: PlistFields) -> Bool {
    one.count == other.count
      && one._names.indices.allSatisfy { index in
        other[one._names[index]].map { $0 == one._values[index] } ?? false
      }
  }

  package func hash(into hasher: inout Hasher) {
    var sum = 0
    for (name, value) in zip(_names, _values) {
      var own = Hasher()
      own.combine(name)
      own.combine(value)
      sum ^= own.finalize()
    }
    hasher.combine(sum)
  }
}
