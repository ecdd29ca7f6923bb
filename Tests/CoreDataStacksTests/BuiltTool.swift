import Foundation
import Testing

/// Runs the built command-line tool as a user would.
enum BuiltTool {
  /// Returns the tool's standard output.
  static func run(_ words: [String]) throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let directory = try StoreDirectory()
    let output = directory.url.appendingPathComponent("output")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(
      "coredata")
    process.arguments = words
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return try String(contentsOf: output, encoding: .utf8)
  }
}
