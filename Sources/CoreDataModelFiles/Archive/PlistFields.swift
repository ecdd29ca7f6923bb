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
        // Keys share prefixes, so the last bytes differ more often than the first.
        var mark: UInt64 = 0
        let count = Swift.min(8, bytes.count)
        if count > 0, let first = bytes.baseAddress {
          memcpy(&mark, first + (bytes.count - count), count)
        }
        return mark ^ UInt64(truncatingIfNeeded: bytes.count) &<< 56
      }
    }
  }

  private struct Entry: Sendable {
    let key: Name
    var value: PlistValue
  }

  private var _entries: [Entry] = []
  /// Positions of the entries by key; nil while there are few.
  private var _positions: [String: Int]?
  private static let _mostWithoutIndex = 32

  package init() {}

  package init(dictionaryLiteral entries: (String, PlistValue)...) {
    for (key, value) in entries { self[key] = value }
  }

  package var count: Int { _entries.count }

  package var keys: [String] { _entries.map(\.key.text) }

  package var values: [PlistValue] { _entries.map(\.value) }

  package subscript(name: String) -> PlistValue? {
    get { _position(Name(name)).map { _entries[$0].value } }
    set {
      guard let newValue else { preconditionFailure("fields are replaced, never removed") }
      set(newValue, for: Name(name))
    }
  }

  /// Adds a field, or replaces the value of an existing one.
  mutating func set(_ value: PlistValue, for key: Name) {
    if let position = _position(key) {
      _entries[position].value = value
      return
    }
    _entries.append(Entry(key: key, value: value))
    if _positions != nil {
      _positions![key.text] = _entries.count - 1
    } else if _entries.count > Self._mostWithoutIndex {
      // Two names may be one to Swift and of other bytes.
      _positions = Dictionary(
        _entries.indices.map { (_entries[$0].key.text, $0) }, uniquingKeysWith: { _, later in later })
    }
  }

  mutating func reserveCapacity(_ count: Int) { _entries.reserveCapacity(count) }

  private func _position(_ key: Name) -> Int? {
    if let _positions { return _positions[key.text] }
    // A pointer's elements are read in place: in a debug build, an array's are copied whole.
    return _entries.withUnsafeBufferPointer { entries in
      guard let first = entries.baseAddress else { return nil }
      var position = 0
      while position < entries.count {
        if first[position].key.mark == key.mark, first[position].key.text == key.text { return position }
        position &+= 1
      }
      return nil
    }
  }

  package func makeIterator() -> AnyIterator<(key: String, value: PlistValue)> {
    var position = 0
    return AnyIterator { [_entries] in
      guard position < _entries.count else { return nil }
      defer { position += 1 }
      return (_entries[position].key.text, _entries[position].value)
    }
  }
}

extension PlistFields: Hashable {
  /// Whether both have the same fields, in any order.
  package static func == (one: PlistFields, other: PlistFields) -> Bool {
    one.count == other.count
      && one._entries.allSatisfy { entry in
        other._position(entry.key).map { other._entries[$0].value == entry.value } ?? false
      }
  }

  package func hash(into hasher: inout Hasher) {
    var sum = 0
    for entry in _entries {
      var own = Hasher()
      own.combine(entry.key.text)
      own.combine(entry.value)
      sum ^= own.finalize()
    }
    hasher.combine(sum)
  }
}
