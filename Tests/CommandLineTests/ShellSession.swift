import Foundation

/// A directory in which a shell runs the built tool; removed after the test.
final class ShellSession {
  let directory: URL

  /// A script's output and exit code.
  struct Outcome {
    let code: Int32
    let output: String
    let error: String
  }

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("session-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Built beside the tests, which depend on it, unless `COREDATA_TEST_TOOL` names another.
  static var tool: String {
    if let other = ProcessInfo.processInfo.environment["COREDATA_TEST_TOOL"] { return other }
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("coredata").path
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
  func process(_ script: String) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", "coredata() { \"$TOOL\" \"$@\"; }\n" + script]
    process.currentDirectoryURL = directory
    // Keeps temporary copies of streams in the directory, where tests can see them.
    process.environment = ProcessInfo.processInfo.environment.merging([
      "TOOL": Self.tool, "TMPDIR": directory.path,
    ]) { $1 }
    process.standardInput = FileHandle.nullDevice
    return process
  }

  /// Runs a script and waits until it ends.
  func run(_ script: String) throws -> Outcome {
    // Uses files instead of pipes: neither stream can fill up and block the tool.
    let streams = FileManager.default.temporaryDirectory.appendingPathComponent(
      "streams-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: streams, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: streams) }
    let files = ["output", "error"].map { streams.appendingPathComponent($0) }
    for file in files { try Data().write(to: file) }
    let process = process(script)
    process.standardOutput = try FileHandle(forWritingTo: files[0])
    process.standardError = try FileHandle(forWritingTo: files[1])
    try process.run()
    process.waitUntilExit()
    let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
    return Outcome(code: process.terminationStatus, output: texts[0], error: texts[1])
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
