import CoreDataCSQLite

/// SQLite in this process, as a whole.
enum SQLiteLibrary {
  /// Settings that hold for all connections; to be asked for before anything else is asked of SQLite.
  ///
  /// Switches off memory statistics, which the engine does not use: counting costs every allocation of every
  /// connection a global lock, and SQLite's documentation recommends leaving it out. Has no effect if the process
  /// has used SQLite before.
  static let isPrepared = coredata_set_memory_statistics(0) == SQLITE_OK
}
