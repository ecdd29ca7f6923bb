import Foundation

/// A recorded text beside the source of a test.
struct SnapshotFile {
  /// Whether this run records; set `COREDATA_RECORD_SNAPSHOTS` to 1 for it.
  static var isRecording: Bool {
    let value = ProcessInfo.processInfo.environment["COREDATA_RECORD_SNAPSHOTS"]
    return !["", "0", "false", nil].contains(value)
  }

  let url: URL

  /// The file `__Snapshots__/Tests/name.txt` beside `Tests.swift`.
  init(_ name: String, besides source: StaticString) {
    let source = URL(fileURLWithPath: "\(source)")
    url = source.deletingLastPathComponent().appendingPathComponent("__Snapshots__", isDirectory: true)
      .appendingPathComponent(source.deletingPathExtension().lastPathComponent, isDirectory: true)
      .appendingPathComponent(Self._fileName(name) + ".txt")
  }

  /// A name that every file system takes: other characters become hyphens.
  private static func _fileName(_ name: String) -> String {
    var result = ""
    for character in name.unicodeScalars {
      let isPlain = CharacterSet.alphanumerics.contains(character) || character == "_"
      if isPlain {
        result.unicodeScalars.append(character)
      } else if !result.isEmpty, !result.hasSuffix("-") {
        result += "-"
      }
    }
    if result.hasSuffix("-") { result.removeLast() }
    return result.isEmpty ? "snapshot" : String(result.prefix(120))
  }

  /// Writes the text; the file's directory is made.
  func record(_ text: String) throws {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url, options: .atomic)
  }

  /// The recorded text; nil if there is none.
  func recorded() throws -> String? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return try String(contentsOf: url, encoding: .utf8).replacingOccurrences(of: "\r\n", with: "\n")
  }
}
