import CoreDataCSQLite
import Foundation

/// A column of a stop that an import writes; its raw value is its place in `FloorStop.columns`, where the ID is first.
enum FloorColumn: Int32, CaseIterable {
  case identifier = 1
  case name, latitude, longitude, code, createdAt, active, note, routeId

  /// Binds a record's value.
  @inline(__always) func bind(
    _ text: UnsafePointer<CChar>, _ numbers: StopNumbers, to statement: OpaquePointer, _ index: Int32
  ) {
    switch self {
    case .identifier:
      coredata_bind_text_borrowing(statement, index, text + StopGenerator.identifier.lowerBound, 17)
    case .name: coredata_bind_text_borrowing(statement, index, text + StopGenerator.name.lowerBound, 16)
    case .latitude: sqlite3_bind_double(statement, index, numbers.latitude)
    case .longitude: sqlite3_bind_double(statement, index, numbers.longitude)
    case .code: sqlite3_bind_int64(statement, index, numbers.code)
    case .createdAt: sqlite3_bind_double(statement, index, numbers.createdAt)
    case .active: sqlite3_bind_int(statement, index, numbers.isActive ? 1 : 0)
    case .note:
      if numbers.hasNote {
        coredata_bind_text_borrowing(statement, index, text + StopGenerator.note.lowerBound, 21)
      } else {
        sqlite3_bind_null(statement, index)
      }
    case .routeId: sqlite3_bind_int64(statement, index, Int64(numbers.route))
    }
  }

  /// Binds all values of a record, in the order of the columns.
  @inline(__always) static func bindAll(
    _ text: UnsafePointer<CChar>, _ numbers: StopNumbers, to statement: OpaquePointer
  ) {
    bindAttributes(text, numbers, to: statement)
    routeId.bind(text, numbers, to: statement, 9)
  }

  /// Binds the values of a record but its route's.
  @inline(__always) static func bindAttributes(
    _ text: UnsafePointer<CChar>, _ numbers: StopNumbers, to statement: OpaquePointer
  ) {
    identifier.bind(text, numbers, to: statement, 1)
    name.bind(text, numbers, to: statement, 2)
    latitude.bind(text, numbers, to: statement, 3)
    longitude.bind(text, numbers, to: statement, 4)
    code.bind(text, numbers, to: statement, 5)
    createdAt.bind(text, numbers, to: statement, 6)
    active.bind(text, numbers, to: statement, 7)
    note.bind(text, numbers, to: statement, 8)
  }

  /// The columns in which a stored row differs, each as the bit of its place.
  @inline(__always) static func differences(
    _ text: UnsafePointer<CChar>, _ numbers: StopNumbers, from row: OpaquePointer
  ) -> UInt16 {
    // The identifier is what the row was found by.
    var columns: UInt16 = 0
    if name._differs(text, numbers, from: row) { columns |= name.bit }
    if latitude._differs(text, numbers, from: row) { columns |= latitude.bit }
    if longitude._differs(text, numbers, from: row) { columns |= longitude.bit }
    if code._differs(text, numbers, from: row) { columns |= code.bit }
    if createdAt._differs(text, numbers, from: row) { columns |= createdAt.bit }
    if active._differs(text, numbers, from: row) { columns |= active.bit }
    if note._differs(text, numbers, from: row) { columns |= note.bit }
    if routeId._differs(text, numbers, from: row) { columns |= routeId.bit }
    return columns
  }

  @inline(__always) var bit: UInt16 { 1 << UInt16(rawValue) }

  /// Whether a stored row, which a statement over `FloorStop.columns` is at, has another value.
  @inline(__always) private func _differs(
    _ text: UnsafePointer<CChar>, _ numbers: StopNumbers, from row: OpaquePointer
  ) -> Bool {
    switch self {
    case .identifier: false
    case .name: Self._isOther(text + StopGenerator.name.lowerBound, 16, row, rawValue)
    case .latitude: sqlite3_column_double(row, rawValue) != numbers.latitude
    case .longitude: sqlite3_column_double(row, rawValue) != numbers.longitude
    case .code: sqlite3_column_int64(row, rawValue) != numbers.code
    case .createdAt: sqlite3_column_double(row, rawValue) != numbers.createdAt
    case .active: (sqlite3_column_int(row, rawValue) != 0) != numbers.isActive
    case .note:
      numbers.hasNote
        ? Self._isOther(text + StopGenerator.note.lowerBound, 21, row, rawValue)
        : sqlite3_column_type(row, rawValue) != SQLITE_NULL
    case .routeId: sqlite3_column_int64(row, rawValue) != Int64(numbers.route)
    }
  }

  @inline(__always) private static func _isOther(
    _ text: UnsafePointer<CChar>, _ count: Int32, _ row: OpaquePointer, _ column: Int32
  ) -> Bool {
    guard let stored = sqlite3_column_text(row, column), sqlite3_column_bytes(row, column) == count else {
      return true
    }
    return memcmp(stored, text, Int(count)) != 0
  }
}

/// Updates of stops, one statement for each set of columns.
struct FloorUpdates: ~Copyable {
  private let _database: Database
  private var _statements: [UInt16: OpaquePointer] = [:]
  private var _last: (columns: UInt16, statement: OpaquePointer)?
  private var _id: Int64 = 0
  private var _columns: UInt16 = 0

  init(_ database: Database) { _database = database }

  deinit { for statement in _statements.values { sqlite3_finalize(statement) } }

  /// Compares a record with the row that `find` is at, for `write`.
  @inline(__always)
  mutating func compare(_ find: OpaquePointer, _ text: UnsafePointer<CChar>, _ numbers: StopNumbers) {
    _id = sqlite3_column_int64(find, 0)
    _columns = FloorColumn.differences(text, numbers, from: find)
  }

  /// Writes the columns that differ. `find` must have been reset, or SQLite would have to keep its place.
  @inline(__always) mutating func write(_ text: UnsafePointer<CChar>, _ numbers: StopNumbers) throws {
    guard _columns != 0 else { return }
    let statement = try _statement(_columns)
    var index: Int32 = 1
    var left = _columns
    while left != 0 {
      if let column = FloorColumn(rawValue: Int32(left.trailingZeroBitCount)) {
        column.bind(text, numbers, to: statement, index)
      }
      left &= left - 1
      index += 1
    }
    sqlite3_bind_int64(statement, index, _id)
    try _database.run(statement)
  }

  @inline(__always) private mutating func _statement(_ columns: UInt16) throws -> OpaquePointer {
    if let last = _last, last.columns == columns { return last.statement }
    let statement = try _statements[columns] ?? _prepare(columns)
    _statements[columns] = statement
    _last = (columns, statement)
    return statement
  }

  private func _prepare(_ columns: UInt16) throws -> OpaquePointer {
    let names = FloorColumn.allCases.filter { columns & $0.bit != 0 }.map { "\($0) = ?" }
    return try _database.prepare("UPDATE stop SET \(names.joined(separator: ", ")) WHERE id = ?")
  }
}
