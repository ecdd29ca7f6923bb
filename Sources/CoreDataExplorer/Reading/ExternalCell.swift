import CoreData
import CoreDataStoreTools
import Foundation

/// Reads cells whose bytes may stand in a file beside the store.
struct ExternalCell: Sendable {
  private let _directory: String

  init(storePath: String) { _directory = StoreFileFacts.externalDirectory(path: storePath) }

  /// The bytes behind a cell, of which the first are given.
  ///
  /// - Parameters:
  ///   - head: First bytes of the cell, at least 64 if it has so many.
  ///   - count: Number of bytes that the cell has.
  ///   - limit: Most bytes to be read of a file.
  func blob(head: [UInt8], count: Int, limit: Int) -> Blob {
    guard let path = path(head) else {
      // An inline value has one byte before it.
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

  /// Path of the file that a cell names; nil for a value that stands in the row.
  func path(_ head: [UInt8]) -> String? {
    guard head.first == 2 else { return nil }
    let name = String(decoding: head.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    // Only a UUID is ever a name here; anything else could lead out of the directory.
    return UUID(uuidString: name) == nil ? nil : "\(_directory)/\(name)"
  }
}
