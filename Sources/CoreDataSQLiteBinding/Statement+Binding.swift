import CoreDataCSQLite

/// A value to bind, for callers without a typed Swift value.
package enum Binding: Sendable, Hashable {
  case null
  case int(Int64)
  case double(Double)
  case text(String)
  case blob([UInt8])
}

/// Parameters count from 1. Short text and bytes go into the statement's own scratch memory, so that SQLite
/// allocates nothing; long ones are copied by SQLite and released at the next `reset`.
extension Statement {
  @inlinable package func bindNull(at index: Int32) {
    bindResult |= sqlite3_bind_null(handle, index)
  }

  @inlinable package func bind(_ value: Int64, at index: Int32) {
    bindResult |= sqlite3_bind_int64(handle, index, value)
  }

  @inlinable package func bind(_ value: Double, at index: Int32) {
    bindResult |= sqlite3_bind_double(handle, index, value)
  }

  @inlinable package func bind(_ value: String, at index: Int32) {
    var text = value
    text.withUTF8 { bind(text: $0, at: index) }
  }

  /// Binds UTF-8 text. Invalid UTF-8 is bound unchanged: the upper bound of a range scan may contain it.
  @inlinable package func bind(text: UnsafeBufferPointer<UInt8>, at index: Int32) {
    if let copy = store(UnsafeRawBufferPointer(text)) {
      bindResult |= coredata_bind_text_borrowing(
        handle, index, UnsafeRawPointer(copy).assumingMemoryBound(to: CChar.self), Int32(text.count))
      return
    }
    holdsLargeValues = true
    guard let base = text.baseAddress, let count = Int32(exactly: text.count) else {
      bindResult |= SQLITE_TOOBIG
      return
    }
    bindResult |= coredata_bind_text_copying(
      handle, index, UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self), count)
  }

  /// Binds UTF-8 text in place: it must remain valid until the statement is reset and bound again or given
  /// back.
  @inlinable package func bind(borrowing text: UnsafeBufferPointer<UInt8>, at index: Int32) {
    guard let count = Int32(exactly: text.count) else {
      bindResult |= SQLITE_TOOBIG
      return
    }
    guard let base = text.baseAddress, count > 0 else { return bind(text: text, at: index) }
    bindResult |= coredata_bind_text_borrowing(
      handle, index, UnsafeRawPointer(base).assumingMemoryBound(to: CChar.self), count)
  }

  @inlinable package func bind(blob: UnsafeRawBufferPointer, at index: Int32) {
    if let copy = store(blob) {
      bindResult |= coredata_bind_blob_borrowing(handle, index, copy, Int32(blob.count))
      return
    }
    holdsLargeValues = true
    bindResult |= coredata_bind_blob_copying(handle, index, blob.baseAddress, UInt64(blob.count))
  }

  package func bind(_ value: Binding, at index: Int32) {
    switch value {
    case .null: bindNull(at: index)
    case .int(let value): bind(value, at: index)
    case .double(let value): bind(value, at: index)
    case .text(let value): bind(value, at: index)
    case .blob(let value): value.withUnsafeBytes { bind(blob: $0, at: index) }
    }
  }

  /// A copy in the scratch memory, valid until the next `reset`; nil if it does not fit there.
  @usableFromInline func store(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8>? {
    let count = bytes.count
    guard scratchUsed + count <= Self.scratchSize else { return nil }
    let start: UnsafeMutablePointer<UInt8>
    if let scratch {
      start = scratch
    } else {
      start = .allocate(capacity: Self.scratchSize + 1)
      scratch = start
    }
    let copy = start + scratchUsed
    if let base = bytes.baseAddress, count > 0 {
      UnsafeMutableRawPointer(copy).copyMemory(from: base, byteCount: count)
    }
    scratchUsed += count
    return copy
  }
}
