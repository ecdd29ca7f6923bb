import CSQLite

/// Version of the SQLite library in use.
package enum SQLiteVersion {
  /// As in "3.40.1".
  package static var text: String { String(cString: sqlite3_libversion()) }
  /// As in 3040001.
  package static var number: Int { Int(sqlite3_libversion_number()) }
}
