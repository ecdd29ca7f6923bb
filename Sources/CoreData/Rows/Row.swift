/// An immutable snapshot of one object's persistent values by slot, with its version (`Z_OPT`).
///
/// A reference type: the store's row cache and all contexts that have the object share one Row, which is
/// never copied. Its creator (a store reading a statement, an object collecting its unsaved values) fills it
/// and does not modify it once shared. One allocation: the cells follow the header, packed into words and
/// bytes if the entity allows it, otherwise as Values; see `RowFormat`.
package struct Row: @unchecked Sendable {
  // Unchecked: a single writer until shared, immutable after; see `set`.

  package struct Header {
    /// The layout of a packed Row; nil in a Row of Values. Retained by the Row.
    var format: Unmanaged<RowFormat>?
    var version: Int64
    /// The number of Values; in a packed Row, a bit mask of slots without value, and the marks of `RowFormat`.
    var count: UInt64
  }

  /// The allocation. A subclass only so that its deinit releases the cells.
  package final class Cells: ManagedBuffer<Header, UInt64> {
    deinit {
      withUnsafeMutablePointers { header, words in
        if let format = header.pointee.format {
          let marks = header.pointee.count
          if marks & RowFormat.mayBePending != 0 {
            format._withUnsafeGuaranteedRef { format in
              format.forEachPending(words, marks) { Unmanaged<NSManagedObjectID>.fromOpaque($1).release() }
            }
          }
          format._withUnsafeGuaranteedRef { format in
            if format.hasObjects { format.forEachObject(words, marks) { $0.release() } }
          }
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

  var cells: Cells

  /// The allocation, for reads while another reference keeps it alive.
  @inline(__always) var unretained: Unmanaged<Cells> { Unmanaged.passUnretained(cells) }

  @inline(__always) init(_ cells: Cells) { self.cells = cells }

  @inline(__always) var header: Header { cells.withUnsafeMutablePointerToHeader { $0.pointee } }

  /// The words of a packed Row.
  @inline(__always) var words: UnsafeMutablePointer<UInt64> {
    cells.withUnsafeMutablePointerToElements { $0 }
  }

  /// The cells of a Row of Values.
  @inline(__always) var values: UnsafeMutablePointer<Value> {
    UnsafeMutableRawPointer(words).assumingMemoryBound(to: Value.self)
  }

  // MARK: Rows of Values

  @inline(__always)
  private init(uninitialized count: Int, version: Int64) {
    let words = count * (MemoryLayout<Value>.stride / MemoryLayout<UInt64>.stride)
    cells = unsafeDowncast(
      Cells.create(minimumCapacity: words) { _ in Header(format: nil, version: version, count: UInt64(count))
      },
      to: Cells.self)
    cells.withUnsafeMutablePointerToElements {
      _ = UnsafeMutableRawPointer($0).bindMemory(to: Value.self, capacity: count)
    }
  }

  /// A Row of nulls.
  package init(count: Int, version: Int64) {
    self.init(uninitialized: count, version: version)
    values.initialize(repeating: .null, count: count)
  }

  /// A Row of nulls whose cells `fill` may initialize, once each, without reading or releasing the nulls.
  package init(count: Int, version: Int64, filling fill: (UnsafeMutablePointer<Value>) throws -> Void)
    rethrows
  {
    self.init(count: count, version: version)
    try fill(values)
  }

  /// A copy to modify before it is shared, packed if the other Row is.
  package init(copying other: Row, version: Int64) {
    if let format = other.header.format {
      self = format._withUnsafeGuaranteedRef { Row(copying: other, packed: $0, version: version) }
      return
    }
    let count = other.count
    self.init(uninitialized: count, version: version)
    values.initialize(from: other.values, count: count)
  }

  /// A copy of a packed Row as a Row of Values, which holds values of all kinds.
  init(unpacking other: Row) {
    let count = other.count
    self.init(uninitialized: count, version: other.version)
    for slot in 0..<count { (values + slot).initialize(to: other[slot]) }
  }

  // MARK: Packed Rows

  /// Creates a packed Row.
  ///
  /// - Parameters:
  ///   - nulls: Bit mask of slots without value.
  ///   - words: One word per slot, in the format's encoding.
  ///   - texts: Addresses of the texts referenced by `words`, by slot.
  ///   - textCount: Total number of text bytes.
  ///   - room: Number of bytes for cells to be set.
  @inline(__always)
  package init(
    _ format: RowFormat, version: Int64, nulls: UInt64, words: UnsafeBufferPointer<UInt64>,
    texts: UnsafePointer<UnsafePointer<UInt8>?>, textCount: Int, room: Int
  ) {
    let count = words.count
    self.init(format, version: version, nulls: nulls, textRoom: textCount + room)
    let start = unretained._withUnsafeGuaranteedRef { $0.withUnsafeMutablePointerToElements { $0 } }
    if let base = words.baseAddress { start.update(from: base, count: count) }
    if textCount == 0 { return }
    let bytes = UnsafeMutableRawPointer(start + count)
    format.forEachText(nulls) { slot in
      guard let text = texts[slot] else { return }
      let place = RowFormat.TextPlace(words[slot])
      (bytes + place.offset).copyMemory(from: text, byteCount: place.count)
    }
  }

  /// A packed Row whose words are uninitialized.
  @inline(__always) init(_ format: RowFormat, version: Int64, nulls: UInt64, textRoom: Int) {
    cells = unsafeDowncast(
      Cells.create(minimumCapacity: format.count + (textRoom + 7) / 8) { _ in
        Header(format: .passRetained(format), version: version, count: nulls)
      }, to: Cells.self)
  }

  // MARK: Version and identity

  /// The row's version: 1 after the first save, incremented by each save. Zero in a never-saved Row.
  package var version: Int64 { header.version }

  /// Sets the version. Only for the creator of the Row, before it is shared.
  package func setVersion(_ version: Int64) {
    cells.withUnsafeMutablePointerToHeader { $0.pointee.version = version }
  }

  /// Whether both are the same Row instance.
  package static func === (left: Row, right: Row) -> Bool { left.cells === right.cells }
}

extension Int64 {
  /// The next version. Wraps around, since a damaged file may hold the largest integer.
  package var next: Int64 { self == .max ? 1 : self + 1 }

  /// The version with which a deleted row is inserted again by a context that has read this one: the next
  /// multiple of 65,536.
  ///
  /// It is above the versions that others have read before the deletion, so that versions order what is known
  /// of a row also across its deletion: a save from before it that is merged late is older.
  package var nextLife: Int64 {
    let life = (self >> 16) + 1
    return life > Int64.max >> 16 ? 1 : life << 16
  }
}
