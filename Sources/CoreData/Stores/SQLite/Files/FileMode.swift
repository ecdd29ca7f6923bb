import Foundation

/// Permissions and owner of a store, which the files created beside it inherit, so that the same users can
/// access both.
struct FileMode: Sendable, Equatable {
  private let _permissions: mode_t
  private let _owner: uid_t
  private let _group: gid_t

  /// Reads the mode of the file at `path`; nil if there is none.
  init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    _permissions = status.st_mode & 0o666
    _owner = status.st_uid
    _group = status.st_gid
  }

  /// Permissions of a directory: users who may read its files may list it.
  private var _directoryPermissions: mode_t {
    var permissions = _permissions | S_IRWXU
    if _permissions & S_IRGRP != 0 { permissions |= S_IXGRP }
    if _permissions & S_IROTH != 0 { permissions |= S_IXOTH }
    return permissions
  }

  /// Applies this mode to an open file, regardless of the process's umask. A read-only store's files stay
  /// writable for their owner.
  func apply(toDescriptor descriptor: Int32) {
    fchmod(descriptor, _permissions | S_IRUSR | S_IWUSR)
    // Only root may change ownership; files that root creates beside another user's store must not lock that
    // user out.
    if geteuid() == 0 { fchown(descriptor, _owner, _group) }
  }

  /// Creates an empty file with this mode, unless there is one.
  func createFile(_ path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    apply(toDescriptor: descriptor)
    close(descriptor)
  }

  /// Creates a directory with this mode, unless there is one.
  func createDirectory(_ path: String) {
    guard mkdir(path, 0o700) == 0 else { return }
    chmod(path, _directoryPermissions)
    if geteuid() == 0 { lchown(path, _owner, _group) }
  }
}
