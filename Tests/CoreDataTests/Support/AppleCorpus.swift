import Foundation

/// Files that Apple's tools wrote, beside the package.
enum AppleCorpus {
  static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("../shared/corpus")
    .standardizedFileURL
  static let isThere = FileManager.default.fileExists(atPath: url.path)
}
