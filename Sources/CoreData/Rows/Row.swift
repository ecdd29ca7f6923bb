/// An immutable snapshot of one object's persistent values by slot, with its version (`Z_OPT`).
///
/// A reference: one Row is shared by the store's row cache and every context that shows the object, and never
/// copied. Its maker (a store stepping through a statement, an object collecting its unsaved values) fills it
/// and does not write to it once others can see it. One allocation: the cells stand behind the header, as
/// Values or, in rows read from a store whose entity allows it, packed: see `RowFormat`.
package struct Row: @unchecked Sendable {
  // Unchecked: single writer until shared, immutable after; see `set`.

  package struct Header {
    /// What a packed Row holds where; nil in a Row of Values. The Row holds a count of it.
    var format: Unmanaged<RowFormat>?
    var version: Int64
    /// Number of Values; in a packed Row, a bit for each slot without value.
    var count: UInt64
  }

  /// The allocation. A class of its own only to release the cells.
  package final class Cells: ManagedBuffer<Header, UInt64> {
    deinit {
      withUnsafeMutablePointers { header, words in
        if let format = header.pointee.format {
          format.release()
        } else {
          let values = UnsafeMutableRawPointer(words).assumingMemoryBound(to: Value.self)
          // One by one: most hold nothing that is counted, which the runtime would find out by a call for
          // each.
          for slot in 0..<Int(header.pointee.count) where values[slot].isCounted {
            (values + slot).deinitialize(count: 1)
          }
        }
      }
    }
  }

  private let _cells: Cells

  /// The allocation, for reading while somebody else keeps it.
  @inline(__always) var unretained: Unmanaged<Cells> { Unmanaged.passUnretained(_cells) }

  @inline(__always) init(_ cells: Cells) { _cells = cells }

  @inline(__always)
  private init(uninitialized count: Int, version: Int64) {
    let words = count * (MemoryLayout<Value>.stride / MemoryLayout<UInt64>.stride)
    _cells = unsafeDowncast(
      Cells.create(minimumCapacity: words) { _ in Header(format: nil, version: version, count: UInt64(count))
      },
      to: Cells.self)
    _cells.withUnsafeMutablePointerToElements {
      _ = UnsafeMutableRawPointer($0).bindMemory(to: Value.self, capacity: count)
    }
  }

  @inline(__always)
  private var _header: Header { _cells.withUnsafeMutablePointerToHeader { $0.pointee } }

  @inline(__always)
  private var _values: UnsafeMutablePointer<Value> {
    _cells.withUnsafeMutablePointerToElements {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: Value.self)
    }
  }

  /// A Row of nulls.
  package init(count: Int, version: Int64) {
    self.init(uninitialized: count, version: version)
    _values.initialize(repeating: .null, count: count)
  }

  /// A Row of nulls in which `fill` may then initialise cells, once each, without reading or releasing what
  /// was there.
  package init(count: Int, version: Int64, filling fill: (UnsafeMutablePointer<Value>) throws -> Void)
    rethrows
  {
    self.init(count: count, version: version)
    try fill(_values)
  }

  /// A packed Row.
  ///
  /// - Parameters:
  ///   - nulls: A bit for each slot without value.
  ///   - words: One for each slot, as the format has them.
  ///   - texts: Where the texts stand that `words` speak of, by slot.
  ///   - textCount: Bytes of all texts together.
  @inline(__always)
  package init(
    _ format: RowFormat, version: Int64, nulls: UInt64, words: UnsafeBufferPointer<UInt64>,
    texts: UnsafePointer<UnsafePointer<UInt8>?>, textCount: Int
  ) {
    let count = words.count
    _cells = unsafeDowncast(
      Cells.create(minimumCapacity: count + (textCount + 7) / 8) { _ in
        Header(format: .passRetained(format), version: version, count: nulls)
      }, to: Cells.self)
    _cells.withUnsafeMutablePointerToElements { start in
      if let base = words.baseAddress { start.update(from: base, count: count) }
      if textCount == 0 { return }
      let bytes = UnsafeMutableRawPointer(start + count)
      format.textSlots.forEach { slot in
        guard let text = texts[slot] else { return }
        let place = RowFormat.TextPlace(words[slot])
        (bytes + place.offset).copyMemory(from: text, byteCount: place.count)
      }
    }
  }

  /// A copy to be changed before it is shared.
  package init(copying other: Row, version: Int64) {
    let count = other.count
    self.init(uninitialized: count, version: version)
    let new = _values
    if other._header.format == nil {
      new.initialize(from: other._values, count: count)
    } else {
      for slot in 0..<count { (new + slot).initialize(to: other[slot]) }
    }
  }

  /// Number of cells, one for each slot of the layout.
  package var count: Int {
    let header = _header
    guard let format = header.format else { return Int(header.count) }
    return format._withUnsafeGuaranteedRef { $0.count }
  }

  /// Version of the row: 1 when first saved, one more with each save. Zero in a Row that was never saved.
  package var version: Int64 { _header.version }

  package subscript(slot: Int) -> Value {
    let header = _header
    if let format = header.format { return _unpacked(slot, header.count, format) }
    precondition(slot >= 0 && slot < Int(header.count))
    return _values[slot]
  }

  @inline(__always)
  private func _unpacked(_ slot: Int, _ nulls: UInt64, _ format: Unmanaged<RowFormat>) -> Value {
    format._withUnsafeGuaranteedRef { format in
      precondition(slot >= 0 && slot < format.count)
      if nulls & (1 &<< UInt64(slot)) != 0 { return .null }
      return _cells.withUnsafeMutablePointerToElements { words in
        let word = words[slot]
        switch format.kind(slot) {
        case .absent: return .null
        case .int: return .int(Int64(bitPattern: word))
        case .double: return .double(Double(bitPattern: word))
        case .text:
          return .string(String(decoding: Self._text(word, words + format.count), as: UTF8.self))
        case .reference:
          return .reference(ObjectKey(space: format.space(slot), reference: Int64(bitPattern: word)))
        }
      }
    }
  }

  /// The integer in a cell; nil for null and for a cell of another kind.
  @inline(__always)
  package func integer(at slot: Int) -> Int64? {
    if let word = _word(of: .int, at: slot) { return word.map { Int64(bitPattern: $0) } }
    if case .int(let value) = _value(slot) { return value }
    return nil
  }

  /// The floating-point number in a cell; nil for null and for a cell of another kind.
  @inline(__always)
  package func double(at slot: Int) -> Double? {
    if let word = _word(of: .double, at: slot) { return word.map { Double(bitPattern: $0) } }
    if case .double(let value) = _value(slot) { return value }
    return nil
  }

  /// The text in a cell; nil for null and for a cell of another kind.
  @inline(__always)
  package func string(at slot: Int) -> String? {
    if let word = _word(of: .text, at: slot) {
      return word.map { word in
        _cells.withUnsafeMutablePointerToElements { words in
          String(decoding: Self._text(word, words + count), as: UTF8.self)
        }
      }
    }
    if case .string(let value) = _value(slot) { return value }
    return nil
  }

  /// A cell of a Row of Values.
  @inline(__always)
  private func _value(_ slot: Int) -> Value {
    precondition(slot >= 0 && slot < Int(_header.count))
    return _values[slot]
  }

  /// The word of a cell in a packed Row, nil in it for null and for another kind; nil in a Row of Values.
  @inline(__always)
  private func _word(of kind: RowFormat.Kind, at slot: Int) -> UInt64?? {
    let header = _header
    guard let format = header.format else { return nil }
    return format._withUnsafeGuaranteedRef { format -> UInt64?? in
      precondition(slot >= 0 && slot < format.count)
      guard header.count & (1 &<< UInt64(slot)) == 0, format.kind(slot) == kind else { return .some(nil) }
      return _cells.withUnsafeMutablePointerToElements { $0[slot] }
    }
  }

  @inline(__always)
  private static func _text(_ word: UInt64, _ bytes: UnsafeMutablePointer<UInt64>) -> UnsafeBufferPointer<
    UInt8
  > {
    let place = RowFormat.TextPlace(word)
    let start = UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self) + place.offset
    return UnsafeBufferPointer(start: start, count: place.count)
  }

  /// Whether the cells are packed.
  package var isPacked: Bool { _header.format != nil }

  /// A cell of a packed Row, where it lies.
  @inline(__always)
  func packed(_ slot: Int) -> PackedCell {
    let header = _header
    guard let format = header.format else { preconditionFailure("only a packed Row has packed cells") }
    return format._withUnsafeGuaranteedRef { format in
      precondition(slot >= 0 && slot < format.count)
      if header.count & (1 &<< UInt64(slot)) != 0 { return .null }
      return _cells.withUnsafeMutablePointerToElements { words in
        switch format.kind(slot) {
        case .absent: .null
        case .int, .reference: .int(Int64(bitPattern: words[slot]))
        case .double: .double(Double(bitPattern: words[slot]))
        case .text: .text(Self._text(words[slot], words + format.count))
        }
      }
    }
  }

  /// Whether a cell holds a value equal to this one; a text is compared where it lies.
  package func holds(_ value: Value, at slot: Int) -> Bool {
    let header = _header
    if case .string(var other) = value, let format = header.format {
      return format._withUnsafeGuaranteedRef { format -> Bool in
        precondition(slot >= 0 && slot < format.count)
        guard format.kind(slot) == .text, header.count & (1 &<< UInt64(slot)) == 0 else { return false }
        return _cells.withUnsafeMutablePointerToElements { words in
          let mine = Self._text(words[slot], words + format.count)
          return other.withUTF8 { $0.count == mine.count && $0.elementsEqual(mine) }
        }
      }
    }
    return self[slot] == value
  }

  /// Whether a cell is null, without taking it out.
  package func isNull(at slot: Int) -> Bool {
    let header = _header
    if header.format != nil { return header.count & (1 &<< UInt64(slot)) != 0 }
    precondition(slot >= 0 && slot < Int(header.count))
    return _values[slot].isNull
  }

  /// Whether any of some cells is null.
  package func hasNull(at slots: [Int]) -> Bool {
    for slot in slots where isNull(at: slot) { return true }
    return false
  }

  /// Fills a cell; only for the maker of the Row, before it is shared.
  package func set(_ value: Value, at slot: Int) {
    let header = _header
    precondition(header.format == nil && slot >= 0 && slot < Int(header.count))
    _values[slot] = value
  }

  /// Where a cell lies; only for the maker of the Row, before it is shared, and as long as the Row is held.
  @inline(__always)
  package func cell(at slot: Int) -> UnsafeMutablePointer<Value> {
    let header = _header
    precondition(header.format == nil && slot >= 0 && slot < Int(header.count))
    return _values + slot
  }

  /// Sets the version; only for the maker of the Row, before it is shared.
  package func setVersion(_ version: Int64) {
    _cells.withUnsafeMutablePointerToHeader { $0.pointee.version = version }
  }

  /// Whether both are the same Row, not merely equal ones.
  package static func === (left: Row, right: Row) -> Bool { left._cells === right._cells }
}

extension Int64 {
  /// The version after this one. A damaged file may hold the last number there is.
  package var next: Int64 { self == .max ? 1 : self + 1 }
}
