import Foundation
import Synchronization

/// Reads regular files only: an untrusted store must not lead to the user's other files through links or
/// devices.
///
/// Any thread may call.
enum PlainFile {
  /// Maximum size of a value in a file, far beyond what any program stores: an untrusted sparse file could
  /// exhaust memory.
  private static let _limit = Int64(Int32.max)

  /// Returns the file's content; nil if there is no regular file.
  ///
  /// - Throws: `SQLiteStoreError.unreadableExternalData`.
  static func data(at path: String) throws -> Data? {
    func unreadable(_ code: Int32) -> SQLiteStoreError { .unreadableExternalData(path: path, code: code) }
    // A FIFO would block until another process writes to it.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      let code = errno
      if kind(of: path) != .plain { return nil }
      throw unreadable(code)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { return nil }
    guard status.st_size <= _limit else { throw unreadable(EFBIG) }
    if let mapped = MappedFile.data(descriptor, count: Int(status.st_size)) { return mapped }
    var data = Data(count: Int(status.st_size))
    let count = try data.withUnsafeMutableBytes { bytes in
      var filled = 0
      while filled < bytes.count {
        let count = Foundation.read(descriptor, bytes.baseAddress! + filled, bytes.count - filled)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw unreadable(errno) }
        if count == 0 { break }
        filled += count
      }
      return filled
    }
    return count < data.count ? Data(data.prefix(count)) : data
  }

  /// Returns the kind of file at a path.
  static func kind(of path: String) -> ExternalFile {
    var status = stat()
    guard lstat(path, &status) == 0 else { return .missing }
    return status.st_mode & S_IFMT == S_IFREG ? .plain : .other
  }
}

/// The kind of file found in place of a large value's file.
package enum ExternalFile: Sendable {
  case plain
  case missing
  /// A link, device or directory: never followed.
  case other
}

/// Maps large files instead of copying them, so that a value that is never read takes no memory.
///
/// What a row refers to stays readable though another save replaces the value and deletes the file: a mapping
/// keeps the file's content. A file of a value is written once. If a program other than Core Data truncates one
/// while it is mapped, reading the value raises SIGBUS.
private enum MappedFile {
  /// Files with fewer bytes are copied: a mapping takes a page and a system call at either end.
  private static let _least = 64 << 10
  /// Most mappings at once. A process may have 65,530 of all kinds, by Linux's default.
  private static let _most = 16_384
  private static let _count = Atomic<Int>(0)

  /// Returns the content of an open file; nil if it is small, or if there are too many mappings.
  static func data(_ descriptor: Int32, count: Int) -> Data? {
    guard count >= _least else { return nil }
    guard _count.wrappingAdd(1, ordering: .relaxed).newValue <= _most,
      let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), start != MAP_FAILED
    else {
      _count.wrappingSubtract(1, ordering: .relaxed)
      return nil
    }
    return Data(
      bytesNoCopy: start, count: count,
      deallocator: .custom { start, count in
        munmap(start, count)
        _count.wrappingSubtract(1, ordering: .relaxed)
      })
  }
}
