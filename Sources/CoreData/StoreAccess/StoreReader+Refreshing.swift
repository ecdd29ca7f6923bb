import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

extension StoreReader {
  /// Ends the reading and begins another, of the moment that is now.
  ///
  /// - Returns: False when the file was changed in a way that the connection cannot follow; then a new reader is needed.
  /// - Throws: `SQLiteError`.
  package func refresh() throws -> Bool {
    if connection.isOutdated?() == true { return false }
    if !connection.isInAutocommit { try connection.execute("COMMIT") }
    try connection.execute("BEGIN")
    return true
  }
}
