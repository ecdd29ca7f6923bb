/// An immutable snapshot of one object's persistent values by slot, with its version (`Z_OPT`).
///
/// A reference type: the store's row cache and all contexts that have the object share one Row, which is
/// never copied. Its creator (a store reading a statement, an object collecting its unsaved values) fills it
/// and does not modify it once shared. One allocation: the cells follow the header, as Values or, in rows
/// read from a store whose entity allows it, packed; see `RowFormat`.
package struct Row: @unchecked Sendable {
  // Unchecked: a single writer until shared, immutable after; see `set`.

  package struct Header {
    /// The layout of a packed Row; nil in a Row of Values. Retained by the Row.
    var format: Unmanaged<RowFormat>?
    var version: Int64
    /// The number of Values; in a packed Row, a bit mask of slots without value.
    var count: UInt64
  }

  /// The allocation. A subclass only so that its deinit releases the cells.
  package final class Cells: ManagedBuffer<Header, UInt64> {
    deinit {
      withUnsafeMutablePointers { header, words in
        if let format = header.pointee.format {
          format.release()
        } else {
          let values = UnsafeMutableRawPointer(words).assumingMemoryBound(to: Value.self)
          // Individually: most hold no references, which the runtime would determine with a call each.
          for slot in 0..<Int(header.pointee.count) where values[slot].isCounted {
            (values + slot).deinitialize(count: 1)
          }
        }
      }
    }
  }

  private var _cells: Cells

  /// The allocation, for reads while another reference keeps it alive.
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

  /// A Row of nulls whose cells `fill` may initialise, once each, without reading or releasing the nulls.
  package init(count: Int, version: Int64, filling fill: (UnsafeMutablePointer<Value>) throws -> Void)
    rethrows
  {
    self.init(count: count, version: version)
    try fill(_values)
  }

  /// Creates a packed Row.
  ///
  /// - Parameters:
  ///   - nulls: Bit mask of slots without value.
  ///   - words: One word per slot, in the format's encoding.
  ///   - texts: Addresses of the texts referenced by `words`, by slot.
  ///   - textCount: Total number of text bytes.
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

  /// A copy to modify before it is shared.
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

  /// The number of cells, one per slot of the layout.
  package var count: Int {
    let header = _header
    guard let format = header.format else { return Int(header.count) }
    return format._withUnsafeGuaranteedRef { $0.count }
  }

  /// The row's version: 1 after the first save, incremented by each save. Zero in a never-saved Row.
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

  /// The word of a cell in a packed Row, or an inner nil for null and other kinds; nil in a Row of Values.
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

  /// Returns a cell of a packed Row in place.
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

  /// Whether a cell equals a value; texts and numbers are compared in place.
  package func holds(_ value: Value, at slot: Int) -> Bool {
    let header = _header
    guard let format = header.format else { return self[slot] == value }
    let isNull = header.count & (1 &<< UInt64(slot)) != 0
    return format._withUnsafeGuaranteedRef { format -> Bool in
      precondition(slot >= 0 && slot < format.count)
      return _cells.withUnsafeMutablePointerToElements { words in
        switch value {
        case .int(let number):
          return format.kind(slot) == .int && !isNull && words[slot] == UInt64(bitPattern: number)
        case .double(let number):
          return format.kind(slot) == .double && !isNull && Double(bitPattern: words[slot]) == number
        case .string(var other):
          guard format.kind(slot) == .text, !isNull else { return false }
          let mine = Self._text(words[slot], words + format.count)
          return other.withUTF8 { $0.count == mine.count && $0.elementsEqual(mine) }
        default: return self[slot] == value
        }
      }
    }
  }

  /// Whether a cell is null, without copying it.
  package func isNull(at slot: Int) -> Bool {
    let header = _header
    if header.format != nil { return header.count & (1 &<< UInt64(slot)) != 0 }
    precondition(slot >= 0 && slot < Int(header.count))
    return _values[slot].isNull
  }

  /// Whether any of the given cells is null.
  package func hasNull(at slots: [Int]) -> Bool {
    for slot in slots where isNull(at: slot) { return true }
    return false
  }

  /// Sets a cell. Only for the creator of the Row, before it is shared.
  package func set(_ value: Value, at slot: Int) {
    let header = _header
    precondition(header.format == nil && slot >= 0 && slot < Int(header.count))
    _values[slot] = value
  }

  /// Returns the address of a cell. Only for the creator of the Row, before it is shared, and while the Row
  /// is retained.
  @inline(__always)
  package func cell(at slot: Int) -> UnsafeMutablePointer<Value> {
    let header = _header
    precondition(header.format == nil && slot >= 0 && slot < Int(header.count))
    return _values + slot
  }

  /// Sets the version. Only for the creator of the Row, before it is shared.
  package func setVersion(_ version: Int64) {
    _cells.withUnsafeMutablePointerToHeader { $0.pointee.version = version }
  }

  /// Sets all cells. Only for the creator of a Row of Values that nothing else holds: false, and nothing is set, if
  /// something does.
  package mutating func refill(_ values: [Value]) -> Bool {
    guard isKnownUniquelyReferenced(&_cells) else { return false }
    precondition(_header.format == nil && values.count == Int(_header.count))
    let cells = _values
    values.withUnsafeBufferPointer { values in
      for slot in values.indices {
        // Most hold no references: see `Cells`.
        if cells[slot].isCounted { (cells + slot).deinitialize(count: 1) }
        (cells + slot).initialize(to: values[slot])
      }
    }
    return true
  }

  /// Whether both are the same Row instance.
  package static func === (left: Row, right: Row) -> Bool { left._cells === right._cells }
}

extension Int64 {
  /// The next version. Wraps around, since a damaged file may hold the largest integer.
  package var next: Int64 { self == .max ? 1 : self + 1 }
}
