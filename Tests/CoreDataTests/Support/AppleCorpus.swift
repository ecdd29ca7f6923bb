import Foundation

/// Files written by Apple's tools, in a folder beside the package.
enum AppleCorpus {
  static let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("../shared/corpus")
    .standardizedFileURL
  static let isThere = FileManager.default.fileExists(atPath: url.path)

  /// Large schemas without rows, apart from the others.
  static let third = url.deletingLastPathComponent().appendingPathComponent("corpus-3")
}
