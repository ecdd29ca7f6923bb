import CoreDataCSQLite

/// SQLite in this process, as a whole.
enum SQLiteLibrary {
  /// Global settings of SQLite; must be accessed before any other call of SQLite.
  ///
  /// Switches off memory statistics, which the engine does not use: counting takes a global lock at every
  /// allocation of every connection, and SQLite's documentation recommends switching it off. Has no effect if
  /// the process has used SQLite before.
  static let isPrepared = coredata_set_memory_statistics(0) == SQLITE_OK
}
