import CoreDataToolKit
import Foundation
import Synchronization

@testable import CoreDataModelTools

/// The tool's output and exit code.
struct ToolRun {
  let code: ExitCode
  let output: String
  let error: String

  /// Runs `coredata model` with these arguments.
  static func model(_ words: [String]) -> ToolRun {
    let (output, error) = (Lines(), Lines())
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 80)
    let environment = ToolEnvironment(
      variables: [:], outputTerminal: terminal, errorTerminal: terminal,
      output: { output.add($0) }, error: { error.add($0) })
    let tool = CommandLineTool(name: "coredata", version: "1", summary: "", commands: [.model])
    let code = tool.run(["model"] + words, in: environment)
    return ToolRun(code: code, output: output.text, error: error.text)
  }

  /// The output as JSON.
  func json() throws -> Any {
    try JSONSerialization.jsonObject(with: Data(output.utf8), options: [.fragmentsAllowed])
  }

  private final class Lines: Sendable {
    private let _text = Mutex("")
    var text: String { _text.withLock { $0 } }
    func add(_ more: String) { _text.withLock { $0 += more } }
  }
}

/// A directory that is removed after use.
struct Scratch {
  let url: URL

  static func with<T>(_ body: (Scratch) throws -> T) throws -> T {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("tools-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(Scratch(url: url))
  }

  /// Writes a file and returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: url.appendingPathComponent(name)), as: UTF8.self)
  }
}
