import Foundation

/// Writes to file descriptors.
package enum DescriptorOutput {
  /// Writes all bytes.
  ///
  /// - Throws: `ToolFailure`: `closedPipe` if the reader has closed it, otherwise `cannotCreateOutput`.
  package static func write(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws(ToolFailure) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress! + done, bytes.count - done)
      }
      if count < 0 && (errno == EINTR || errno == EAGAIN) {
        if errno == EAGAIN { _wait(for: descriptor) }
        continue
      }
      guard count > 0 else {
        let error = errno
        if error == EPIPE { throw .closedPipe }
        throw ToolFailure(.cannotCreateOutput, "Cannot write \(name): \(String(cString: strerror(error))).")
      }
      done += count
    }
  }

  /// Another program may have made the stream non-blocking, which affects all programs that share it.
  private static func _wait(for descriptor: Int32) {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&wanted, 1, -1)
  }
}
