/// An immutable snapshot of one object's persistent values by slot, with its version (`Z_OPT`).
///
/// A reference: one Row is shared by the store's row cache and every context that shows the object; nobody copies it. It is
/// filled by the one who makes it (a store stepping through a statement, an object collecting its unsaved values) and not
/// written again once anybody else can see it. One allocation: the cells stand behind the header.
struct Row: @unchecked Sendable {
  // Unchecked: single writer until shared, immutable after; see `set`.

  private struct Header {
    var count: Int
    var version: Int64
  }

  /// The allocation. A class of its own only to release the cells.
  private final class Cells: ManagedBuffer<Header, Value> {
    deinit {
      _ = withUnsafeMutablePointers { header, elements in
        elements.deinitialize(count: header.pointee.count)
      }
    }
  }

  private let _cells: Cells

  private init(uninitialized count: Int, version: Int64) {
    _cells = unsafeDowncast(
      Cells.create(minimumCapacity: count) { _ in Header(count: count, version: version) }, to: Cells.self)
  }

  /// A Row of nulls.
  init(count: Int, version: Int64) {
    self.init(uninitialized: count, version: version)
    _cells.withUnsafeMutablePointerToElements { $0.initialize(repeating: .null, count: count) }
  }

  /// A Row of nulls in which `fill` may then initialise cells, once each, without reading or releasing what was there.
  init(count: Int, version: Int64, filling fill: (UnsafeMutablePointer<Value>) throws -> Void) rethrows {
    self.init(count: count, version: version)
    try _cells.withUnsafeMutablePointerToElements { try fill($0) }
  }

  /// A copy to be changed before it is shared.
  init(copying other: Row, version: Int64) {
    let count = other.count
    self.init(uninitialized: count, version: version)
    _cells.withUnsafeMutablePointerToElements { new in
      other._cells.withUnsafeMutablePointerToElements { old in new.initialize(from: old, count: count) }
    }
  }

  /// Number of cells, one for each slot of the layout.
  var count: Int { _cells.withUnsafeMutablePointerToHeader { $0.pointee.count } }

  /// Version of the row: 1 when first saved, one more with each save. Zero in a Row that was never saved.
  var version: Int64 { _cells.withUnsafeMutablePointerToHeader { $0.pointee.version } }

  subscript(slot: Int) -> Value {
    _cells.withUnsafeMutablePointers { header, cells in
      precondition(slot >= 0 && slot < header.pointee.count)
      return cells[slot]
    }
  }

  /// Whether any of some cells is null, without taking them out.
  func hasNull(at slots: [Int]) -> Bool {
    _cells.withUnsafeMutablePointers { header, cells in
      for slot in slots {
        precondition(slot >= 0 && slot < header.pointee.count)
        if cells[slot].isNull { return true }
      }
      return false
    }
  }

  /// Fills a cell; only for the maker of the Row, before it is shared.
  func set(_ value: Value, at slot: Int) {
    _cells.withUnsafeMutablePointers { header, cells in
      precondition(slot >= 0 && slot < header.pointee.count)
      cells[slot] = value
    }
  }

  /// Sets the version; only for the maker of the Row, before it is shared.
  func setVersion(_ version: Int64) { _cells.withUnsafeMutablePointerToHeader { $0.pointee.version = version } }

  /// Whether both are the same Row, not merely equal ones.
  static func === (left: Row, right: Row) -> Bool { left._cells === right._cells }
}
