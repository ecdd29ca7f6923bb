import Foundation
import TestSupport

/// A directory in which a shell runs the built tool; removed after the test.
final class ShellSession {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("session-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Built beside the tests, which depend on it, unless `COREDATA_TEST_TOOL` names another.
  static var tool: String {
    ProcessInfo.processInfo.environment["COREDATA_TEST_TOOL"] ?? ChildProcess.built("coredata")
  }

  func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: directory.appendingPathComponent(name))
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: directory.appendingPathComponent(name)), as: UTF8.self)
  }

  /// Names of the files in the directory, including hidden ones.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []).sorted()
  }

  /// Creates a process that runs a bash script in the directory, where `coredata` is the tool.
  func process(_ script: String) throws -> ChildProcess {
    // Keeps temporary copies of streams in the directory, where tests can see them.
    try ChildProcess(
      "/bin/bash", ["-c", "coredata() { \"$TOOL\" \"$@\"; }\n" + script], in: directory,
      adding: ["TOOL": Self.tool, "TMPDIR": directory.path])
  }

  /// Runs a script and waits until it ends.
  func run(_ script: String) throws -> ChildProcess.Outcome {
    let process = try process(script)
    try process.start()
    return try process.wait()
  }

  /// Writes a model and an export of some books, and creates `store.sqlite` from them.
  func makeStore(books: Int = 3) throws {
    try write(Self.model, to: "model")
    try write(
      (1...books).map { "{\"$entity\":\"Book\",\"$id\":\"Book/p\($0)\",\"title\":\"Book \($0)\"}\n" }
        .joined(),
      to: "books.ndjson")
    _ = try run("coredata store import books.ndjson --model model --output store.sqlite")
  }

  static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Book" representedClassName="Book">
            <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <attribute name="title" optional="YES" attributeType="String"/>
        </entity>
    </model>
    """
}
