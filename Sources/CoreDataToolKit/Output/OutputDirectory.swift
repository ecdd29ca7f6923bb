import Foundation

/// A directory whose new files appear together, only when `finish` is called.
///
/// Not thread-safe.
package final class OutputDirectory {
  package let path: String
  private let _replaces: Bool
  private let _staging: String
  private let _exists: Bool
  private var _names: [String] = []
  private var _isFinished = false

  /// Prepares to write files into a directory, which may exist.
  ///
  /// - Parameter replaces: whether files in the directory may be replaced.
  /// - Throws: `ToolFailure` with `cannotCreateOutput`.
  package init(path: String, replaces: Bool) throws(ToolFailure) {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    self.path = path
    _replaces = replaces
    var isDirectory: ObjCBool = false
    _exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    guard !_exists || isDirectory.boolValue else {
      throw ToolFailure(.cannotCreateOutput, "Cannot write into '\(path)': it is no directory.")
    }
    // On the same file system as the directory: within it, or beside its first missing parent.
    var place = path + "/files"
    while let slash = place.dropFirst().lastIndex(of: "/") {
      guard !FileManager.default.fileExists(atPath: String(place[..<slash])) else { break }
      place = String(place[..<slash])
    }
    let staging = UnfinishedPaths.staging(beside: place)
    _staging = staging
    let error = UnfinishedPaths.shared.create(staging) { mkdir(staging, 0o777) == 0 ? 0 : errno }
    guard error == 0 else {
      // An initializer that throws runs no deinit.
      UnfinishedPaths.shared.end(staging) {}
      throw FileSink.failure(path, error)
    }
  }

  deinit {
    guard !_isFinished else { return }
    let staging = _staging
    UnfinishedPaths.shared.end(staging) { try? FileManager.default.removeItem(atPath: staging) }
  }

  /// Opens a file of the directory; its name may contain directories.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`, also for an existing file that must not be replaced.
  package func sink(_ name: String) throws(ToolFailure) -> FileSink {
    if !_replaces { try ExistingOutput(path: "\(path)/\(name)").expectNothing() }
    _names.append(name)
    try Self._makeParent(of: "\(_staging)/\(name)", for: path)
    return try FileSink(path: "\(_staging)/\(name)", replaces: true)
  }

  /// Writes a whole file of the directory.
  ///
  /// - Throws: As `sink(_:)`.
  package func write(_ text: String, to name: String) throws(ToolFailure) {
    try write(bytes: Array(text.utf8), to: name)
  }

  /// Writes a whole file of the directory.
  ///
  /// - Throws: As `sink(_:)`.
  package func write(bytes: [UInt8], to name: String) throws(ToolFailure) {
    let sink = try sink(name)
    try sink.write(bytes: bytes)
    try sink.finish()
  }

  /// Renames all files to their final names.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`.
  package func finish() throws(ToolFailure) {
    let error = UnfinishedPaths.shared.end(_staging) { () -> ToolFailure? in
      _isFinished = true
      defer { try? FileManager.default.removeItem(atPath: _staging) }
      do throws(ToolFailure) {
        try _move()
        return nil
      } catch {
        return error
      }
    }
    if let error { throw error }
  }

  private func _move() throws(ToolFailure) {
    if !_exists {
      try Self._makeParent(of: path, for: path)
      // Fails if the directory has appeared meanwhile; its files are then moved one by one.
      if rename(_staging, path) == 0 { return }
    }
    for name in _names {
      try Self._makeParent(of: "\(path)/\(name)", for: path)
      let error = FinalName.give("\(path)/\(name)", to: "\(_staging)/\(name)", replaces: _replaces)
      if error == EEXIST { throw ExistingOutput.failure("\(path)/\(name)") }
      guard error == 0 else { throw FileSink.failure("\(path)/\(name)", error) }
    }
  }

  private static func _makeParent(of file: String, for path: String) throws(ToolFailure) {
    guard let slash = file.dropFirst().lastIndex(of: "/") else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: String(file[..<slash]), withIntermediateDirectories: true)
    } catch {
      throw ToolFailure(
        .cannotCreateOutput, "Cannot make the directory '\(path)': \(error.localizedDescription)")
    }
  }
}
