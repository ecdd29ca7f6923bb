import CoreDataModelSchema
import Foundation

/// A value that a migration sets where an object has none.
package enum MigrationValue: Hashable, Sendable {
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case decimal(String)
  case string(String)
  case uuid(UUID)
  case data([UInt8])

  /// Converts a model default to a column's content; nil for an unreadable one.
  package init?(_ literal: SchemaLiteral, _ content: ColumnContent) {
    switch literal {
    case .integer(let number): self = content == .double ? .double(Double(number)) : .int(number)
    case .double(let number), .date(let number): self = .double(number)
    case .boolean(let flag): self = .bool(flag)
    case .string(let text), .uri(let text): self = .string(text)
    case .decimal(let text): self = .decimal(text)
    case .uuid(let text):
      guard let uuid = UUID(uuidString: text) else { return nil }
      self = .uuid(uuid)
    case .data(let bytes): self = .data(content == .externalData ? [1] + bytes : bytes)
    }
  }
}

/// A piece of SQL with the values of its `?` parameters.
package struct SQLPiece: Hashable, Sendable {
  package let sql: String
  package var values: [MigrationValue] = []

  package init(sql: String, values: [MigrationValue] = []) {
    self.sql = sql
    self.values = values
  }

  /// A value of its own.
  init(_ value: MigrationValue) { self.init(sql: "?", values: [value]) }

  package static let null = SQLPiece(sql: "NULL")

  /// The value of a piece that is one; nil for NULL and what depends on the row.
  var constant: MigrationValue? { sql == "?" ? values.first : nil }
}

/// The database whose tables a migration rewrites, inside the caller's transaction.
package protocol MigrationDatabase {
  var keyColumn: String { get }
  var entityColumn: String { get }
  var versionColumn: String { get }
  /// Whether a table gets columns with a value, and loses columns, without its rows being written.
  var altersTables: Bool { get }

  /// Returns the temporary name of an old table while its rows are copied, by its number in the old mapping.
  func away(table number: Int) -> String
  func away(join number: Int) -> String

  func run(_ piece: SQLPiece) throws
  /// Whether a query returns a row.
  func finds(_ sql: String) throws -> Bool

  /// Returns the SQL of a number converted to another type, with the result of assigning it to an attribute
  /// of that type.
  func converted(_ column: String, by conversion: NumericConversion) -> String
  /// Returns the SQL of a column's value as a new column of the same type stores it.
  func converted(_ column: TableColumn, to content: ColumnContent) -> String
}

extension MigrationDatabase {
  package var altersTables: Bool { false }
  package func execute(_ sql: String) throws { try run(SQLPiece(sql: sql)) }
  package func converted(_ column: TableColumn, to content: ColumnContent) -> String { column.name }
}
