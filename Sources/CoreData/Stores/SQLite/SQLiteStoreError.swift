import CoreDataSQLiteBinding
import Foundation

/// Errors of an open store, except conflicts and constraint violations.
enum SQLiteStoreError: SQLiteFailure, Sendable, CustomStringConvertible {
  /// The engine was closed.
  case closed
  /// The store was opened read-only.
  case readOnly(path: String)
  /// Another connection held a lock for longer than the timeout.
  case timeout(SQLiteError)
  /// The file was deleted, moved or replaced while the store was open.
  case moved(SQLiteError)
  /// The file of a large value cannot be written.
  case externalData(path: String, code: Int32)
  /// The file of a large value exists but cannot be read.
  case unreadableExternalData(path: String, code: Int32)
  /// A predicate is nested deeper, or has more parts, than SQLite supports.
  case tooComplex(SQLiteError)
  /// Any other SQLite error.
  case sqlite(SQLiteError)
  /// A row that no store of this model can contain.
  case corruptRow(table: String, key: Int64, reason: String)
  /// A relationship to an object that is neither stored nor part of the save.
  case danglingReference(entity: String, property: String)
  /// A relationship to an object of another store.
  case foreignStore(entity: String, property: String)
  /// A value that cannot be stored in this property.
  case unstorable(entity: String, property: String, reason: String)
  /// The primary keys are exhausted.
  case keysExhausted(entity: String)

  /// The code in the Cocoa error domain.
  var cocoaCode: Int {
    switch self {
    case .closed: NSPersistentStoreOperationError
    case .readOnly: CocoaError.fileWriteNoPermission.rawValue
    case .timeout: NSPersistentStoreTimeoutError
    case .moved: NSSQLiteError
    case .externalData(_, let code):
      (code == ENOSPC || code == EDQUOT ? CocoaError.fileWriteOutOfSpace : .fileWriteUnknown).rawValue
    case .unreadableExternalData(_, let code):
      (code == EACCES || code == EPERM
        ? CocoaError.fileReadNoPermission : code == EFBIG ? .fileReadTooLarge : .fileReadUnknown).rawValue
    case .tooComplex: NSCoreDataError
    case .sqlite(let error):
      error.isCorrupt || error.isNotADatabase
        ? CocoaError.fileReadCorruptFile.rawValue
        : error.isFull ? CocoaError.fileWriteOutOfSpace.rawValue : NSSQLiteError
    case .corruptRow: CocoaError.fileReadCorruptFile.rawValue
    case .danglingReference, .foreignStore, .unstorable, .keysExhausted: NSPersistentStoreSaveError
    }
  }

  /// A statement that reads a row is always the same: apart from the medium, only the file can make it fail.
  var isDamage: Bool {
    switch self {
    case .corruptRow: true
    case .unreadableExternalData(_, let code): ![EIO, EMFILE, ENFILE, ENOMEM, EINTR, EAGAIN].contains(code)
    case .sqlite(let error), .tooComplex(let error):
      // Not cancelled, a statement ends because of a view or trigger of the file that never ends itself.
      error.isInterrupted ? !QueryCancellation.isCancelled : !error.isOfEnvironment
    case .closed, .readOnly, .timeout, .moved, .externalData, .danglingReference, .foreignStore, .unstorable,
      .keysExhausted:
      false
    }
  }

  /// SQLite's error, for the user info.
  var underlying: SQLiteError? {
    switch self {
    case .timeout(let error), .moved(let error), .sqlite(let error), .tooComplex(let error): error
    default: nil
    }
  }

  var description: String {
    switch self {
    case .closed: "the store was removed or closed; add it again before using its objects"
    case .readOnly(let path): "the store \(path) was opened read-only and cannot be changed"
    case .timeout(let error):
      "the store stayed locked by another writer for longer than its timeout: \(error)"
    case .moved(let error):
      "nothing was saved: \(error.message); remove the store from its coordinator and add it again"
    case .externalData(let path, let code):
      "the external data file \(path) cannot be written: \(String(cString: strerror(code)))"
    case .unreadableExternalData(let path, let code):
      "the external data file \(path) cannot be read: \(String(cString: strerror(code)))"
    case .sqlite(let error): "\(error)" + Self._explanation(of: error)
    case .tooComplex(let error):
      "the predicate nests deeper, or has more parts, than SQLite takes (\(error.message)); say it with "
        + "fewer levels, combine its parts side by side with one AND or OR, or use IN with a collection"
    case .corruptRow(let table, let key, let reason): "row \(key) of \(table) cannot be read: \(reason)"
    case .danglingReference(let entity, let property):
      "\(entity).\(property) points at an object that is neither saved nor part of this save; save it, too"
    case .foreignStore(let entity, let property):
      "\(entity).\(property) points at an object of another store; relationships cannot cross stores"
    case .unstorable(let entity, let property, let reason):
      "\(entity).\(property) cannot be stored: \(reason)"
    case .keysExhausted(let entity):
      "no primary keys are left for '\(entity)'; its Z_MAX in Z_PRIMARYKEY is at the end"
    }
  }

  /// Returns what a missing function means: this package calls none that it has not registered.
  private static func _explanation(of error: SQLiteError) -> String {
    let start = "no such function: "
    guard error.message.hasPrefix(start) else { return "" }
    let function = String(error.message.dropFirst(start.count))
    return " - a trigger, an index or a column of the file \(ForeignSchema.reason(function))"
  }

  /// Runs `body` and translates errors of the database layer to store errors.
  static func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      if error.isTooComplex { throw SQLiteStoreError.tooComplex(error) }
      throw error.isMoved ? .moved(error) : error.isBusy ? .timeout(error) : SQLiteStoreError.sqlite(error)
    } catch is ConnectionPool.ClosedError {
      throw SQLiteStoreError.closed
    }
  }
}
