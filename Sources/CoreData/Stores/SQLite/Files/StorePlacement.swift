import CoreDataSQLiteBinding
import Foundation

/// Puts a new store at a location in one step, though filling it takes a while: a program that is killed meanwhile leaves no
/// incomplete store there, and repeats the call.
///
/// The store is filled beside the location, under a name of its own, and renamed. From the first step until the caller is done
/// with the store, a mark beside the location says which store it is a copy of, and its lock, that the program lives. The
/// repeated call finds the mark without a lock and replaces what the killed program has left; a program that opens the
/// location's store instead makes it its own and removes the mark.
package final class StorePlacement {
  private let _destination: StoreFiles
  private let _unfinished: StoreFiles
  private let _mark: String
  private let _descriptor: Int32
  /// What is left to undo.
  private var _hasPlaced = false
  private var _isDone = false

  /// Where the caller creates the store. Close it before `complete()`.
  var url: URL { _unfinished.url }

  /// Prepares a vacant location for a copy of the store named `identifier`. Removes what a killed program has left there
  /// of an earlier attempt to copy the same store.
  ///
  /// - Parameter isOpen: Whether the store at the location is open, so that it is not a leftover.
  /// - Returns: Nil if no file can be created there, which creating the store reports, or if a killed program has left another
  ///   store there.
  /// - Throws: `StoreOpenError`, if another program is placing a store there.
  init?(of identifier: String, at destination: StoreFiles, isOpen: Bool, like source: StoreFiles?) throws {
    let mark = destination._placementMark
    switch Self._lock(mark, creating: true) {
    case .locked(let descriptor): _descriptor = descriptor
    case .unusable: return nil
    case .busy:
      throw StoreOpenError.unusable("another program or thread is moving a store to \(destination.url.path) at the moment")
    }
    _destination = destination
    _unfinished = destination._unfinished
    _mark = mark
    let former = Self._text(of: _descriptor)
    if let former, former != identifier, try !SQLiteStoreFile(url: destination.url).isVacant() {
      // The mark is still needed when that copy is repeated.
      _isDone = true
      close(_descriptor)
      return nil
    }
    _unfinished.remove()
    if former == identifier, !isOpen { destination.remove() }
    guard former == identifier || Self._write(identifier, to: _descriptor) else {
      let reason = String(cString: strerror(errno))
      _end()
      throw StoreOpenError.unusable("\(mark) cannot be written: \(reason)")
    }
    if let source { _unfinished.create(like: source) }
  }

  deinit {
    if !_isDone { cancel() }
  }

  /// Moves the filled store to the location, which must still be vacant.
  ///
  /// - Throws: `SQLiteError`, `StoreOpenError`, or an error of the file system.
  func complete() throws {
    try _unfinished.endLog()
    // Files first, then the rows that reference them. The directory of the files gets the mode of the store.
    _destination.create(like: _unfinished)
    try _destination.bringExternal(of: _unfinished)
    Self._synchronize(_unfinished.url.path)
    guard try SQLiteStoreFile(url: _destination.url).isVacant() else {
      throw StoreOpenError.unusable("another program has created a file at \(_destination.url.path) meanwhile")
    }
    // A log of a former store would be taken for the new one's.
    for suffix in ["-wal", "-shm", "-journal"] { StoreLocation.removeFile(_destination.url.path + suffix) }
    guard rename(_unfinished.url.path, _destination.url.path) == 0 else {
      throw CocoaError(
        .fileWriteUnknown,
        userInfo: [
          NSURLErrorKey: _destination.url,
          NSLocalizedDescriptionKey:
            "The store cannot be moved to \(_destination.url.path): \(String(cString: strerror(errno))).",
        ])
    }
    _hasPlaced = true
    Self._synchronize(_destination.url.deletingLastPathComponent().path)
    _unfinished.remove()
  }

  /// Forgets the placement: the store at the location is the caller's.
  func finish() { _end() }

  /// Removes what was placed.
  func cancel() {
    if _isDone { return }
    _unfinished.remove()
    if _hasPlaced { _destination.remove() }
    _end()
  }

  private func _end() {
    if _isDone { return }
    _isDone = true
    unlink(_mark)
    close(_descriptor)
  }

  /// Removes the mark that a killed program has left beside a store which is opened now, and what it has not completed.
  static func forget(at files: StoreFiles) {
    var status = stat()
    guard lstat(files._placementMark, &status) == 0,
      case .locked(let descriptor) = _lock(files._placementMark, creating: false)
    else { return }
    files._unfinished.remove()
    unlink(files._placementMark)
    close(descriptor)
  }

  // MARK: The mark

  private enum Lock {
    case locked(Int32)
    /// Another program, or another placement of this one, holds the lock.
    case busy
    case unusable
  }

  private static func _lock(_ mark: String, creating isCreated: Bool) -> Lock {
    while true {
      let descriptor = open(mark, O_RDWR | (isCreated ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { return .unusable }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        return .busy
      }
      // The former holder may have removed the file between the two calls.
      var (own, named) = (stat(), stat())
      if fstat(descriptor, &own) == 0, lstat(mark, &named) == 0, own.st_ino == named.st_ino { return .locked(descriptor) }
      close(descriptor)
      if !isCreated { return .unusable }
    }
  }

  private static func _text(of descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }

  private static func _write(_ text: String, to descriptor: Int32) -> Bool {
    let bytes = Array(text.utf8)
    return ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
      && fsync(descriptor) == 0
  }

  private static func _synchronize(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}

extension StoreFiles {
  /// The store that is filled beside this location before it is moved here.
  fileprivate var _unfinished: StoreFiles { beside("moving.sqlite") }

  /// The file that names the store which is copied to this location.
  fileprivate var _placementMark: String { beside("moving").url.path }
}
