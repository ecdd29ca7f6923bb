import Foundation

/// A copy of a store with all its files, in a temporary directory that is deleted with the object.
package final class StoreCopy: Sendable {
  package let url: URL
  private let _directory: URL

  /// Copies the store at `original` with its write-ahead log, the log's shared memory and its external data.
  package init(of original: URL) throws {
    _directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "store-trial-\(UUID().uuidString)", isDirectory: true)
    url = _directory.appendingPathComponent(original.lastPathComponent)
    let files = FileManager.default
    try files.createDirectory(at: _directory, withIntermediateDirectories: true)
    let base = original.deletingPathExtension().lastPathComponent
    let names =
      ["", "-wal", "-shm", "-journal"].map { original.lastPathComponent + $0 } + [".\(base)_SUPPORT"]
    for name in names {
      let source = original.deletingLastPathComponent().appendingPathComponent(name)
      guard files.fileExists(atPath: source.path) else { continue }
      let target = _directory.appendingPathComponent(name)
      try files.copyItem(at: source, to: target)
      // The original may be write-protected, which a copy to write to must not be.
      try? files.setAttributes(
        [.posixPermissions: name.hasPrefix(".") ? 0o755 : 0o644], ofItemAtPath: target.path)
    }
  }

  deinit { try? FileManager.default.removeItem(at: _directory) }

  /// Every file in the copy's directory with its bytes.
  package func contents() throws -> [String: Data] {
    var result: [String: Data] = [:]
    let files = FileManager.default
    for name in try files.subpathsOfDirectory(atPath: _directory.path) {
      let path = _directory.appendingPathComponent(name).path
      var isDirectory: ObjCBool = false
      guard files.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue else {
        continue
      }
      result[name] = try Data(contentsOf: URL(fileURLWithPath: path))
    }
    return result
  }
}
