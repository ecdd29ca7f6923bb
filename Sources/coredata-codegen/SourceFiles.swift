import CoreDataModelCodegen
import Foundation

/// Reads and writes source files.
enum SourceFiles {
  static func read(_ path: String) throws -> ManagedAccessors.Source {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    // Replacing invalid UTF-8 would change the file when it is written back.
    guard let text = String(validating: data, as: UTF8.self) else {
      throw PlacedError(path: path, message: "not UTF-8 text; save it as such")
    }
    return ManagedAccessors.Source(path: path, text: text)
  }

  /// Writes the file unless its text is the same, to avoid needless recompilation.
  static func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    if let old = try? Data(contentsOf: url), old == Data(text.utf8) {
      // The build system compares dates.
      try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
      return
    }
    try Data(text.utf8).write(to: url)
  }

  /// All Swift files under a path.
  static func swiftFiles(in path: String) throws -> [String] {
    guard let files = SwiftFiles.paths(in: path) else {
      throw PlacedError(path: path, message: "there is no such file")
    }
    return files
  }
}
