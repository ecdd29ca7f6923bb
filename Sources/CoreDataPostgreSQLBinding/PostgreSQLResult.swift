import CoreDataCPostgreSQL

/// Rows of a statement, in binary form. Used by one thread at a time.
package final class PostgreSQLResult {
  @usableFromInline let handle: OpaquePointer
  package let rowCount: Int
  package let columnCount: Int
  /// The connection's `timeline` when it ran.
  package let timeline: Int64

  init(_ result: OpaquePointer, timeline: Int64) {
    handle = result
    self.timeline = timeline
    rowCount = Int(PQntuples(result))
    columnCount = Int(PQnfields(result))
  }

  deinit { PQclear(handle) }

  /// Returns the type of a column; nil for a type that the store does not use.
  package func type(_ column: Int) -> PostgreSQLType? {
    PostgreSQLType(rawValue: PQftype(handle, Int32(truncatingIfNeeded: column)))
  }

  /// The command that ran, as the server names it.
  package var command: String { String(cString: PQcmdStatus(handle)) }

  /// Returns the type of a column, by the server's OID.
  package func typeNumber(_ column: Int) -> UInt32 { PQftype(handle, Int32(truncatingIfNeeded: column)) }

  package func columnName(_ column: Int) -> String {
    PQfname(handle, Int32(truncatingIfNeeded: column)).map { String(cString: $0) } ?? ""
  }

  /// Number of rows that an INSERT, UPDATE or DELETE has written.
  package var affectedCount: Int {
    Int(String(cString: PQcmdTuples(handle))) ?? 0
  }

  @inlinable @inline(__always) package func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(handle, Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column)) != 0
  }

  /// Returns the bytes of a cell, valid for the result's lifetime.
  @inlinable @inline(__always) package func bytes(_ row: Int, _ column: Int) -> UnsafeBufferPointer<UInt8> {
    let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
    let count = Int(PQgetlength(handle, row, column))
    let start = UnsafeRawPointer(PQgetvalue(handle, row, column)!).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: start, count: count)
  }

  /// Returns an integer of two, four or eight bytes, or a boolean of one; zero for NULL and any other size.
  @inlinable @inline(__always) package func int64(_ row: Int, _ column: Int) -> Int64 {
    Self.int64(bytes(row, column))
  }

  /// Returns the integer in a cell's bytes.
  @inlinable @inline(__always) package static func int64(_ cell: UnsafeBufferPointer<UInt8>) -> Int64 {
    let bytes = UnsafeRawBufferPointer(cell)
    switch bytes.count {
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: return Int64(bytes[0])
    default: return 0
    }
  }

  /// Returns a floating-point number of eight bytes; zero for NULL and any other size.
  @inlinable @inline(__always) package func double(_ row: Int, _ column: Int) -> Double {
    Self.double(bytes(row, column))
  }

  /// Returns the floating-point number in a cell's bytes.
  @inlinable @inline(__always) package static func double(_ cell: UnsafeBufferPointer<UInt8>) -> Double {
    let bytes = UnsafeRawBufferPointer(cell)
    guard bytes.count == 8 else { return 0 }
    return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
  }

  @inlinable package func string(_ row: Int, _ column: Int) -> String {
    String(decoding: bytes(row, column), as: UTF8.self)
  }
}
