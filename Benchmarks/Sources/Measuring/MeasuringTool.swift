import Foundation

/// The frame of a measuring program: what it says on standard error, and its exit codes.
package enum MeasuringTool {
  /// A command line that cannot be understood.
  package struct Mistake: Error, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
  }

  /// Runs the program. Exits with 64 after a `Mistake`, and with 70 after any other error.
  package static func run(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      say("error: \(error)")
      exit(error is Mistake ? 64 : 70)
    }
  }

  /// Whether progress replaces itself on one line of a terminal.
  private static let _isTerminal = isatty(STDERR_FILENO) == 1

  /// Says what is being done: a line of its own for each, unless standard error is a terminal.
  ///
  /// - Parameter isOnTerminalOnly: Whether to say nothing elsewhere.
  package static func progress(_ text: String, onTerminalOnly isOnTerminalOnly: Bool = false) {
    if _isTerminal { _write("\r\u{1B}[K\(text)") } else if !isOnTerminalOnly { say("  \(text)") }
  }

  /// Clears the line of progress.
  package static func endProgress() { if _isTerminal { _write("\r\u{1B}[K") } }

  /// Names what fails a check, and exits with 70 if there is anything.
  package static func fail(_ complaints: [String]) {
    for complaint in complaints { say("error: \(complaint)") }
    if !complaints.isEmpty { exit(70) }
  }

  package static func say(_ text: String) { _write(text + "\n") }

  private static func _write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
