import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// The schema whose tables a migration rewrites. The old tables are moved to a separate schema meanwhile,
/// under their own names.
struct PostgreSQLMigrationDatabase: MigrationDatabase {
  let connection: PostgreSQLConnection
  /// The old mapping's tables and join tables, in their order, with the name of the other schema.
  let awayTables: [String]
  let awayJoins: [String]

  var keyColumn: String { "\"id\"" }
  var entityColumn: String { "\"entity\"" }
  var versionColumn: String { "\"version\"" }
  var altersTables: Bool { true }

  func away(table number: Int) -> String { awayTables[number] }
  func away(join number: Int) -> String { awayJoins[number] }

  func run(_ piece: SQLPiece) throws {
    var parameters = PostgreSQLParameters()
    let pieces = ParameterPlaces.pieces(of: piece.sql)
    precondition(pieces.count == piece.values.count + 1, "each question mark is a parameter")
    var sql = String(pieces[0])
    for (value, rest) in zip(piece.values, pieces.dropFirst()) {
      sql += "$\(parameters.count + 1)::\(Self._add(value, to: &parameters))\(rest)"
    }
    try connection.run(sql, parameters, isRepeated: false)
  }

  /// Adds a parameter and returns its type.
  private static func _add(_ value: MigrationValue, to parameters: inout PostgreSQLParameters) -> String {
    switch value {
    case .bool(let flag):
      parameters.add(flag)
      return "bool"
    case .int(let number):
      parameters.add(number)
      return "int8"
    case .double(let number):
      parameters.add(number)
      return "float8"
    case .decimal(let text):
      parameters.add(numeric: text)
      return "numeric"
    case .string(let text):
      parameters.add(text)
      return "text"
    case .uuid(let uuid):
      withUnsafeBytes(of: uuid.uuid) { parameters.add(uuid: $0) }
      return "uuid"
    case .data(let bytes):
      parameters.add(bytes: bytes)
      return "bytea"
    }
  }

  func finds(_ sql: String) throws -> Bool { try connection.run(sql, isRepeated: false).rowCount > 0 }

  func converted(_ column: String, by conversion: NumericConversion) -> String {
    let value = conversion.source.form == .boolean ? "(\(column))::int4" : column
    switch conversion.target.form {
    case .boolean: return "((\(value)) <> 0)"
    case .integer16, .integer32, .integer64:
      var number = "(\(value))::int8"
      if conversion.source.integerBits == nil, conversion.source != .boolean {
        // Converts as a processor does: truncates towards zero, and clamps to the range.
        number =
          "(CASE WHEN \(value) = 'NaN' THEN 0 WHEN \(value) >= 9223372036854775807 THEN 9223372036854775807 "
          + "WHEN \(value) <= -9223372036854775808 THEN -9223372036854775808 ELSE pg_catalog.trunc(\(value))::int8 END)"
      }
      guard let bits = conversion.target.integerBits, bits < 64,
        bits < conversion.source.integerBits ?? 64
      else { return number }
      // Keeps the low bits; the highest of them is the sign.
      let (mask, sign) = ((1 << bits) - 1, 1 << (bits - 1))
      return "((((\(number)) & \(mask)) + \(sign)) & \(mask)) - \(sign)"
    case .double: return "(\(value))::float8"
    case .float:
      // Values beyond the range of Float become infinite.
      return
        "(CASE WHEN pg_catalog.abs((\(value))::float8) > 3.4028234663852886e38 AND (\(value))::float8 <> 'NaN' "
        + "THEN pg_catalog.sign((\(value))::float8) * 'Infinity'::float8 ELSE (\(value))::float4::float8 END)"
    case .decimal where conversion.source.form == .float: return "(\(value))::float4::text::numeric"
    case .decimal: return "(\(value))::text::numeric"
    default: return value
    }
  }
}
