import Foundation

extension SQLiteStoreOptions {
  /// Reads the settings from a store's options.
  ///
  /// - Throws: A Cocoa error for pragmas that are not texts.
  init(_ options: [AnyHashable: Any]?) throws {
    self.init()
    if SQLDebug.level > 0 {
      trace = { SQLDebug.trace($0) }
      tracesValues = SQLDebug.level > 1
    }
    guard let options else { return }
    if let counter = options[StatementCounter.option] as? StatementCounter {
      trace = { [trace] statement in
        counter.add(statement.sql)
        trace?(statement)
      }
    }
    func flag(_ key: String) -> Bool { StoreOptions.isTrue(key, options) }
    isReadOnly = flag(NSReadOnlyPersistentStoreOption)
    analyzes = flag(NSSQLiteAnalyzeOption)
    vacuums = flag(NSSQLiteManualVacuumOption)
    tracksHistory = StoreOptions.isOn(NSPersistentHistoryTrackingKey, options)
    if let seconds = (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue {
      timeout = seconds
    }
    if let count = (options[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber)?.intValue {
      maximumReaders = max(1, count)
    }
    guard let asked = options[NSSQLitePragmasOption] else { return }
    guard let texts = asked as? [String: String] else {
      throw CocoaError.coreData(
        NSPersistentStoreOpenError,
        "NSSQLitePragmasOption takes a dictionary of strings, such as [\"synchronous\": \"FULL\"].")
    }
    pragmas = texts
  }
}
