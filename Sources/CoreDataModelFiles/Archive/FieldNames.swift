import Foundation

/// The names of the fields in a keyed archive: each has a number, so that looking one up compares numbers.
///
/// An archive has some sixty names, each one string that all of its objects refer to; a writer may repeat a string, so
/// each that is a key gets the number of its text.
final class FieldNames {
  /// A name as the reader writes it.
  private struct Literal {
    var address: UInt
    /// The number of the name; -1 if no object has a field of this name.
    var number: Int32
    /// Where the name was last found among the keys of an object: objects of one class have the same keys.
    var position: Int
  }

  private let _table: BinaryPlistTable
  /// Numbers of the strings that are keys, by their index in the table; -1 for all else.
  private let _numbers: UnsafeMutablePointer<Int32>
  private var _numbersByText: [String: Int32] = [:]
  /// The literals asked for so far: an open hash table over their addresses.
  private let _literals: UnsafeMutablePointer<Literal>
  private var _literalCount = 0
  private static let _slots = 512

  init(_ table: BinaryPlistTable) {
    _table = table
    _numbers = .allocate(capacity: table.count)
    _numbers.initialize(repeating: -1, count: table.count)
    _literals = .allocate(capacity: Self._slots)
    _literals.initialize(repeating: Literal(address: 0, number: -1, position: 0), count: Self._slots)
    var index = 0
    while index < table.count {
      if table.kind(index) == .dictionary { _number(table.entries(index)) }
      index &+= 1
    }
  }

  deinit {
    _numbers.deallocate()
    _literals.deallocate()
  }

  private func _number(_ keys: BinaryPlistTable.References) {
    var position = 0
    while position < keys.count {
      let key = keys[position]
      if _numbers[key] < 0 {
        let next = Int32(truncatingIfNeeded: _numbersByText.count)
        let text = _table.string(key)
        let known = _numbersByText[text]
        if known == nil { _numbersByText[text] = next }
        _numbers[key] = known ?? next
      }
      position &+= 1
    }
  }

  /// Returns the index of the value that a dictionary, given by its entries, has for a name; nil if it has none.
  func value(of name: StaticString, in entries: BinaryPlistTable.References) -> Int? {
    let literal = _literal(name)
    let number = literal.pointee.number
    guard number >= 0 else { return nil }
    var position = literal.pointee.position
    if position >= entries.count || _numbers[entries[position]] != number {
      position = 0
      while position < entries.count, _numbers[entries[position]] != number { position &+= 1 }
      guard position < entries.count else { return nil }
      literal.pointee.position = position
    }
    return entries[entries.count &+ position]
  }

  /// Returns the value that a dictionary has for a name; null for a collection.
  func scalar(of name: StaticString, in entries: BinaryPlistTable.References) -> PlistValue? {
    guard let value = value(of: name, in: entries) else { return nil }
    return _table.scalar(value)
  }

  /// Returns all entries of a dictionary; null for collections.
  func scalars(in entries: BinaryPlistTable.References) -> [(name: String, value: PlistValue)] {
    (0..<entries.count).map { (_table.string(entries[$0]), _table.scalar(entries[entries.count + $0])) }
  }

  /// Returns what is known of a name, valid until the next call.
  private func _literal(_ name: StaticString) -> UnsafeMutablePointer<Literal> {
    let address = UInt(bitPattern: name.utf8Start)
    var slot = Int(bitPattern: address &>> 2) & (Self._slots &- 1)
    while _literals[slot].address != address {
      if _literals[slot].address == 0 {
        // One place stays free, where the search for an unknown literal ends, and serves all that find no other.
        if _literalCount < Self._slots - 1 {
          _literals[slot].address = address
          _literalCount += 1
        }
        _literals[slot].number = _numbersByText["\(name)"] ?? -1
        break
      }
      slot = (slot &+ 1) & (Self._slots &- 1)
    }
    return _literals + slot
  }
}
