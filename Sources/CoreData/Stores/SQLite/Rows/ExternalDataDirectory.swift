import Foundation
import Synchronization

/// The hidden directory beside a store for large binary values, one file each.
///
/// A cell of such an attribute starts with 1, followed by the bytes; or with 2, followed by a file name and a
/// zero. Values above the threshold are written to files.
struct ExternalDataDirectory: Sendable {
  private let _path: String
  private let _storePath: String
  /// Whether files are possible; not for a store in memory.
  private let _isAvailable: Bool
  private let _notices = MissingFileNotices()

  /// Values with more bytes are stored in a file.
  static let threshold = 100 * 1024

  /// Prefix of a value stored in the row.
  static let inline: UInt8 = 1
  private static let _file: UInt8 = 2

  /// - Parameter storePath: Path of the real file, as in `StoreLocation`.
  init(storePath: String) {
    _isAvailable = storePath != "/dev/null" && storePath != ":memory:"
    _storePath = storePath
    let url = URL(fileURLWithPath: storePath)
    let base = url.deletingPathExtension().lastPathComponent
    _path = url.deletingLastPathComponent().appendingPathComponent(".\(base)_SUPPORT/_EXTERNAL_DATA").path
  }

  /// Path of the directory that contains `_EXTERNAL_DATA`.
  var supportPath: String { (_path as NSString).deletingLastPathComponent }

  /// Path of the directory that contains the files.
  var path: String { _path }

  /// Names of the existing files.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: _path)) ?? []).filter {
      UUID(uuidString: $0) != nil
    }
  }

  /// Creates the directory with the mode of the store, unless it exists.
  func create() {
    guard let mode = FileMode(of: _storePath) else { return }
    mode.createDirectory(supportPath)
    mode.createDirectory(_path)
  }

  // MARK: Writing

  /// Writes a large value to a file.
  ///
  /// - Returns: Name of the file; nil for a value that belongs in the row.
  /// - Throws: `SQLiteStoreError.externalData`.
  func write(_ data: Data) throws -> String? {
    guard _isAvailable, data.count > Self.threshold else { return nil }
    let name = UUID().uuidString
    let path = "\(_path)/\(name)"
    // No reader knows the name until the row that references it is committed, so the file may grow in place.
    var descriptor = Self._create(path)
    if descriptor < 0, errno == ENOENT {
      create()
      descriptor = Self._create(path)
    }
    guard descriptor >= 0 else { throw SQLiteStoreError.externalData(path: path, code: errno) }
    defer { close(descriptor) }
    FileMode(of: _storePath)?.apply(toDescriptor: descriptor)
    if let code = data.withUnsafeBytes({ _writeAll($0, to: descriptor) }) {
      unlink(path)
      throw SQLiteStoreError.externalData(path: path, code: code)
    }
    return name
  }

  private static func _create(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  }

  /// Deletes files that no row references; missing ones count as deleted.
  func remove(_ names: [String]) {
    for name in names { try? FileManager.default.removeItem(atPath: "\(_path)/\(name)") }
  }

  /// Returns the cell that references a file.
  static func cell(naming name: String) -> Data { Data([_file]) + Data(name.utf8) + Data([0]) }

  /// Returns the name of the file that a cell references; nil for a value stored in the row.
  static func file(named bytes: UnsafeRawBufferPointer) -> String? {
    guard bytes.first == _file else { return nil }
    let text = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
    // Names are always UUIDs; anything else could escape from the directory.
    return UUID(uuidString: text) == nil ? nil : text
  }

  // MARK: Reading

  /// Returns the value of a cell. If the referenced file is missing, returns nil and logs to standard error:
  /// the row's other values remain usable, and the cell is unchanged until the attribute is assigned.
  ///
  /// - Throws: `SQLiteStoreError.unreadableExternalData` for an existing file that cannot be read: a copy or
  ///   migration would lose the value.
  func read(_ bytes: UnsafeRawBufferPointer) throws -> Data? {
    guard let prefix = bytes.first else { return Data() }
    switch prefix {
    case Self.inline: return Data(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    case Self._file:
      guard let text = Self.file(named: bytes) else { return Data(bytes) }
      let path = "\(_path)/\(text)"
      guard let data = try PlainFile.data(at: path) else {
        _notices.report(path)
        return nil
      }
      return data
    default:
      // Written before external storage was enabled for the attribute.
      return Data(bytes)
    }
  }
}

/// Writes bytes to an open file. Returns the error code, or nil on success.
private func _writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress!, rest.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return count < 0 ? errno : EIO }
    rest = rest.dropFirst(count)
  }
  return nil
}

/// Logs missing external data files, but only the first few, since a store copied without its directory lacks
/// them all.
private final class MissingFileNotices: Sendable {
  private let _names = Mutex<Set<String>>([])
  private static let _limit = 5

  func report(_ path: String) {
    let count = _names.withLock { names -> Int? in
      guard names.count <= Self._limit, names.insert(path).inserted else { return nil }
      return names.count
    }
    switch count {
    case nil: break
    case Self._limit + 1:
      Console.warn("more external data files of this store are missing; they are not listed.")
    default:
      Console.warn(
        "the external data file \(path) is missing or no plain file; its attribute reads as nil.")
    }
  }
}
