import Synchronization
import Testing

@testable import CoreDataToolKit

@Suite("What a terminal can show")
struct TerminalTests {
  @Test func `Colour needs a capable terminal and a user who allows it`() {
    let colorful = Terminal(isTerminal: true, columns: 120, environment: ["TERM": "xterm"])
    #expect(colorful == Terminal(isInteractive: true, usesColor: true, width: 120))
    #expect(
      !Terminal(isTerminal: true, columns: 120, environment: ["TERM": "xterm", "NO_COLOR": "1"]).usesColor)
    #expect(!Terminal(isTerminal: true, columns: 120, environment: ["TERM": "dumb"]).usesColor)
    #expect(!Terminal(isTerminal: false, columns: nil, environment: ["TERM": "xterm"]).usesColor)
  }

  @Test func `The width is the terminal's, else the variable's, else 80`() {
    #expect(Terminal(isTerminal: false, columns: nil, environment: ["COLUMNS": "99"]).width == 99)
    #expect(Terminal(isTerminal: false, columns: nil, environment: ["COLUMNS": "-3"]).width == 80)
  }

  @Test func `A style leaves text alone where colours are not wanted`() {
    #expect(TextStyle.red.applied(to: "x", usesColor: true) == "\u{1B}[31mx\u{1B}[0m")
    #expect(TextStyle.red.applied(to: "x", usesColor: false) == "x")
  }
}

@Suite("Columns that text takes")
struct TextWidthTests {
  @Test(arguments: [
    ("", 0), ("stop", 4), ("Straße", 6), ("e\u{301}", 1), ("東京", 4), ("서울", 4), ("🚏", 2),
    ("👩‍👩‍👧", 2), ("❤\u{FE0F}", 2), ("\u{1B}", 0),
  ])
  func `Wide characters take two columns, marks none`(text: String, columns: Int) {
    #expect(TextWidth.of(text) == columns)
  }

  @Test func `Cutting marks the cut and splits no wide character`() {
    #expect(TextWidth.truncated("東京駅", to: 6) == "東京駅")
    #expect(TextWidth.truncated("東京駅", to: 5) == "東京…")
    #expect(TextWidth.truncated("東京駅", to: 4) == "東…")
    #expect(TextWidth.truncated("abc", to: 0) == "")
  }
}

@Suite("A progress bar")
struct ProgressBarTests {
  private final class Screen: Sendable {
    let text = Mutex("")
  }

  @Test func `Nothing is drawn without a terminal`() {
    let screen = Screen()
    let bar = ProgressBar(terminal: Terminal(isInteractive: false, usesColor: false, width: 80)) { text in
      screen.text.withLock { $0 += text }
    }
    bar.update(0.5, "half")
    bar.finish()
    #expect(!bar.isVisible)
    #expect(screen.text.withLock { $0.isEmpty })
  }

  @Test func `The line is drawn and wiped again`() {
    let screen = Screen()
    let bar = ProgressBar(terminal: Terminal(isInteractive: true, usesColor: false, width: 40)) { text in
      screen.text.withLock { $0 += text }
    }
    bar.update(0.5, "half")
    bar.finish()
    bar.finish()
    let text = screen.text.withLock { $0 }
    #expect(text.contains("50%  half"))
    #expect(text.hasSuffix("half\r\u{1B}[2K"))
  }

  @Test(arguments: [-1, 0, 0.26, 1, 7, .nan])
  func `Bar, per cent and label fit the width`(fraction: Double) {
    #expect(TextWidth.of(ProgressBar.line(fraction, "a label that is rather long", width: 30)) == 30)
  }

  @Test func `Eighths of a cell are drawn`() {
    #expect(ProgressBar.line(0.125, "x", width: 24).hasPrefix("▕█       ▏ 12%"))
    #expect(ProgressBar.line(0.0625, "x", width: 24).hasPrefix("▕▌       ▏  6%"))
  }
}
