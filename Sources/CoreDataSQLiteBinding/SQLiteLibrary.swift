import CoreDataCSQLite

/// SQLite in this process, as a whole.
enum SQLiteLibrary {
  /// Settings that hold for all connections; to be asked for before anything else is asked of SQLite.
  ///
  /// Nobody here asks how much memory SQLite uses, and counting it costs every allocation, in all connections
  /// of all threads, one common lock. SQLite's documentation recommends to leave it out. Where the process
  /// has used SQLite before, it stays as it is.
  static let isPrepared = coredata_set_memory_statistics(0) == SQLITE_OK
}
