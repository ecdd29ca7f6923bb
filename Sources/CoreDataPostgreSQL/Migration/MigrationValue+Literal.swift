import CoreData
import Foundation

extension MigrationValue {
  /// Returns the value as a literal of a column's type, for statements that take no parameters.
  func literal(in column: TableColumn) -> String {
    "\(_text)::\(column.declaredType.components(separatedBy: " COLLATE ")[0])"
  }

  private var _text: String {
    switch self {
    case .bool(let flag): flag ? "true" : "false"
    case .int(let number): "'\(number)'"
    case .double(let number): PostgreSQLNames.literal("\(number)")
    case .decimal(let text), .string(let text): PostgreSQLNames.literal(text)
    case .uuid(let uuid): PostgreSQLNames.literal("\(uuid)")
    case .data(let bytes): PostgreSQLNames.bytes(bytes)
    }
  }
}
