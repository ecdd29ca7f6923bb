import CoreDataCPostgreSQL

/// Rows in COPY's binary form, sent while they are encoded, so that the server stores the first ones
/// meanwhile.
package struct PostgreSQLCopyRows: PostgreSQLValueSink {
  private static let _chunk = 16 << 10
  private static let _head: [UInt8] =
    Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8)

  private let _connection: PostgreSQLConnection
  private let _columnCount: Int16
  private var _bytes: [UInt8]
  /// Whether the server has accepted all data sent so far.
  private(set) var isSent = true

  package var type = PostgreSQLType.int8Array

  init(_ connection: PostgreSQLConnection, columnCount: Int) {
    _connection = connection
    _columnCount = Int16(columnCount)
    _bytes = Self._head
    _bytes.reserveCapacity(Self._chunk + 4096)
  }

  /// Begins a row; a value for each column must follow.
  package mutating func beginRow() {
    if _bytes.count >= Self._chunk { _send() }
    _bytes.appendBigEndian(_columnCount)
  }

  mutating func end() {
    _bytes.appendBigEndian(Int16(-1))
    _send()
  }

  private mutating func _send() {
    let result = _bytes.withUnsafeBytes {
      PQputCopyData(_connection.handle, $0.baseAddress!.assumingMemoryBound(to: CChar.self), Int32($0.count))
    }
    // libpq keeps whatever the network does not take.
    if result != 1 || !_connection.flush() { isSent = false }
    _bytes.removeAll(keepingCapacity: true)
  }

  package mutating func addNull() { _bytes.appendBigEndian(Int32(-1)) }

  package mutating func add(_ value: Int64) {
    switch type {
    case .int2Array:
      _bytes.appendBigEndian(Int32(2))
      _bytes.appendBigEndian(Int16(truncatingIfNeeded: value))
    case .int4Array:
      _bytes.appendBigEndian(Int32(4))
      _bytes.appendBigEndian(Int32(truncatingIfNeeded: value))
    case .boolArray:
      _bytes.appendBigEndian(Int32(1))
      _bytes.append(value == 0 ? 0 : 1)
    case .float8Array: add(Double(value))
    case .numericArray: add(numeric: String(value))
    default:
      _bytes.appendBigEndian(Int32(8))
      _bytes.appendBigEndian(value)
    }
  }

  package mutating func add(_ value: Double) {
    _bytes.appendBigEndian(Int32(8))
    _bytes.appendBigEndian(value.bitPattern)
  }

  package mutating func add(_ value: String) {
    var value = value
    value.withUTF8 { text in
      _bytes.appendBigEndian(Int32(text.count))
      _bytes.append(contentsOf: text)
    }
  }

  package mutating func add(bytes: UnsafeRawBufferPointer) {
    _bytes.appendBigEndian(Int32(bytes.count))
    _bytes.append(contentsOf: bytes)
  }

  package mutating func add(numeric value: String) {
    let words = PostgreSQLNumeric.words(of: value)
    _bytes.appendBigEndian(Int32(words.count * 2))
    for word in words { _bytes.appendBigEndian(word) }
  }
}

extension PostgreSQLConnection {
  /// Runs a binary COPY into a table with the rows that `body` adds.
  ///
  /// - Throws: Errors of `body`, after the server has dropped the rows; `PostgreSQLError`. The transaction is
  ///   then aborted.
  package func copy(
    _ sql: String, columnCount: Int, _ body: (inout PostgreSQLCopyRows) throws -> Void
  ) throws {
    try runPending()
    noteStatement()
    _ = try heard(sql) { try _copy(sql, columnCount, body) }
  }

  private func _copy(
    _ sql: String, _ columnCount: Int, _ body: (inout PostgreSQLCopyRows) throws -> Void
  ) throws -> PostgreSQLResult {
    let start = result(ofSending: PQsendQuery(handle, sql), isCopy: true)
    guard let start, PQresultStatus(start) == PGRES_COPY_IN else { return try checked(start, sql) }
    PQclear(start)
    var rows = PostgreSQLCopyRows(self, columnCount: columnCount)
    do {
      try body(&rows)
    } catch {
      PQputCopyEnd(handle, "the rows cannot be made")
      if let last = result(ofSending: 1) { PQclear(last) }
      throw error
    }
    rows.end()
    PQputCopyEnd(handle, nil)
    return try checked(result(ofSending: 1), sql)
  }
}
