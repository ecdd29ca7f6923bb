/// A cell of a packed Row, in place. A text is valid as long as the Row.
package enum PackedCell {
  case null
  case int(Int64)
  case double(Double)
  case text(UnsafeBufferPointer<UInt8>)
  /// The 16 bytes of a UUID.
  case uuid(UnsafeBufferPointer<UInt8>)
  /// A cell that is read as a Value: a decimal, data, a transformable or a composite.
  case other

  /// Returns a negative number, zero or a positive number in SQLite's order: null first, numbers by value,
  /// texts by their bytes.
  @inline(__always)
  static func order(_ left: PackedCell, _ right: PackedCell) -> Int {
    switch (left, right) {
    case (.int(let l), .int(let r)): l < r ? -1 : l == r ? 0 : 1
    case (.double(let l), .double(let r)): l < r ? -1 : l == r ? 0 : 1
    case (.text(let l), .text(let r)): _order(l, r)
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    // All cells of a slot have the same kind.
    default: 0
    }
  }

  private static func _order(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    let count = min(left.count, right.count)
    for index in 0..<count where left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
    return left.count - right.count
  }

  /// Returns the rank of a value that can be packed; zero for any other.
  static func rank(of value: Value) -> UInt64 {
    switch value {
    case .int(let number): return PackedCell.int(number).rank
    case .double(let number): return PackedCell.double(number).rank
    case .string(var text): return text.withUTF8 { PackedCell.text($0).rank }
    default: return 0
    }
  }

  /// A number that orders like the cell, as far as possible; for equal ranks compare the cells.
  @inline(__always)
  var rank: UInt64 {
    switch self {
    case .null: return 0
    case .int(let number): return UInt64(bitPattern: number) ^ (1 << 63)
    case .double(let number):
      // Zero has two equal bit patterns.
      let bits = (number + 0).bitPattern
      return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
    case .text(let text):
      var rank: UInt64 = 0
      for index in 0..<min(8, text.count) { rank |= UInt64(text[index]) << UInt64(56 - 8 * index) }
      return rank
    case .uuid, .other: return 0
    }
  }
}

extension Row {
  /// Whether the cells are packed.
  package var isPacked: Bool { header.format != nil }

  /// Whether the Row is packed as a store has read it, and neither a draft nor a copy.
  var isAsRead: Bool {
    let header = header
    return header.format != nil && header.count & RowFormat.isMadeHere == 0
  }

  /// Returns a cell of a packed Row in place. A reference to an unsaved object appears as null.
  @inline(__always)
  package func packed(_ slot: Int) -> PackedCell {
    let header = header
    guard let format = header.format else { preconditionFailure("only a packed Row has packed cells") }
    return format._withUnsafeGuaranteedRef { format in
      precondition(slot >= 0 && slot < format.count)
      if header.count & RowFormat.bit(slot) != 0 { return .null }
      let words = words
      return switch format.kind(slot) {
      case .absent: .null
      case .int, .reference, .entityReference: .int(Int64(bitPattern: words[slot]))
      case .double: .double(Double(bitPattern: words[slot]))
      case .text: .text(Self.text(words[slot], words + format.count))
      case .uuid: .uuid(Self.text(words[slot], words + format.count))
      case .decimal, .data, .transformable, .composite: .other
      }
    }
  }
}
