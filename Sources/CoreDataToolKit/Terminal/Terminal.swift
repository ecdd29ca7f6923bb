import Foundation

/// The capabilities of an output stream.
package struct Terminal: Sendable, Equatable {
  /// Whether the stream is a terminal, rather than a file or a pipe.
  package let isInteractive: Bool
  package let usesColor: Bool
  /// Columns.
  package let width: Int

  package init(isInteractive: Bool, usesColor: Bool, width: Int) {
    self.isInteractive = isInteractive
    self.usesColor = usesColor
    self.width = width
  }

  /// Detects the kind of a file descriptor. Colour requires a terminal that is not `dumb`, and no `NO_COLOR`
  /// in the environment (see no-color.org).
  package init(descriptor: Int32, environment: [String: String]) {
    self.init(
      isTerminal: isatty(descriptor) == 1, columns: Self._columns(of: descriptor), environment: environment)
  }

  init(isTerminal: Bool, columns: Int?, environment: [String: String]) {
    let isDumb = environment["TERM"] == "dumb" || environment["TERM"] == nil
    let refusesColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    isInteractive = isTerminal && !isDumb
    usesColor = isTerminal && !isDumb && !refusesColor
    width = columns ?? environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? 80
  }

  private static func _columns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}
