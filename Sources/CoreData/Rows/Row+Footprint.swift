import Foundation

extension Row {
  /// The memory that the row keeps alive, in bytes, roughly: its allocation, and the data and texts that it references.
  var footprint: Int {
    var bytes = count * (header.format == nil ? MemoryLayout<Value>.stride : MemoryLayout<UInt64>.stride)
    if let format = header.format {
      if !format._withUnsafeGuaranteedRef({ $0.hasObjects }) { return bytes }
      for slot in 0..<count where format._withUnsafeGuaranteedRef({ $0.isObject(slot) }) {
        bytes += self[slot]._referencedBytes
      }
      return bytes
    }
    for slot in 0..<count { bytes += values[slot]._referencedBytes }
    return bytes
  }
}

extension Value {
  /// The bytes outside of the cell.
  fileprivate var _referencedBytes: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .data(let data): data.count
    case .transformable(let box): box.data?.count ?? 0
    case .composite(let box): box.values.reduce(0) { $0 + $1._referencedBytes }
    case .null, .int, .double, .uuid, .decimal, .reference, .pending, .toMany: 0
    }
  }
}
