import CoreDataCSQLite

/// How SQLite stores a value, regardless of the column's declared type.
package enum StorageClass: Int32, Sendable {
  case int = 1
  case double = 2
  case text = 3
  case blob = 4
  case null = 5
}

/// Columns count from 0 and are valid while the statement is on a row. A value of another storage class is
/// converted as by SQLite's CAST; nothing here fails.
extension Statement {
  @inlinable package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  @inlinable package func storageClass(_ column: Int32) -> StorageClass {
    StorageClass(rawValue: sqlite3_column_type(handle, column)) ?? .null
  }

  @inlinable package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  @inlinable package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  /// Text; bytes that are not UTF-8 become replacement characters. Empty for NULL.
  @inlinable package func string(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// Lends text as UTF-8, until the next step; no base address for NULL.
  @inlinable package func text(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    guard let text = sqlite3_column_text(handle, column) else {
      return UnsafeBufferPointer(start: nil, count: 0)
    }
    return UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Lends the bytes of a blob or text.
  @inlinable package func withBytes<Result>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    // The pointer first: sqlite3_column_blob may convert, and the count must be that of the converted value.
    let base = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    return try body(UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : count))
  }

  /// The value as stored.
  package func value(_ column: Int32) -> Binding {
    switch storageClass(column) {
    case .int: .int(int64(column))
    case .double: .double(double(column))
    case .text: .text(string(column))
    case .blob: .blob(withBytes(column) { [UInt8]($0) })
    case .null: .null
    }
  }
}
