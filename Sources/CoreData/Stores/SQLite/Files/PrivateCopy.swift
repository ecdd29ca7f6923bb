import Foundation

/// A copy of a database and its log in a directory of its own, deleted with the object.
final class PrivateCopy: Sendable {
  let path: String
  let state: FileState
  private let _directory: URL

  init(of original: String, _ state: FileState) throws {
    self.state = state
    _directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "coredata-\(UUID().uuidString)", isDirectory: true)
    path = _directory.appendingPathComponent("Store.sqlite").path
    try FileManager.default.createDirectory(
      at: _directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: original, toPath: path)
    try FileManager.default.copyItem(atPath: original + "-wal", toPath: path + "-wal")
  }

  deinit { try? FileManager.default.removeItem(at: _directory) }
}
