import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// A SQLite file whose tables a migration rewrites.
struct SQLiteMigrationDatabase: MigrationDatabase {
  let connection: Connection

  var keyColumn: String { "Z_PK" }
  var entityColumn: String { "Z_ENT" }
  var versionColumn: String { "Z_OPT" }

  func away(table number: Int) -> String { "Z_MIGRATED_T\(number)" }
  func away(join number: Int) -> String { "Z_MIGRATED_J\(number)" }

  func run(_ piece: SQLPiece) throws {
    if piece.values.isEmpty { return try connection.execute(piece.sql) }
    try connection.query(piece.sql, piece.values.map(Self._binding))
  }

  func finds(_ sql: String) throws -> Bool { try connection.firstValue(sql) != nil }

  private static func _binding(_ value: MigrationValue) -> Binding {
    switch value {
    case .bool(let flag): .int(flag ? 1 : 0)
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .decimal(let text): Decimal(string: text).map(StoredDecimal.binding) ?? .null
    case .string(let text): .text(text)
    case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { Array($0) })
    case .data(let bytes): .blob(bytes)
    }
  }

  func converted(_ column: TableColumn, to content: ColumnContent) -> String {
    switch (column.content, content) {
    case (.data, .externalData):
      "CASE WHEN \(column.name) IS NULL THEN NULL ELSE CAST(x'01' || \(column.name) AS BLOB) END"
    // Values in external files are read afterwards.
    case (.externalData, .data): "SUBSTR(\(column.name), 2)"
    default: column.name
    }
  }

  func converted(_ column: String, by conversion: NumericConversion) -> String {
    switch conversion.target.form {
    case .boolean: return "(\(column) <> 0)"
    case .integer16, .integer32, .integer64:
      let isWhole = conversion.source.integerBits != nil
      let number = isWhole ? column : "CAST(\(column) AS INTEGER)"
      guard let bits = conversion.target.integerBits, bits < 64,
        bits < conversion.source.integerBits ?? 64
      else { return number }
      // The low bits, sign-extended.
      let (mask, sign) = ((1 << bits) - 1, 1 << (bits - 1))
      return "((((\(number)) & \(mask)) + \(sign)) & \(mask)) - \(sign)"
    case .double: return "CAST(\(column) AS REAL)"
    case .float: return "NSCoreDataFloat(\(column))"
    case .decimal where conversion.source.form == .float: return "NSCoreDataFloatDecimal(\(column))"
    default: return column
    }
  }
}
