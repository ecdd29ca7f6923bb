import Foundation

/// An input that a command reads more than once or at will: a regular file or a directory as it is; `-`, a FIFO
/// or another stream as a temporary copy, read to its end; a store on a server as a temporary copy in an SQLite file.
///
/// The copy is removed with the object.
package final class SpooledInput: Sendable {
  /// The name of the input in messages: `standard input` for `-`.
  package let name: String
  /// The file to read.
  package let path: String
  /// Of the copy of a store on a server, if asked for: which primary key each object's copy has, as JSON.
  package let keysPath: String?
  private let _directory: String?
  /// Whether it is a store on a server.
  package let isServerStore: Bool

  /// Examines the path, and copies a stream.
  ///
  /// - Parameter notesKeys: Whether the copy of a store on a server comes with `keysPath`.
  /// - Throws: `ToolFailure`: `noInput` if the stream cannot be read, `cannotCreateOutput` if there is no
  ///   room for the copy. A missing file passes; opening it fails.
  package init(path: String, notesKeys: Bool = false) throws(ToolFailure) {
    var facts = stat()
    isServerStore = ServerStore.isURL(path)
    let isStandardInput = path == OutputFile.standardStream
    let kind = !isStandardInput && stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : S_IFREG
    name = isStandardInput ? "standard input" : isServerStore ? ServerStore.name(path) : path
    guard isStandardInput || isServerStore || [S_IFIFO, S_IFSOCK, S_IFCHR].contains(kind) else {
      (self.path, _directory, keysPath) = (path, nil, nil)
      return
    }
    let directory = UnfinishedPaths.staging(
      beside: FileManager.default.temporaryDirectory.path + "/coredata-input")
    let error = UnfinishedPaths.shared.create(directory) { mkdir(directory, 0o700) == 0 ? 0 : errno }
    guard error == 0 else {
      UnfinishedPaths.shared.end(directory) {}
      throw FileSink.failure(directory, error)
    }
    // The copy keeps the extension.
    let last =
      isServerStore ? "copy.sqlite" : isStandardInput ? "input" : path.split(separator: "/").last ?? "input"
    (_directory, self.path) = (directory, "\(directory)/\(last)")
    keysPath = isServerStore && notesKeys ? directory + "/keys.json" : nil
    if isServerStore {
      try ServerStore.copy(path, to: self.path, keysPath: keysPath)
    } else {
      try _copy(from: path)
    }
  }

  deinit {
    guard let _directory else { return }
    UnfinishedPaths.shared.end(_directory) { try? FileManager.default.removeItem(atPath: _directory) }
  }

  /// A failure that mentions the input's name instead of its copy's path.
  package func naming(_ failure: ToolFailure) -> ToolFailure {
    ToolFailure(failure.code, naming(failure.message))
  }

  /// A text that mentions the input's name instead of its copy's path.
  package func naming(_ text: String) -> String {
    _directory == nil ? text : text.replacing(path, with: name)
  }

  private func _copy(from source: String) throws(ToolFailure) {
    let input = try InputFile(path: source)
    let sink = try FileSink(path: path, replaces: true)
    while let bytes = try input.nextBytes() { try sink.write(bytes: bytes) }
    try sink.finish()
  }
}
