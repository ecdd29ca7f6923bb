import Foundation
import Synchronization

/// Files and directories that this process has not finished writing. A signal that ends the process removes
/// them first; see `Interruption`.
///
/// May be called from any thread.
package final class UnfinishedPaths: Sendable {
  /// The process's own.
  package static let shared = UnfinishedPaths()

  private let _paths = Mutex<Set<String>>([])

  /// Creates a registry without paths.
  init() {}

  /// Registers `path` and runs `body`, which creates it.
  package func create<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
    try _paths.withLock { paths in
      paths.insert(path)
      return try body()
    }
  }

  /// Runs `body`, which moves `path` to its final place or removes it, and unregisters the path.
  package func end<Result>(_ path: String, _ body: () throws -> Result) rethrows -> Result {
    try _paths.withLock { paths in
      defer { paths.remove(path) }
      return try body()
    }
  }

  /// Removes all registered paths, then runs `body`. Other threads cannot register or finish a path
  /// meanwhile.
  func removeAll(then body: () -> Void) {
    _paths.withLock { paths in
      for path in paths { try? FileManager.default.removeItem(atPath: path) }
      paths.removeAll()
      body()
    }
  }

  /// A path beside `path` that no other process uses: hidden, and recognizable as unfinished.
  package static func staging(beside path: String) -> String {
    // Not NSString's members, which trap on Linux for a name of one character.
    let name = path.split(separator: "/").last.map(String.init) ?? "output"
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { $0 == path.startIndex ? "" : String(path[..<$0]) } ?? "."
    let number = String(UInt64.random(in: 0 ... .max), radix: 36)
    // Names are limited to 255 bytes; the random part makes them unique.
    return "\(directory)/.\(name.utf8.count > 200 ? "output" : name).part-\(number)"
  }
}
