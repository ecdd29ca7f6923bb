import CoreDataSQLiteBinding
import Foundation
import Synchronization

/// A copy of a database and its log in a separate directory, deleted with the object, or at the latest when
/// the process exits.
///
/// All copies of a user are in one temporary directory, each with a lock that its process holds. The locks of
/// a killed process are free, so the next copy or opening identifies the abandoned copies and deletes them.
///
/// The copy includes the database's journal.
final class PrivateCopy: Sendable {
  let path: String
  let state: FileState
  private let _directory: String

  /// The files changed during copying, so the copy may be inconsistent.
  struct ChangedError: Error, CustomStringConvertible {
    let path: String
    var description: String { "the store \(path) is being written to" }
  }

  /// - Parameter state: State of the files before the copy.
  /// - Throws: `ChangedError`, `SQLiteError`, or an error of the file system.
  init(of original: String, _ state: FileState) throws {
    self.state = state
    _directory = try Self._makeDirectory()
    path = _directory + "/Store.sqlite"
    do {
      try _copy(original)
      guard FileState(original) == state else { throw ChangedError(path: original) }
    } catch {
      Self._remove(_directory)
      throw FileState(original) == state ? error : ChangedError(path: original)
    }
  }

  private func _copy(_ original: String) throws {
    // Opening and closing the database here would drop the process's locks on it.
    guard DatabaseHead.copy(original, to: path) else {
      throw SQLiteError(
        code: 10,
        message: "cannot be copied to \(_directory), which reading it needs: no space or permission")
    }
    for (suffix, part) in [("-wal", state.log), ("-journal", state.journal)] where part != nil {
      try FileManager.default.copyItem(atPath: original + suffix, toPath: path + suffix)
      // SQLite creates the shared memory with the mode of the database.
      chmod(path + suffix, 0o600)
    }
  }

  deinit { Self._remove(_directory) }

  // MARK: Directories

  /// Descriptors of the lock files of this process's copies, by directory.
  private static let _locks = Mutex<[String: Int32]>([:])

  private static let _removesAtExit: Void = {
    atexit {
      for directory in PrivateCopy._locks.withLock({ Array($0.keys) }) { PrivateCopy._remove(directory) }
    }
  }()

  private static func _makeDirectory() throws -> String {
    _ = _removesAtExit
    removeAbandoned()
    let base = _base
    mkdir(base, 0o700)
    // If another user has taken the name, use a directory without lock.
    let isOwn = _isPrivate(base)
    let directory = isOwn ? "\(base)/\(UUID().uuidString)" : "\(base)-\(UUID().uuidString)"
    let lock = isOwn ? _lock(directory) : -1
    _locks.withLock { $0[directory] = lock }
    guard mkdir(directory, 0o700) == 0 else {
      let code = errno
      _remove(directory)
      throw CocoaError(
        .fileWriteUnknown,
        userInfo: [
          NSFilePathErrorKey: directory,
          NSLocalizedDescriptionKey:
            "The directory \(directory) for a copy of the store cannot be created: \(String(cString: strerror(code))).",
        ])
    }
    return directory
  }

  /// The directory with this user's copies.
  private static var _base: String {
    (FileManager.default.temporaryDirectory.path as NSString).appendingPathComponent(
      "coredata-copies-\(geteuid())")
  }

  private static func _isPrivate(_ directory: String) -> Bool {
    var status = stat()
    return lstat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
      && status.st_mode & 0o077 == 0
  }

  /// Creates and acquires the lock of a directory not yet created. Returns its descriptor, or -1.
  private static func _lock(_ directory: String) -> Int32 {
    let name = directory + ".lock"
    while true {
      let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        if descriptor >= 0 { close(descriptor) }
        return -1
      }
      // A process deleting abandoned copies may have been faster.
      var status = stat()
      if stat(name, &status) == 0 { return descriptor }
      close(descriptor)
    }
  }

  private static func _remove(_ directory: String) {
    try? FileManager.default.removeItem(atPath: directory)
    unlink(directory + ".lock")
    if let descriptor = _locks.withLock({ $0.removeValue(forKey: directory) }), descriptor >= 0 {
      close(descriptor)
    }
  }

  /// Deletes the copies of killed processes.
  static func removeAbandoned() {
    let base = _base
    // Usually there are none.
    guard _isPrivate(base) else { return }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    where name.hasSuffix(".lock") {
      let directory = "\(base)/\(name.dropLast(".lock".count))"
      let descriptor = open(directory + ".lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
        try? FileManager.default.removeItem(atPath: directory)
        unlink(directory + ".lock")
      }
      close(descriptor)
    }
  }
}
