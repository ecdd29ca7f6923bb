import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

extension StoreReader {
  /// Ends the read and starts another on the current state.
  ///
  /// - Returns: False if the file was changed in a way that the connection cannot follow; a new reader is
  ///   needed then.
  /// - Throws: `SQLiteError`.
  package func refresh() throws -> Bool {
    if connection.isOutdated?() == true { return false }
    if !connection.isInAutocommit { try connection.execute("COMMIT") }
    try connection.execute("BEGIN")
    return true
  }
}
