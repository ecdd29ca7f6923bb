import Foundation
import Synchronization

/// A line at the bottom of a terminal that shows the progress; nothing if the output is not a terminal.
///
/// May be updated from any thread.
package final class ProgressBar: Sendable {
  private struct State {
    /// Time before which nothing is drawn, in nanoseconds since the machine started.
    var nextDrawing: UInt64
    var isShown = false
  }

  private let _terminal: Terminal
  private let _write: @Sendable (String) -> Void
  private let _state: Mutex<State>

  /// Creates a bar that writes to a stream, usually standard error, so that results can be piped.
  ///
  /// - Parameter delay: Seconds before it appears; quicker work needs no bar.
  package init(terminal: Terminal, delay: Double = 0, write: @escaping @Sendable (String) -> Void) {
    _terminal = terminal
    _write = write
    let wait = delay > 0 ? DispatchTime.now().uptimeNanoseconds + UInt64(min(delay, 3600) * 1e9) : 0
    _state = Mutex(State(nextDrawing: wait))
  }

  /// Whether it is shown; otherwise updates are free.
  package var isVisible: Bool { _terminal.isInteractive }

  /// Shows a fraction (0 to 1) and the current step. Draws at most ten times a second.
  package func update(_ fraction: Double, _ label: String) {
    guard isVisible else { return }
    _state.withLock { state in
      let now = DispatchTime.now().uptimeNanoseconds
      guard now >= state.nextDrawing else { return }
      state.nextDrawing = now + 100_000_000
      state.isShown = true
      _write("\r\u{1B}[2K" + Self.line(fraction, label, width: _terminal.width - 1))
    }
  }

  /// Wipes the line.
  package func finish() {
    _state.withLock { state in
      guard state.isShown else { return }
      state.isShown = false
      _write("\r\u{1B}[2K")
    }
  }

  /// The line as drawn: bar, per cent, label, cut to a width.
  static func line(_ fraction: Double, _ label: String, width: Int) -> String {
    let fraction = fraction.isFinite ? min(1, max(0, fraction)) : 0
    let cells = min(30, max(4, width / 3))
    let eighths = Int((fraction * Double(cells * 8)).rounded())
    var bar = String(repeating: "█", count: eighths / 8)
    if eighths % 8 > 0 { bar.unicodeScalars.append(Unicode.Scalar(0x2590 - UInt32(eighths % 8))!) }
    bar = TextWidth.padded(bar, to: cells)
    let percent = TextWidth.padded("\(Int(fraction * 100))%", to: 4, onTheLeft: true)
    return TextWidth.truncated("▕\(bar)▏\(percent)  \(label)", to: width)
  }
}
