import Foundation

/// The existing file at an output's path.
package struct ExistingOutput: Sendable {
  /// The path given.
  package let path: String
  /// The path with links resolved, if something exists there.
  package let target: String
  /// Permissions of an existing regular file.
  let mode: mode_t?
  /// Whether it is a device, a FIFO or a socket, which is written directly and never replaced.
  package let isSpecial: Bool
  /// Whether there is a file, or a dangling link.
  package let exists: Bool

  /// Examines the path.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput` for a directory.
  package init(path: String) throws(ToolFailure) {
    self.path = path
    var facts = stat()
    guard stat(path, &facts) == 0 else {
      (target, mode, isSpecial) = (path, nil, false)
      exists = lstat(path, &facts) == 0
      return
    }
    let kind = facts.st_mode & S_IFMT
    if kind == S_IFDIR {
      throw ToolFailure(.cannotCreateOutput, "Cannot write '\(path)': it is a directory. Name a file in it.")
    }
    exists = true
    isSpecial = kind != S_IFREG
    mode = kind == S_IFREG ? facts.st_mode & 0o7777 : nil
    let resolved = realpath(path, nil)
    target = resolved.map { String(cString: $0) } ?? path
    free(resolved)
  }

  /// - Throws: `ToolFailure` if writing would replace a file.
  package func expectNothing() throws(ToolFailure) {
    if exists, !isSpecial { throw Self.failure(path) }
  }

  /// The failure of an output that must not replace the file there.
  package static func failure(_ path: String) -> ToolFailure {
    ToolFailure(
      .cannotCreateOutput,
      "There is a file '\(path)' already. Choose another name, or replace it with '--force'.")
  }
}

/// Renames complete files to their final names.
package enum FinalName {
  /// Renames `staging`, or removes it if that fails.
  ///
  /// - Returns: 0, or the error code: EEXIST for an existing file that must not be replaced.
  package static func give(_ target: String, to staging: String, replaces: Bool) -> Int32 {
    guard !replaces else { return _ended(rename(staging, target), staging) }
    // Unlike `rename`, `link` never replaces another process's file.
    if link(staging, target) == 0 { return _ended(unlink(staging), staging) }
    guard errno != EEXIST else { return _ended(-1, staging) }
    // A file system without links.
    if access(target, F_OK) == 0 {
      unlink(staging)
      return EEXIST
    }
    return _ended(rename(staging, target), staging)
  }

  private static func _ended(_ result: Int32, _ staging: String) -> Int32 {
    guard result != 0 else { return 0 }
    let error = errno
    unlink(staging)
    return error
  }
}
