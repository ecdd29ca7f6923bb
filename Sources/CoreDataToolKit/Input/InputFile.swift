import Foundation

/// A file or stream read sequentially through a buffer, byte by byte, so that its size does not matter.
///
/// Not for concurrent use.
package final class InputFile {
  /// The file's name in messages.
  package let path: String
  /// In bytes, as it was when the file was opened; 0 for a stream.
  package let size: Int
  /// Line of the byte that `next` returns next, from 1.
  package private(set) var line = 1
  /// Bytes read so far.
  package private(set) var position = 0
  private let _descriptor: Int32
  private var _buffer = [UInt8](repeating: 0, count: 1 << 16)
  private var _index = 0
  private var _end = 0

  /// Opens a file; `-` is standard input.
  ///
  /// - Parameter name: The file's name in messages, if not its path.
  /// - Throws: `ToolFailure` with `noInput`.
  package init(path: String, name: String? = nil) throws(ToolFailure) {
    let isStandardInput = path == OutputFile.standardStream
    self.path = name ?? (isStandardInput ? "standard input" : path)
    _descriptor =
      isStandardInput ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC)
    guard _descriptor >= 0 else {
      throw ToolFailure(.noInput, "Cannot read '\(self.path)': \(String(cString: strerror(errno))).")
    }
    var facts = stat()
    size = fstat(_descriptor, &facts) == 0 ? Int(facts.st_size) : 0
  }

  deinit { close(_descriptor) }

  /// The next byte; nil at the end.
  ///
  /// - Throws: `ToolFailure` with `noInput`.
  package func next() throws(ToolFailure) -> UInt8? {
    guard let byte = try peek() else { return nil }
    _index += 1
    position += 1
    if byte == 0x0A { line += 1 }
    return byte
  }

  /// Returns the byte that `next` will return; nil at the end.
  package func peek() throws(ToolFailure) -> UInt8? {
    if _index == _end {
      var count: Int
      repeat { count = read(_descriptor, &_buffer, _buffer.count) } while count < 0 && errno == EINTR
      guard count >= 0 else {
        throw ToolFailure(.noInput, "Cannot read '\(path)': \(String(cString: strerror(errno))).")
      }
      (_index, _end) = (0, count)
      if count == 0 { return nil }
    }
    return _buffer[_index]
  }

  /// The next bytes, as many as the buffer has; nil at the end. Does not count lines.
  ///
  /// - Throws: `ToolFailure` with `noInput`.
  package func nextBytes() throws(ToolFailure) -> ArraySlice<UInt8>? {
    guard try peek() != nil else { return nil }
    defer {
      position += _end - _index
      _index = _end
    }
    return _buffer[_index..<_end]
  }

  /// The bytes up to the end of the line, without it; nil at the end of the file.
  package func nextLine() throws(ToolFailure) -> [UInt8]? {
    guard try peek() != nil else { return nil }
    var result: [UInt8] = []
    while try peek() != nil {
      // Takes the rest of the buffer at once, since lines are long.
      let rest = _buffer[_index..<_end]
      let stop = rest.firstIndex(of: 0x0A)
      result += rest[..<(stop ?? _end)]
      let taken = (stop.map { $0 + 1 } ?? _end) - _index
      _index += taken
      position += taken
      guard stop == nil else {
        line += 1
        break
      }
    }
    if result.last == 0x0D { result.removeLast() }
    return result
  }
}
