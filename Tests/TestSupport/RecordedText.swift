import Foundation

/// Text as it was when somebody last looked at it, in a file beside the tests.
///
/// Text that is meant to change: run with `COREDATA_RECORD_PAGES=1`, and look at the difference.
public struct RecordedText {
  private let _file: URL

  /// - Parameters:
  ///   - name: The file's name.
  ///   - folder: The folder's name, beside the source of the test.
  public init(_ name: String, in folder: String, besides source: String = #filePath) {
    _file = URL(fileURLWithPath: source).deletingLastPathComponent().appendingPathComponent(folder)
      .appendingPathComponent(name)
  }

  /// Says where text differs first from what was recorded; nil if it does not. Records it, with `COREDATA_RECORD_PAGES=1`.
  public func difference(of text: String) throws -> String? {
    if ProcessInfo.processInfo.environment["COREDATA_RECORD_PAGES"] == "1" {
      try FileManager.default.createDirectory(
        at: _file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: _file, atomically: true, encoding: .utf8)
      return nil
    }
    func lines(_ text: String) -> [Substring] {
      text.split(separator: "\n", omittingEmptySubsequences: false)
    }
    let (before, now) = (lines(try String(contentsOf: _file, encoding: .utf8)), lines(text))
    let differs = zip(before, now).enumerated().first { $0.element.0 != $0.element.1 }
    if differs == nil, before.count == now.count { return nil }
    return """
      \(_file.lastPathComponent) differs in line \((differs?.offset ?? min(before.count, now.count)) + 1): \
      '\(differs?.element.1.prefix(200) ?? "")', which was '\(differs?.element.0.prefix(200) ?? "")'. \
      Run with COREDATA_RECORD_PAGES=1 if that is meant, and look at what has changed.
      """
  }
}
