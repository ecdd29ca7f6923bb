/// Many values in one parameter, for `IN (SELECT value FROM Z_VALUES(?))`.
///
/// Immutable. The values are in one contiguous block of memory that a running statement reads in place.
package final class ValueArray: @unchecked Sendable {
  // Unchecked: everything is written by the initializers and only read afterwards.

  @usableFromInline enum Kind { case int, double, text, blob, mixed }

  package let count: Int
  @usableFromInline let kind: Kind
  /// Numbers: 8 bytes each. Text and blobs: all bytes one after the other.
  @usableFromInline let bytes: UnsafeMutableRawBufferPointer
  /// End offset of each text or blob.
  @usableFromInline let ends: [Int]
  @usableFromInline let mixed: [Binding]

  package init(_ values: some Collection<Int64>) {
    count = values.count
    kind = .int
    bytes = .allocate(byteCount: max(8, count * 8), alignment: 8)
    for (index, value) in values.enumerated() {
      bytes.storeBytes(of: value, toByteOffset: index * 8, as: Int64.self)
    }
    ends = []
    mixed = []
  }

  package init(_ values: some Collection<Double>) {
    count = values.count
    kind = .double
    bytes = .allocate(byteCount: max(8, count * 8), alignment: 8)
    for (index, value) in values.enumerated() {
      bytes.storeBytes(of: value, toByteOffset: index * 8, as: Double.self)
    }
    ends = []
    mixed = []
  }

  package init(_ values: [String]) {
    count = values.count
    kind = .text
    let total = values.reduce(0) { $0 + $1.utf8.count }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, total), alignment: 1)
    var ends: [Int] = []
    ends.reserveCapacity(values.count)
    var used = 0
    for value in values {
      var text = value
      text.withUTF8 { source in
        UnsafeMutableRawBufferPointer(rebasing: memory[used..<(used + source.count)]).copyBytes(from: source)
        used += source.count
      }
      ends.append(used)
    }
    bytes = memory
    self.ends = ends
    mixed = []
  }

  package init(_ values: [Binding]) {
    count = values.count
    kind = .mixed
    bytes = .allocate(byteCount: 1, alignment: 1)
    ends = []
    mixed = values
  }

  deinit { bytes.deallocate() }
}
