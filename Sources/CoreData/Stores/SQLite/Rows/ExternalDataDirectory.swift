import Foundation

/// The hidden directory beside a store that holds large binary values, one file each.
///
/// A cell of such an attribute begins with 1, then the bytes themselves; or with 2, then the name of a file.
/// Values are written inline; both forms are read.
struct ExternalDataDirectory: Sendable {
  private let _path: String

  /// Prefix of a value that stands in the row.
  static let inline: UInt8 = 1
  private static let _file: UInt8 = 2

  init(storePath: String) {
    let url = URL(fileURLWithPath: storePath)
    let base = url.deletingPathExtension().lastPathComponent
    _path = url.deletingLastPathComponent().appendingPathComponent(".\(base)_SUPPORT/_EXTERNAL_DATA").path
  }

  /// Path of the directory that holds `_EXTERNAL_DATA`.
  var supportPath: String { (_path as NSString).deletingLastPathComponent }

  /// The value behind a cell.
  ///
  /// - Throws: `CellError` when the cell names a file that is not there.
  func read(_ bytes: UnsafeRawBufferPointer) throws -> Data {
    guard let prefix = bytes.first else { return Data() }
    switch prefix {
    case Self.inline: return Data(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    case Self._file:
      let text = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
      // Only a UUID is ever a name here; anything else could lead out of the directory.
      guard UUID(uuidString: text) != nil else {
        return Data(bytes)
      }
      let url = URL(fileURLWithPath: _path).appendingPathComponent(text)
      do {
        return try Data(contentsOf: url)
      } catch {
        throw CellError(reason: "its external data file \(text) is missing or unreadable")
      }
    default:
      // Written before external storage was switched on for the attribute.
      return Data(bytes)
    }
  }
}
