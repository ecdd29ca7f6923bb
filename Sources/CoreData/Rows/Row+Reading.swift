import Foundation

// Reading cells. Texts and numbers of packed rows are read and compared in place.

extension Row {
  /// The number of cells, one per slot of the layout.
  @inline(__always)
  package var count: Int {
    let header = header
    guard let format = header.format else { return Int(header.count) }
    return format._withUnsafeGuaranteedRef { $0.count }
  }

  package subscript(slot: Int) -> Value {
    let header = header
    if let format = header.format { return _unpacked(slot, header.count, format) }
    precondition(slot >= 0 && slot < Int(header.count))
    return values[slot]
  }

  @inline(__always)
  private func _unpacked(_ slot: Int, _ marks: UInt64, _ format: Unmanaged<RowFormat>) -> Value {
    format._withUnsafeGuaranteedRef { format in
      precondition(slot >= 0 && slot < format.count)
      let words = words
      if marks & RowFormat.bit(slot) != 0 {
        guard marks & RowFormat.mayBePending != 0, let id = format.pending(slot, words[slot]) else {
          return .null
        }
        return .pending(Unmanaged<NSManagedObjectID>.fromOpaque(id).takeUnretainedValue())
      }
      let word = words[slot]
      switch format.kind(slot) {
      case .absent: return .null
      case .int: return .int(Int64(bitPattern: word))
      case .double: return .double(Double(bitPattern: word))
      case .text:
        return .string(String(decoding: Self.text(word, words + format.count), as: UTF8.self))
      case .reference:
        return .reference(ObjectKey(space: format.space(slot), reference: Int64(bitPattern: word)))
      case .uuid, .decimal, .data, .transformable, .composite, .entityReference:
        return _lessFrequent(format.kind(slot), word, format)
      }
    }
  }

  /// A cell of a kind that is read less often, outside the code of each access.
  @inline(never)
  private func _lessFrequent(_ kind: RowFormat.Kind, _ word: UInt64, _ format: RowFormat) -> Value {
    func object<T: AnyObject>(_: T.Type) -> T {
      Unmanaged<T>.fromOpaque(UnsafeRawPointer(bitPattern: UInt(word))!).takeUnretainedValue()
    }
    switch kind {
    case .uuid: return .uuid(UUID(uuid: _bytes(word, format).loadUnaligned(as: uuid_t.self)))
    case .decimal: return .decimal(DecimalBox(_bytes(word, format).loadUnaligned(as: Decimal.self)))
    case .data: return .data(object(DataBox.self).data)
    case .transformable: return .transformable(object(TransformableBox.self))
    case .composite: return .composite(object(CompositeBox.self))
    case .entityReference:
      let target = RowFormat.EntityReference(word)
      return .reference(ObjectKey(space: format.space(of: target), reference: target.reference))
    case .absent, .int, .double, .text, .reference: return .null
    }
  }

  /// The bytes to which a word refers.
  @inline(__always)
  private func _bytes(_ word: UInt64, _ format: RowFormat) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(Self.text(word, words + format.count))
  }

  /// The UUID in a cell; nil for null and for a cell of another kind.
  package func uuid(at slot: Int) -> UUID? {
    if let word = _word(of: .uuid, at: slot) {
      return word.map { word in
        UUID(uuid: UnsafeRawBufferPointer(Self.text(word, words + count)).loadUnaligned(as: uuid_t.self))
      }
    }
    if case .uuid(let value) = _value(slot) { return value }
    return nil
  }

  /// The decimal in a cell; nil for null and for a cell of another kind.
  package func decimal(at slot: Int) -> Decimal? {
    if let word = _word(of: .decimal, at: slot) {
      return word.map { word in
        UnsafeRawBufferPointer(Self.text(word, words + count)).loadUnaligned(as: Decimal.self)
      }
    }
    if case .decimal(let value) = _value(slot) { return value.decimal }
    return nil
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
      return word.map { word in String(decoding: Self.text(word, words + count), as: UTF8.self) }
    }
    if case .string(let value) = _value(slot) { return value }
    return nil
  }

  /// A cell of a Row of Values.
  @inline(__always)
  private func _value(_ slot: Int) -> Value {
    precondition(slot >= 0 && slot < Int(header.count))
    return values[slot]
  }

  /// The word of a cell in a packed Row, or an inner nil for null and other kinds; nil in a Row of Values.
  @inline(__always)
  private func _word(of kind: RowFormat.Kind, at slot: Int) -> UInt64?? {
    let header = header
    guard let format = header.format else { return nil }
    return format._withUnsafeGuaranteedRef { format -> UInt64?? in
      precondition(slot >= 0 && slot < format.count)
      guard header.count & RowFormat.bit(slot) == 0, format.kind(slot) == kind else { return .some(nil) }
      return words[slot]
    }
  }

  @inline(__always)
  static func text(_ word: UInt64, _ bytes: UnsafeMutablePointer<UInt64>) -> UnsafeBufferPointer<UInt8> {
    let place = RowFormat.TextPlace(word)
    let start = UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self) + place.offset
    return UnsafeBufferPointer(start: start, count: place.count)
  }

  // MARK: Comparing

  /// Whether a cell equals a value.
  package func holds(_ value: Value, at slot: Int) -> Bool {
    let header = header
    guard let format = header.format else { return self[slot] == value }
    let isNull = header.count & RowFormat.bit(slot) != 0
    return format._withUnsafeGuaranteedRef { format -> Bool in
      precondition(slot >= 0 && slot < format.count)
      switch value {
      case .int(let number):
        return format.kind(slot) == .int && !isNull && words[slot] == UInt64(bitPattern: number)
      case .double(let number):
        return format.kind(slot) == .double && !isNull && Double(bitPattern: words[slot]) == number
      case .string(var other):
        guard format.kind(slot) == .text, !isNull else { return false }
        let mine = Self.text(words[slot], words + format.count)
        return other.withUTF8 { $0.hasSameBytes(as: mine) }
      case .uuid(let other): return uuid(at: slot) == other
      case .decimal(let other): return decimal(at: slot) == other.decimal
      default: return self[slot] == value
      }
    }
  }

  /// Whether a cell equals the same cell of another Row.
  package func hasSameCell(as other: Row, at slot: Int) -> Bool {
    // Only rows of one format have references to one store.
    guard let format = header.format?.toOpaque(), format == other.header.format?.toOpaque() else {
      return other.holds(self[slot], at: slot)
    }
    switch (packed(slot), other.packed(slot)) {
    // A reference to an unsaved object appears as null.
    case (.null, _), (_, .null): return self[slot] == other[slot]
    case (.int(let mine), .int(let theirs)): return mine == theirs
    case (.double(let mine), .double(let theirs)): return mine == theirs
    case (.text(let mine), .text(let theirs)), (.uuid(let mine), .uuid(let theirs)):
      return mine.hasSameBytes(as: theirs)
    case (.other, .other):
      if let decimal = decimal(at: slot) { return other.decimal(at: slot) == decimal }
      // One object, as in a copy of a Row.
      return words[slot] == other.words[slot] || self[slot] == other[slot]
    default: return false
    }
  }

  /// Whether a cell is null, without copying it.
  package func isNull(at slot: Int) -> Bool {
    let header = header
    if let format = header.format {
      if header.count & RowFormat.bit(slot) == 0 { return false }
      if header.count & RowFormat.mayBePending == 0 { return true }
      return format._withUnsafeGuaranteedRef { $0.pending(slot, words[slot]) == nil }
    }
    precondition(slot >= 0 && slot < Int(header.count))
    return values[slot].isNull
  }

  /// Whether any of the given cells is null.
  package func hasNull(at slots: [Int]) -> Bool {
    for slot in slots where isNull(at: slot) { return true }
    return false
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether both hold the same bytes. `elementsEqual(_:)` compares them one by one.
  func hasSameBytes(as other: Self) -> Bool {
    guard count == other.count, let mine = baseAddress, let theirs = other.baseAddress else {
      return count == other.count
    }
    return memcmp(mine, theirs, count) == 0
  }
}
