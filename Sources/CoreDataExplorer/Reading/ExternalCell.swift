import CoreData
import CoreDataStoreTools
import Foundation

/// Reads cells whose bytes may be in a file beside the store.
struct ExternalCell: Sendable {
  private let _directory: String

  init(storePath: String) { _directory = StoreFileFacts.externalDirectory(path: storePath) }

  /// Returns the bytes of a cell, given its first bytes.
  ///
  /// - Parameters:
  ///   - head: First bytes of the cell, at least 64 if it has that many.
  ///   - count: Number of bytes in the cell.
  ///   - limit: Maximum number of bytes to read from a file.
  func blob(head: [UInt8], count: Int, limit: Int) -> Blob {
    guard let path = path(head) else {
      // An inline value is preceded by one byte.
      let prefix = head.first == 1 ? 1 : 0
      return Blob(head: Array(head.dropFirst(prefix)), count: count - prefix)
    }
    guard case .plain = StoreFileFacts.externalFile(at: path),
      let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? NSNumber,
      let file = FileHandle(forReadingAtPath: path)
    else { return Blob(head: [], count: nil) }
    defer { try? file.close() }
    let bytes = (try? file.read(upToCount: limit)) ?? nil
    return Blob(head: bytes.map { [UInt8]($0) } ?? [], count: size.intValue)
  }

  /// Path of the file that a cell references; nil for a value stored in the row.
  func path(_ head: [UInt8]) -> String? {
    guard head.first == 2 else { return nil }
    let name = String(decoding: head.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    // Names are always UUIDs; anything else could escape from the directory.
    return UUID(uuidString: name) == nil ? nil : "\(_directory)/\(name)"
  }
}
