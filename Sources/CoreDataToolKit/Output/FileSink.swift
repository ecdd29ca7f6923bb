import Foundation

/// A file written from start to end through a buffer, so that its size does not matter; or standard output.
///
/// Not for several threads at once.
package final class FileSink {
  private let _path: String?
  private let _descriptor: Int32
  private let _output: (@Sendable (String) -> Void)?
  private var _buffer: [UInt8] = []
  private static let _bufferSize = 1 << 16

  /// Creates the file, or empties it.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`.
  package init(path: String) throws(ToolFailure) {
    _path = path
    _output = nil
    _descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard _descriptor >= 0 else { throw Self._failure(path) }
  }

  /// Writes to a stream instead.
  package init(_ output: @escaping @Sendable (String) -> Void) {
    _path = nil
    _descriptor = -1
    _output = output
  }

  deinit { if _descriptor >= 0 { close(_descriptor) } }

  /// - Throws: `ToolFailure` with `cannotCreateOutput`, when the disk is full for instance.
  package func write(_ text: String) throws(ToolFailure) {
    _buffer += text.utf8
    if _buffer.count >= Self._bufferSize { try flush() }
  }

  /// Hands on what is in the buffer.
  package func flush() throws(ToolFailure) {
    defer { _buffer.removeAll(keepingCapacity: true) }
    if let _output {
      if !_buffer.isEmpty { _output(String(decoding: _buffer, as: UTF8.self)) }
      return
    }
    var done = 0
    while done < _buffer.count {
      let count = _buffer.withUnsafeBytes {
        Foundation.write(_descriptor, $0.baseAddress! + done, $0.count - done)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw Self._failure(_path ?? "") }
      done += count
    }
  }

  private static func _failure(_ path: String) -> ToolFailure {
    ToolFailure(.cannotCreateOutput, "Cannot write '\(path)': \(String(cString: strerror(errno))).")
  }
}
