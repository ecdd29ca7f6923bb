import CoreData
import CoreDataCSQLite
import CoreDataModelSchema
import Foundation

/// A value that the floor binds.
enum FloorCell {
  case null
  case integer(Int64)
  case double(Double)
  case text(String)
  case bytes(Data)

  /// - Parameter isExternal: Whether the column is of an attribute with external storage, where the first byte says that
  ///   the rest is the value.
  init(_ value: StoredValue, isExternal: Bool) {
    switch value {
    case .null, .reference, .composite: self = .null
    case .integer(let number): self = .integer(number)
    case .boolean(let flag): self = .integer(flag ? 1 : 0)
    case .double(let number), .date(let number): self = .double(number)
    case .decimal(let decimal): self = .double((decimal as NSDecimalNumber).doubleValue)
    case .string(let text), .uri(let text): self = .text(text)
    case .uuid(let uuid): self = .bytes(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    case .data(let data), .transformable(let data): self = .bytes(isExternal ? Data([1]) + data : data)
    }
  }

  func bind(to statement: OpaquePointer, at place: Int32) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch self {
    case .null: sqlite3_bind_null(statement, place)
    case .integer(let number): sqlite3_bind_int64(statement, place, number)
    case .double(let number): sqlite3_bind_double(statement, place, number)
    case .text(var text):
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          // An empty text must not become NULL.
          _ =
            $0.isEmpty
            ? sqlite3_bind_text(statement, place, "", 0, transient)
            : sqlite3_bind_text(statement, place, $0.baseAddress, Int32($0.count), transient)
        }
      }
    case .bytes(let data):
      data.withUnsafeBytes {
        _ =
          $0.isEmpty
          ? sqlite3_bind_zeroblob(statement, place, 0)
          : sqlite3_bind_blob(statement, place, $0.baseAddress, Int32($0.count), transient)
      }
    }
  }
}

/// The prepared statements of a floor, each made once.
final class FloorStatements {
  private let _database: PlainSQLite
  private var _prepared: [OpaquePointer] = []

  init(_ database: PlainSQLite) { _database = database }

  /// Prepares a statement, to be finalized with the others.
  func prepare(_ sql: String) throws -> OpaquePointer {
    let statement = try _database.prepare(sql)
    _prepared.append(statement)
    return statement
  }

  /// Runs a statement that returns no row.
  func run(_ statement: OpaquePointer, _ cells: FloorCell...) throws { try run(statement, cells) }

  func run(_ statement: OpaquePointer, _ cells: [FloorCell]) throws {
    for (index, cell) in cells.enumerated() { cell.bind(to: statement, at: Int32(index + 1)) }
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    try _database.check(code, String(cString: sqlite3_sql(statement)))
  }

  /// Runs a statement, and returns whether it has changed a row.
  func runs(_ statement: OpaquePointer, _ cells: [FloorCell]) throws -> Bool {
    try run(statement, cells)
    return sqlite3_changes(_database.handle) > 0
  }

  func finalize() {
    for statement in _prepared { sqlite3_finalize(statement) }
    _prepared = []
  }
}
