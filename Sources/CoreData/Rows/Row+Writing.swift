// Filling a Row. Only for its creator, before the Row is shared.

extension Row {
  /// A packed Row of nulls to fill, with room for texts of the usual length.
  package init(draft format: RowFormat, version: Int64) {
    self.init(
      format, version: version, nulls: format.allSlots | RowFormat.isMadeHere, textRoom: format.textRoom)
    words.initialize(repeating: 0, count: format.count)
  }

  /// A copy of a packed Row of default values, with room for texts of the usual length.
  init(draftLike template: Row) {
    guard let format = template.header.format else { preconditionFailure("a template is packed") }
    self = format._withUnsafeGuaranteedRef { format in
      let marks = template.header.count
      let textCount = format.textEnd(template.words, marks)
      let row = Row(
        format, version: template.version, nulls: marks, textRoom: max(textCount, format.textRoom))
      row.words.initialize(from: template.words, count: format.count + (textCount + 7) / 8)
      if format.hasObjects { row._retainCells(format, marks) }
      return row
    }
  }

  /// A copy of a packed Row.
  init(copying other: Row, packed format: RowFormat, version: Int64) {
    let marks = other.header.count
    let textCount = format.textEnd(other.words, marks)
    self.init(format, version: version, nulls: marks | RowFormat.isMadeHere, textRoom: textCount)
    words.initialize(from: other.words, count: format.count + (textCount + 7) / 8)
    _retainCells(format, marks)
  }

  /// Retains what the cells of a copy hold: objects, and the IDs of unsaved targets.
  private func _retainCells(_ format: RowFormat, _ marks: UInt64) {
    if marks & RowFormat.mayBePending != 0 {
      format.forEachPending(words, marks) { _ = Unmanaged<NSManagedObjectID>.fromOpaque($1).retain() }
    }
    if format.hasObjects { format.forEachObject(words, marks) { _ = $0.retain() } }
  }

  /// Sets a cell.
  ///
  /// A packed Row copies a text's bytes, and becomes a Row of Values if its format cannot represent the value.
  @inline(__always)
  package mutating func set(_ value: consuming Value, at slot: Int) {
    let header = header
    if let format = header.format { return _pack(value, at: slot, format) }
    precondition(slot >= 0 && slot < Int(header.count))
    swap(&values[slot], &value)
  }

  /// Sets a cell to an integer.
  @inline(__always)
  mutating func set(integer: Int64, at slot: Int) {
    guard _kind(slot) == .int else { return set(.int(integer), at: slot) }
    _setWord(UInt64(bitPattern: integer), slot)
  }

  /// Sets a cell to a floating-point number.
  @inline(__always)
  mutating func set(double: Double, at slot: Int) {
    guard _kind(slot) == .double else { return set(.double(double), at: slot) }
    _setWord(double.bitPattern, slot)
  }

  /// Sets a cell to a text or null. A packed Row copies the bytes without retaining the text.
  @inline(__always)
  mutating func set(text: String?, at slot: Int) {
    if let text, let format = header.format, _kind(slot) == .text, _setText(text, at: slot, format) { return }
    set(text.map { .string($0) } ?? .null, at: slot)
  }

  /// How a slot is packed; nil in a Row of Values, or without such a slot.
  @inline(__always)
  private func _kind(_ slot: Int) -> RowFormat.Kind? {
    header.format?._withUnsafeGuaranteedRef { slot >= 0 && slot < $0.count ? $0.kind(slot) : nil }
  }

  /// Sets a cell to that of another Row.
  package mutating func set(_ slot: Int, from other: Row) {
    if let format = header.format, other.isPacked {
      let isSet = format._withUnsafeGuaranteedRef { mine -> Bool in
        guard slot < mine.count else { return false }
        switch other.packed(slot) {
        case .text(let text): return mine.kind(slot) == .text && _setText(text, at: slot, mine)
        case .uuid(let uuid): return mine.kind(slot) == .uuid && _setText(uuid, at: slot, mine)
        case .other where other.header.format?.toOpaque() == format.toOpaque() && mine.isObject(slot):
          let object = UnsafeRawPointer(bitPattern: UInt(other.words[slot]))!
          _setObject(Unmanaged<AnyObject>.fromOpaque(object).takeUnretainedValue(), slot, format)
          return true
        default: return false
        }
      }
      if isSet { return }
    }
    set(other[slot], at: slot)
  }

  /// Reports the room that the texts of a finished draft need, for later drafts.
  @inline(__always) func reportTextRoom() {
    if let format = header.format { format._withUnsafeGuaranteedRef { $0.reportText(of: self) } }
  }

  /// Returns the address of a cell of a Row of Values, valid while the Row is retained.
  @inline(__always)
  package func cell(at slot: Int) -> UnsafeMutablePointer<Value> {
    let header = header
    precondition(header.format == nil && slot >= 0 && slot < Int(header.count))
    return values + slot
  }

  /// Sets all cells of a Row of Values that is referenced only once; otherwise sets nothing and returns
  /// false.
  package mutating func refill(_ cells: [Value]) -> Bool {
    guard isKnownUniquelyReferenced(&self.cells) else { return false }
    precondition(header.format == nil && cells.count == Int(header.count))
    let values = values
    cells.withUnsafeBufferPointer { cells in
      for slot in cells.indices {
        // Most hold no references: see `Cells`.
        if values[slot].isCounted { (values + slot).deinitialize(count: 1) }
        (values + slot).initialize(to: cells[slot])
      }
    }
    return true
  }

  // MARK: Packing

  /// Sets a cell of a packed Row. Destructures each value, so that a text is released once it is copied.
  private mutating func _pack(_ value: consuming Value, at slot: Int, _ format: Unmanaged<RowFormat>) {
    let kind = format._withUnsafeGuaranteedRef { format in
      precondition(slot >= 0 && slot < format.count)
      return format.kind(slot)
    }
    switch consume value {
    case .null:
      if kind.mayRetain { _clear(kind, slot, format) }
      cells.withUnsafeMutablePointerToHeader { $0.pointee.count |= RowFormat.bit(slot) }
    case .int(let number):
      if kind == .int { _setWord(UInt64(bitPattern: number), slot) } else { _unpack(.int(number), at: slot) }
    case .double(let number):
      if kind == .double { _setWord(number.bitPattern, slot) } else { _unpack(.double(number), at: slot) }
    case .string(let text):
      if kind != .text || !_setText(text, at: slot, format) { _unpack(.string(text), at: slot) }
    case .reference(let key):
      let word: UInt64? = format._withUnsafeGuaranteedRef { format in
        switch kind {
        case .reference: key.space === format.space(slot) ? UInt64(bitPattern: key.reference) : nil
        case .entityReference: format.word(for: key)
        default: nil
        }
      }
      guard let word else { return _unpack(.reference(key), at: slot) }
      _clearReference(slot, format)
      _setWord(word, slot)
    case .pending(let id):
      guard kind == .reference || kind == .entityReference else { return _unpack(.pending(id), at: slot) }
      _clearReference(slot, format)
      words[slot] = UInt64(UInt(bitPattern: Unmanaged.passRetained(id).toOpaque()))
      cells.withUnsafeMutablePointerToHeader {
        $0.pointee.count |= RowFormat.bit(slot) | RowFormat.mayBePending
      }
    case .uuid(let uuid):
      let isSet = kind == .uuid && withUnsafeBytes(of: uuid.uuid) { _setBytes($0, at: slot, format) }
      if !isSet { _unpack(.uuid(uuid), at: slot) }
    case .decimal(let box):
      let isSet = kind == .decimal && withUnsafeBytes(of: box.decimal) { _setBytes($0, at: slot, format) }
      if !isSet { _unpack(.decimal(box), at: slot) }
    case .data(let data):
      if kind == .data { _setObject(DataBox(data), slot, format) } else { _unpack(.data(data), at: slot) }
    case .transformable(let box):
      if kind == .transformable {
        _setObject(box, slot, format)
      } else {
        _unpack(.transformable(box), at: slot)
      }
    case .composite(let box):
      if kind == .composite { _setObject(box, slot, format) } else { _unpack(.composite(box), at: slot) }
    case .toMany(let delta): _unpack(.toMany(delta), at: slot)
    }
  }

  private mutating func _setBytes(
    _ bytes: UnsafeRawBufferPointer, at slot: Int, _ format: Unmanaged<RowFormat>
  ) -> Bool {
    format._withUnsafeGuaranteedRef { _setText(bytes.assumingMemoryBound(to: UInt8.self), at: slot, $0) }
  }

  /// Sets a cell to an object, which the Row retains.
  private func _setObject(_ object: AnyObject, _ slot: Int, _ format: Unmanaged<RowFormat>) {
    _clearObject(slot)
    _setWord(UInt64(UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())), slot)
  }

  /// Releases what a cell holds besides bytes.
  private func _clear(_ kind: RowFormat.Kind, _ slot: Int, _ format: Unmanaged<RowFormat>) {
    if kind == .reference || kind == .entityReference {
      _clearReference(slot, format)
    } else {
      _clearObject(slot)
    }
  }

  private func _clearObject(_ slot: Int) {
    if header.count & RowFormat.bit(slot) == 0, let object = UnsafeRawPointer(bitPattern: UInt(words[slot])) {
      Unmanaged<AnyObject>.fromOpaque(object).release()
    }
    words[slot] = 0
  }

  /// Sets a cell to a value that the format cannot represent.
  private mutating func _unpack(_ value: Value, at slot: Int) {
    self = Row(unpacking: self)
    values[slot] = value
  }

  @inline(__always)
  private mutating func _setText(_ text: String, at slot: Int, _ format: Unmanaged<RowFormat>) -> Bool {
    let isSet = text.utf8.withContiguousStorageIfAvailable { bytes in
      format._withUnsafeGuaranteedRef { _setText(bytes, at: slot, $0) }
    }
    if let isSet { return isSet }
    var native = text
    return native.withUTF8 { bytes in format._withUnsafeGuaranteedRef { _setText(bytes, at: slot, $0) } }
  }

  @inline(__always) private func _setWord(_ word: UInt64, _ slot: Int) {
    words[slot] = word
    cells.withUnsafeMutablePointerToHeader { $0.pointee.count &= ~RowFormat.bit(slot) }
  }

  /// Makes a reference null and releases the ID of an unsaved target.
  @inline(__always) private func _clearReference(_ slot: Int, _ format: Unmanaged<RowFormat>) {
    let marks = header.count
    if marks & RowFormat.bit(slot) != 0, marks & RowFormat.mayBePending != 0,
      let id = format._withUnsafeGuaranteedRef({ $0.pending(slot, words[slot]) })
    {
      Unmanaged<NSManagedObjectID>.fromOpaque(id).release()
    }
    words[slot] = 0
  }

  /// Copies a text over the one it replaces, or behind the other texts, into a larger allocation if there is no
  /// room; false if it is too long. The bytes may lie in another Row but not in this one.
  private mutating func _setText(_ text: UnsafeBufferPointer<UInt8>, at slot: Int, _ format: RowFormat)
    -> Bool
  {
    var marks = header.count
    let replaced = marks & RowFormat.bit(slot) == 0 ? RowFormat.TextPlace(words[slot]) : nil
    var start = 0
    if let replaced, text.count <= replaced.count {
      start = replaced.offset
    } else {
      marks |= RowFormat.bit(slot)
      start = format.textEnd(words, marks)
      if start + text.count > (cells.capacity - format.count) * 8 {
        let needed = format.textCount(words, marks) + text.count
        guard needed <= RowFormat.TextPlace.maximum else { return false }
        format.expectText(needed)
        // With some room to spare: a program that sets one text of a row often sets several.
        self = Row(self, growingTo: needed + needed / 4, format, marks)
        start = needed - text.count
      }
    }
    guard let word = RowFormat.TextPlace.word(offset: start, count: text.count) else { return false }
    if let base = text.baseAddress, !text.isEmpty {
      (UnsafeMutableRawPointer(words + format.count) + start).copyMemory(from: base, byteCount: text.count)
    }
    _setWord(word, slot)
    return true
  }

  /// A copy of a packed Row with its texts close together and room for `textRoom` bytes of text.
  ///
  /// - Parameter marks: The Row's marks, without texts that are not to be copied.
  private init(_ other: Row, growingTo textRoom: Int, _ format: RowFormat, _ marks: UInt64) {
    self.init(
      format, version: other.version, nulls: marks | RowFormat.isMadeHere,
      textRoom: max(textRoom, format.textRoom))
    words.initialize(from: other.words, count: format.count)
    var end = 0
    let bytes = UnsafeMutableRawPointer(words + format.count)
    format.forEachText(marks) { slot in
      let text = Row.text(other.words[slot], other.words + format.count)
      if let base = text.baseAddress { (bytes + end).copyMemory(from: base, byteCount: text.count) }
      words[slot] = RowFormat.TextPlace.word(offset: end, count: text.count)!
      end += text.count
    }
    // The other Row still releases what it holds.
    _retainCells(format, marks)
  }
}
