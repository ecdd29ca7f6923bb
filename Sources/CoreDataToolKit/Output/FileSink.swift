import Foundation

/// A file written from start to end through a buffer, so that its size does not matter; or standard output.
///
/// A regular file appears under its name only when `finish` is called, complete: the sink writes to a
/// temporary file beside it. A device or a FIFO is written directly.
///
/// Not thread-safe.
package final class FileSink {
  private enum Destination {
    case stream(@Sendable ([UInt8]) throws(ToolFailure) -> Void)
    case direct(Int32)
    case staged(Int32, path: String)
  }

  /// The path given, for messages.
  private let _path: String
  /// The file that the temporary one becomes: `_path` with links resolved.
  private let _target: String
  private let _replaces: Bool
  private var _destination: Destination?
  private var _buffer: [UInt8] = []
  private static let _bufferSize = 1 << 16

  /// Opens the output.
  ///
  /// - Parameter replaces: Whether an existing file may be replaced.
  /// - Throws: `ToolFailure` with `cannotCreateOutput`, also for an existing file that must not be replaced.
  package init(path: String, replaces: Bool) throws(ToolFailure) {
    _path = path
    _replaces = replaces
    let existing = try ExistingOutput(path: path)
    _target = existing.target
    if existing.isSpecial {
      _destination = .direct(try Self._open(path, O_WRONLY, path))
      return
    }
    if !replaces { try existing.expectNothing() }
    let staging = UnfinishedPaths.staging(beside: _target)
    let descriptor = try UnfinishedPaths.shared._createFile(staging, for: path)
    if let mode = existing.mode { fchmod(descriptor, mode) }
    _destination = .staged(descriptor, path: staging)
  }

  /// Writes to standard output.
  package init(standardOutputOf environment: ToolEnvironment) {
    (_path, _target, _replaces) = ("standard output", "", true)
    _destination = .stream(environment.outputBytes)
  }

  deinit {
    switch _destination {
    case .direct(let descriptor): close(descriptor)
    case .staged(let descriptor, let staging):
      close(descriptor)
      _ = UnfinishedPaths.shared.end(staging) { unlink(staging) }
    case .stream, nil: break
    }
  }

  /// Writes the text, buffered.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`, for instance if the disk is full; with `closedPipe`.
  package func write(_ text: String) throws(ToolFailure) {
    _buffer += text.utf8
    if _buffer.count >= Self._bufferSize { try flush() }
  }

  /// Writes the bytes, buffered.
  ///
  /// - Throws: As `write(_:)` of text.
  package func write(bytes: some Sequence<UInt8>) throws(ToolFailure) {
    _buffer += bytes
    if _buffer.count >= Self._bufferSize { try flush() }
  }

  /// Flushes the buffer.
  ///
  /// - Throws: As `write(_:)`.
  package func flush() throws(ToolFailure) {
    guard !_buffer.isEmpty, let _destination else { return }
    defer { _buffer.removeAll(keepingCapacity: true) }
    switch _destination {
    case .stream(let output): try output(_buffer)
    case .direct(let descriptor), .staged(let descriptor, _):
      try DescriptorOutput.write(_buffer, to: descriptor, named: "'\(_path)'")
    }
  }

  /// Flushes the buffer and renames the file to its final name.
  ///
  /// - Throws: As `write(_:)`; also if a file of this name has appeared meanwhile and must not be replaced.
  package func finish() throws(ToolFailure) {
    try flush()
    switch _destination {
    case .direct(let descriptor):
      _destination = nil
      guard close(descriptor) == 0 else { throw Self.failure(_path, errno) }
    case .staged(let descriptor, let staging):
      // Some file systems report only now that they are full.
      guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.failure(_path, errno) }
      let error = UnfinishedPaths.shared.end(staging) { () -> Int32 in
        _destination = nil
        guard close(descriptor) == 0 else {
          unlink(staging)
          return errno
        }
        return FinalName.give(_target, to: staging, replaces: _replaces)
      }
      if error == EEXIST { throw ExistingOutput.failure(_path) }
      guard error == 0 else { throw Self.failure(_path, error) }
    case .stream, nil: break
    }
  }

  private static func _open(_ path: String, _ flags: Int32, _ shown: String) throws(ToolFailure) -> Int32 {
    let descriptor = open(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(shown, errno) }
    return descriptor
  }

  /// Why an output cannot be written, by the operating system's error number.
  package static func failure(_ path: String, _ code: Int32) -> ToolFailure {
    if code == EPIPE { return .closedPipe }
    let directory = (path as NSString).deletingLastPathComponent
    let advice = code == ENOENT && !directory.isEmpty ? " Make the directory '\(directory)' first." : ""
    return ToolFailure(
      .cannotCreateOutput, "Cannot write '\(path)': \(String(cString: strerror(code))).\(advice)")
  }
}

extension UnfinishedPaths {
  /// Creates a file to be renamed later; `path` is its name in messages.
  fileprivate func _createFile(_ staging: String, for path: String) throws(ToolFailure) -> Int32 {
    let (descriptor, error) = create(staging) { () -> (Int32, Int32) in
      let descriptor = open(staging, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      return (descriptor, errno)
    }
    guard descriptor >= 0 else {
      end(staging) {}
      throw FileSink.failure(path, error)
    }
    return descriptor
  }
}
