import CoreDataCSQLite
import Foundation

/// The first bytes of a file that may be a database, and that this process may have open.
package enum DatabaseHead {
  /// The first bytes of every database.
  package static let magic = Array("SQLite format 3\u{0}".utf8)

  /// Up to `count` bytes from the start of a file; nil if it cannot be opened for reading.
  ///
  /// Read through SQLite, so that the locks of connections that the process has open on the file stay.
  package static func bytes(_ path: String, count: Int) -> [UInt8]? {
    _ = SQLiteLibrary.isPrepared
    // A plain path must not be parsed as a URI, as builds of SQLite with SQLITE_USE_URI do.
    let name = path.hasPrefix("file:") ? "./" + path : path
    var bytes = [UInt8](repeating: 0, count: count)
    let read = coredata_read_head(name, &bytes, Int32(clamping: count))
    guard read >= 0 else { return nil }
    return Array(bytes.prefix(Int(read)))
  }

  /// Whether the file begins as a database does.
  package static func isDatabase(_ path: String) -> Bool {
    bytes(path, count: magic.count).map { $0 == magic } ?? false
  }

  /// Whether a database's header states that it uses a write-ahead log.
  package static func hasLog(_ path: String) -> Bool {
    guard let head = bytes(path, count: 20), head.count == 20 else { return false }
    return head[18] == 2 || head[19] == 2
  }

  /// Copies a database file to an unused path, without its log and journal.
  ///
  /// Read through SQLite as well. False if a file cannot be read or written.
  package static func copy(_ path: String, to destination: String) -> Bool {
    _ = SQLiteLibrary.isPrepared
    let descriptor = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    let result = coredata_copy_file(path.hasPrefix("file:") ? "./" + path : path, descriptor)
    return close(descriptor) == 0 && result == 0
  }
}
