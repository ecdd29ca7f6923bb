import CoreDataToolKit
import Foundation
import Synchronization
import Testing

@testable import CoreDataExplorer

/// `coredata explore --open`.
@Suite struct BrowserTests {
  private final class Messages: Sendable {
    let text = Mutex("")
  }

  private func _open(_ variables: [String: String]) -> String {
    let messages = Messages()
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 80)
    Browser.open(
      "http://127.0.0.1:1/",
      ToolEnvironment(
        variables: variables, outputTerminal: terminal, errorTerminal: terminal, output: { _ in },
        error: { text in messages.text.withLock { $0 += text } }))
    return messages.text.withLock { $0 }
  }

  @Test func `the program in BROWSER gets a private file that leads to the address`() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "browser-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (program, page) = (directory.path + "/browser", directory.path + "/page")
    try Data(
      "#!/bin/sh\nstat -c %a \"$1\" > \(page).new && cat \"$1\" >> \(page).new && mv \(page).new \(page)\n"
        .utf8
    )
    .write(to: URL(fileURLWithPath: program))
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    #expect(_open(["BROWSER": program, "XDG_RUNTIME_DIR": directory.path]).isEmpty)
    for _ in 0..<500 where !FileManager.default.fileExists(atPath: page) {
      try await Task.sleep(for: .milliseconds(10))
    }
    let text = try String(contentsOfFile: page, encoding: .utf8)
    #expect(text.hasPrefix("600\n"))
    #expect(text.contains("content=\"0;url=http://127.0.0.1:1/\""))
  }

  @Test func `without a browser the reader is told to open the address`() {
    #expect(_open(["PATH": "/nowhere"]).contains("there is no 'xdg-open' to open a browser with"))
  }
}
