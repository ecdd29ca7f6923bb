import CoreDataModelSchema
import Foundation

/// A value that a migration puts where an object has none.
package enum MigrationValue: Hashable, Sendable {
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case decimal(String)
  case string(String)
  case uuid(UUID)
  case data([UInt8])

  /// A default of the model as a column of this content takes it; nil for one that cannot be read.
  init?(_ literal: SchemaLiteral, _ content: ColumnContent) {
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

/// A piece of SQL with the values of its parameters, each of which is a question mark in the text.
package struct SQLPiece: Hashable, Sendable {
  package let sql: String
  package var values: [MigrationValue] = []

  package init(sql: String, values: [MigrationValue] = []) {
    self.sql = sql
    self.values = values
  }

  static let null = SQLPiece(sql: "NULL")
}

/// The database whose tables a migration rewrites, inside a transaction of the caller's.
package protocol MigrationDatabase {
  var keyColumn: String { get }
  var entityColumn: String { get }
  var versionColumn: String { get }

  /// Name that an old table has while its rows are copied, by its number in the old mapping.
  func away(table number: Int) -> String
  func away(join number: Int) -> String

  func run(_ piece: SQLPiece) throws
  /// Whether a query finds a row.
  func finds(_ sql: String) throws -> Bool

  /// The number in a column as it is kept for another type: what assigning it to an attribute of that type would give.
  func converted(_ column: String, by conversion: NumericConversion) -> String
  /// The value of a column of the same type as the new column keeps it.
  func converted(_ column: TableColumn, to content: ColumnContent) -> String
}

extension MigrationDatabase {
  package func execute(_ sql: String) throws { try run(SQLPiece(sql: sql)) }
  package func converted(_ column: TableColumn, to content: ColumnContent) -> String { column.name }
}
