import Foundation

/// The `sqlite3` command, which knows nothing of the engine.
enum SQLiteShell {
  /// Returns its output for a statement on a file, one line per row.
  static func rows(_ sql: String, in place: URL) throws -> [String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", place.path, sql]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileReadUnknown) }
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
