import Foundation
import TestSupport

/// The `sqlite3` command, which knows nothing of the engine.
enum SQLiteShell {
  /// Returns its output for a statement on a file, one line per row.
  static func rows(_ sql: String, in place: URL) throws -> [String] {
    let outcome = try ChildProcess.run("sqlite3", [place.path, sql])
    guard outcome.code == 0 else { throw CocoaError(.fileReadUnknown) }
    return outcome.output.split(separator: "\n").map(String.init)
  }
}
