import Foundation

/// The location of a SQLite store: its URL with symbolic links resolved once.
///
/// SQLite keeps a store's log and shared memory beside the real file, as is external data, so all paths of a
/// store derive from this one.
struct StoreLocation: Sendable, Hashable {
  /// Path of the database file without symbolic links; `/dev/null` or `:memory:` for a database in memory.
  let path: String
  private let _url: URL

  init(_ url: URL) {
    _url = url
    path = Self._resolved(url.path)
  }

  /// Whether the database is in memory.
  var isInMemory: Bool { path == "/dev/null" || path == ":memory:" }

  /// The file's directory.
  var directory: String { (path as NSString).deletingLastPathComponent }

  /// The kind of file at a location.
  enum Occupant: Sendable, Equatable {
    case nothing
    case file(size: Int64)
    case directory
  }

  /// Inspects the file system.
  ///
  /// - Throws: `StoreOpenError.unusable` for a URL that is not a file URL, a dangling symbolic link, and
  ///   anything that is neither a file nor a directory.
  func occupant() throws -> Occupant {
    guard _url.isFileURL || isInMemory else {
      throw StoreOpenError.unusable(
        "\(_url.absoluteString) is not a file URL; make one with URL(fileURLWithPath:)")
    }
    if isInMemory { return .nothing }
    var status = stat()
    // A link that remains after resolution is dangling.
    guard lstat(path, &status) == 0 else { return .nothing }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file(size: Int64(status.st_size))
    case S_IFDIR: return .directory
    case S_IFLNK:
      let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? "nothing"
      throw StoreOpenError.unusable(
        "\(path) is a symbolic link to \(target), which does not exist; remove the link, or create its target"
      )
    case let type:
      throw StoreOpenError.unusable(
        "\(path) is \(Self._name(of: type)), and a store needs a regular file; use file:///dev/null for a store in memory"
      )
    }
  }

  /// Whether the store is writable: its file, and the directory for its log. True if there is no file yet.
  func isWritable() -> Bool {
    guard !isInMemory, case .file? = try? occupant() else { return true }
    guard Self._allows(path, W_OK) else { return false }
    // An existing log is writable even if the directory is not.
    return Self._allows(directory, W_OK | X_OK)
      || ["-wal", "-shm"].allSatisfy { Self._allows(path + $0, W_OK) }
  }

  private static func _allows(_ path: String, _ access: Int32) -> Bool {
    faccessat(AT_FDCWD, path, access, AT_EACCESS) == 0
  }

  /// Deletes a regular file; ignores anything else.
  static func removeFile(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    unlink(path)
  }

  private static func _name(of type: mode_t) -> String {
    switch type {
    case S_IFIFO: "a named pipe"
    case S_IFSOCK: "a socket"
    case S_IFCHR: "a character device"
    case S_IFBLK: "a block device"
    default: "a special file"
    }
  }

  /// Resolves symbolic links; for a file not yet created, those of its directory.
  private static func _resolved(_ path: String) -> String {
    if let real = _realPath(path) { return real }
    let name = (path as NSString).lastPathComponent
    var status = stat()
    guard path.hasPrefix("/"), name != "/", lstat(path, &status) != 0,
      let directory = _realPath((path as NSString).deletingLastPathComponent)
    else { return path }
    return (directory as NSString).appendingPathComponent(name)
  }

  private static func _realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
