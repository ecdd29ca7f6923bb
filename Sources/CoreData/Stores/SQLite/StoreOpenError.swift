import CoreDataSQLiteBinding
import Foundation

/// The reason why a store file could not be opened.
enum StoreOpenError: SQLiteFailure, Sendable, CustomStringConvertible {
  /// The file is not an SQLite database.
  case notADatabase(path: String)
  /// An SQLite database, but not a Core Data store of this type.
  case typeMismatch(path: String, found: String)
  /// A Core Data store whose tables do not match the model.
  case incompatible(path: String, reason: String)
  /// A read-only store that does not exist.
  case missing(path: String)
  /// The medium failed: missing directory, no permission, damaged pages ... .
  case unreadable(path: String, SQLiteError)
  /// A file or directory that the process may read but not write.
  case unwritable(path: String, SQLiteError)
  /// Another connection held a lock for longer than the timeout.
  case busy(path: String, SQLiteError)
  /// An option is invalid.
  case invalidOption(name: String, reason: String)
  /// There can be no store at the location; the text gives the reason and a remedy.
  case unusable(String)

  /// Classifies an error that occurred while opening `path`.
  init(_ error: SQLiteError, path: String) {
    if error.isNotADatabase {
      self = .notADatabase(path: path)
    } else if error.isBusy {
      self = .busy(path: path, error)
    } else {
      self = .unreadable(path: path, error)
    }
  }

  /// The code in the Cocoa error domain.
  var cocoaCode: Int {
    switch self {
    case .notADatabase: CocoaError.fileReadCorruptFile.rawValue
    case .typeMismatch: NSPersistentStoreTypeMismatchError
    case .incompatible: NSPersistentStoreIncompatibleSchemaError
    case .missing: CocoaError.fileReadNoSuchFile.rawValue
    case .unreadable(_, let error):
      error.isCorrupt ? CocoaError.fileReadCorruptFile.rawValue : NSPersistentStoreOpenError
    case .busy: NSPersistentStoreTimeoutError
    case .unwritable: CocoaError.fileWriteNoPermission.rawValue
    case .invalidOption, .unusable: NSPersistentStoreOpenError
    }
  }

  /// SQLite's error, for the user info.
  var underlying: SQLiteError? {
    switch self {
    case .unreadable(_, let error), .busy(_, let error), .unwritable(_, let error): error
    case .notADatabase: SQLiteError(code: 26, message: "file is not a database")
    default: nil
    }
  }

  var description: String {
    switch self {
    case .notADatabase(let path):
      Self._isDirectory(path)
        ? "\(path) is a directory and no store; name the file in it"
        : "\(path) is not an SQLite database; open it with the type of store that wrote it"
    case .typeMismatch(let path, let found): "\(path) is not an SQLite Core Data store: \(found)"
    case .incompatible(let path, let reason): "the store \(path) does not fit the model: \(reason)"
    case .missing(let path): "there is no store at \(path), and a read-only store is not created"
    case .unreadable(let path, let error):
      Self._place(of: path).map { "the store \(path) cannot be opened: \($0)" }
        ?? "the store \(path) cannot be opened: \(error)"
    case .busy(let path, let error):
      "the store \(path) is locked by another connection for longer than its timeout: \(error)"
    case .unwritable(let path, let error):
      "the store \(path) cannot be written: the file or its directory is read-only (\(error)); change the "
        + "permissions, or add it with NSReadOnlyPersistentStoreOption"
    case .invalidOption(let name, let reason): "store option \(name): \(reason)"
    case .unusable(let reason): reason
    }
  }

  /// Describes the problem with the location of a file that cannot be opened; nil if none is apparent.
  private static func _place(of path: String) -> String? {
    let files = FileManager.default
    if files.fileExists(atPath: path) { return nil }
    let directory = (path as NSString).deletingLastPathComponent
    guard files.fileExists(atPath: directory) else {
      let ancestor = _ancestor(of: directory)
      let advice =
        files.isWritableFile(atPath: ancestor)
        ? "; create it first"
        : ", and \(ancestor) is not writable for this user; create it, or choose another"
      return "there is no directory \(directory)" + advice
    }
    guard _isDirectory(directory) else { return "\(directory) is a file and no directory" }
    return files.isWritableFile(atPath: directory) ? nil : "nothing can be created in \(directory)"
  }

  /// The nearest directory above that exists.
  private static func _ancestor(of path: String) -> String {
    var path = path as NSString
    repeat {
      path = path.deletingLastPathComponent as NSString
    } while path.length > 1 && !FileManager.default.fileExists(atPath: path as String)
    return path.length == 0 ? "." : path as String
  }

  private static func _isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }
}
