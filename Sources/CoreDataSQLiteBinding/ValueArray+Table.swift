import CoreDataCSQLite

/// `Z_VALUES(?)`: the table-valued function that exposes a bound `ValueArray` to SQL, with one column,
/// `value`.
///
/// Unlike a list of parameters it is one statement for any number of values; unlike JSON it is exact for
/// every type and needs no serializing and parsing.
extension ValueArray {
  /// Name of the table in SQL.
  package static let tableName = "Z_VALUES"

  /// The right-hand side of IN that searches the array bound to its parameter.
  package static let members = "(SELECT value FROM Z_VALUES(?))"

  private static let _pointerType: StaticString = "CoreDataValueArray"

  private struct Cursor {
    var base = sqlite3_vtab_cursor()
    var array: Unmanaged<ValueArray>?
    var row = 0
  }

  /// The module; SQLite retains the pointer, so it lives as long as the process.
  private static let _module: ModulePointer = {
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    module.initialize(to: sqlite3_module())
    module.pointee.iVersion = 0
    module.pointee.xConnect = { connection, _, _, _, table, _ in
      let result = sqlite3_declare_vtab(connection, "CREATE TABLE x(value, source HIDDEN)")
      guard result == SQLITE_OK, let table else { return result }
      let memory = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
      memory.initialize(to: sqlite3_vtab())
      table.pointee = memory
      return SQLITE_OK
    }
    module.pointee.xDisconnect = { table in
      table?.deallocate()
      return SQLITE_OK
    }
    module.pointee.xBestIndex = { _, info in
      guard let info else { return SQLITE_ERROR }
      for index in 0..<Int(info.pointee.nConstraint) {
        let constraint = info.pointee.aConstraint[index]
        guard constraint.iColumn == 1, constraint.op == UInt8(SQLITE_INDEX_CONSTRAINT_EQ) else { continue }
        guard constraint.usable != 0 else { return SQLITE_CONSTRAINT }
        info.pointee.aConstraintUsage[index].argvIndex = 1
        info.pointee.aConstraintUsage[index].omit = 1
        info.pointee.estimatedCost = 1
        info.pointee.estimatedRows = 100
        info.pointee.idxNum = 1
        return SQLITE_OK
      }
      info.pointee.estimatedCost = 1_000_000
      info.pointee.idxNum = 0
      return SQLITE_OK
    }
    module.pointee.xOpen = { _, cursor in
      let memory = UnsafeMutablePointer<Cursor>.allocate(capacity: 1)
      memory.initialize(to: Cursor())
      cursor?.pointee = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
      return SQLITE_OK
    }
    module.pointee.xClose = { cursor in
      cursor.map { ValueArray._cursor($0).deallocate() }
      return SQLITE_OK
    }
    module.pointee.xFilter = { cursor, index, _, count, values in
      guard let cursor else { return SQLITE_ERROR }
      let own = ValueArray._cursor(cursor)
      own.pointee.row = 0
      own.pointee.array = nil
      if index == 1, count > 0, let value = values?[0], let pointer = ValueArray._pointer(of: value) {
        // Unretained: the binding keeps the array alive while the statement runs.
        own.pointee.array = Unmanaged.fromOpaque(pointer)
      }
      return SQLITE_OK
    }
    module.pointee.xNext = { cursor in
      guard let cursor else { return SQLITE_ERROR }
      ValueArray._cursor(cursor).pointee.row += 1
      return SQLITE_OK
    }
    module.pointee.xEof = { cursor in
      guard let cursor else { return 1 }
      let own = ValueArray._cursor(cursor).pointee
      guard let array = own.array else { return 1 }
      return array._withUnsafeGuaranteedRef { own.row >= $0.count } ? 1 : 0
    }
    module.pointee.xColumn = { cursor, context, column in
      guard let cursor, let context, column == 0 else { return SQLITE_OK }
      let own = ValueArray._cursor(cursor).pointee
      own.array?._withUnsafeGuaranteedRef { $0._answer(own.row, context) }
      return SQLITE_OK
    }
    module.pointee.xRowid = { cursor, row in
      guard let cursor else { return SQLITE_ERROR }
      row?.pointee = Int64(ValueArray._cursor(cursor).pointee.row)
      return SQLITE_OK
    }
    return ModulePointer(pointer: module)
  }()

  private struct ModulePointer: @unchecked Sendable {
    // Unchecked: written once, before it is shared.
    let pointer: UnsafeMutablePointer<sqlite3_module>
  }

  private static func _cursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>) -> UnsafeMutablePointer<
    Cursor
  > {
    UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: Cursor.self)
  }

  private static var _typeName: UnsafePointer<CChar> {
    UnsafeRawPointer(_pointerType.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private static func _pointer(of value: OpaquePointer) -> UnsafeMutableRawPointer? {
    sqlite3_value_pointer(value, _typeName)
  }

  private func _answer(_ row: Int, _ context: OpaquePointer) {
    guard row < count else { return }
    switch kind {
    case .int: sqlite3_result_int64(context, bytes.load(fromByteOffset: row * 8, as: Int64.self))
    case .double: sqlite3_result_double(context, bytes.load(fromByteOffset: row * 8, as: Double.self))
    case .text, .blob:
      let start = row == 0 ? 0 : ends[row - 1]
      let base = UnsafeRawPointer(bytes.baseAddress!) + start
      let length = Int32(clamping: ends[row] - start)
      if kind == .text {
        coredata_result_text_borrowing(context, base.assumingMemoryBound(to: CChar.self), length)
      } else {
        coredata_result_blob_borrowing(context, base, length)
      }
    case .mixed:
      switch mixed[row] {
      case .null: sqlite3_result_null(context)
      case .int(let value): sqlite3_result_int64(context, value)
      case .double(let value): sqlite3_result_double(context, value)
      case .text(var value):
        value.withUTF8 { buffer in
          buffer.withMemoryRebound(to: CChar.self) {
            coredata_result_text_copying(context, $0.baseAddress, Int32(clamping: $0.count))
          }
        }
      case .blob(let value):
        value.withUnsafeBytes {
          coredata_result_blob_copying(context, $0.baseAddress, Int32(clamping: $0.count))
        }
      }
    }
  }

  /// Registers the table with a connection.
  static func register(on connection: OpaquePointer) throws {
    let result = sqlite3_create_module_v2(connection, tableName, _module.pointer, nil, nil)
    guard result == SQLITE_OK else { throw SQLiteError(result, on: connection, sql: tableName) }
  }

  fileprivate static func _bind(_ array: ValueArray, to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_pointer(statement, index, Unmanaged.passRetained(array).toOpaque(), _typeName) {
      $0.map { Unmanaged<ValueArray>.fromOpaque($0).release() }
    }
  }
}

extension Statement {
  /// Binds the argument of `Z_VALUES(?)`.
  package func bind(_ array: ValueArray, at index: Int32) {
    bindResult |= ValueArray._bind(array, to: handle, at: index)
    holdsLargeValues = true
  }
}
