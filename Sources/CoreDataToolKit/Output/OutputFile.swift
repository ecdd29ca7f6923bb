import Foundation

/// A file that a run will write at its end, proven writable at its start.
package struct OutputFile: Sendable {
  package let path: String

  /// Tries the path without harming what may be there.
  ///
  /// - Throws: `ToolFailure` with `cannotCreateOutput`, and a sentence that says why.
  package init(path: String) throws(ToolFailure) {
    self.path = path
    var facts = stat()
    let exists = stat(path, &facts) == 0
    if exists && facts.st_mode & S_IFMT == S_IFDIR {
      throw ToolFailure(.cannotCreateOutput, "Cannot write '\(path)': it is a directory. Name a file in it.")
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw ToolFailure(.cannotCreateOutput, "Cannot write '\(path)': \(String(cString: strerror(errno))).")
    }
    close(descriptor)
    if !exists { unlink(path) }
  }

  /// Writes the whole file.
  package func write(_ text: String) throws(ToolFailure) {
    do {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    } catch {
      throw ToolFailure(.cannotCreateOutput, "Cannot write '\(path)': \(error.localizedDescription)")
    }
  }
}
