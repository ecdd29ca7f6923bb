import CoreDataModelCodegen
import Foundation

/// Reads and writes source files.
enum SourceFiles {
  static func read(_ path: String) throws -> ManagedAccessors.Source {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    // Replacing what is no UTF-8 would change the file when it is written back.
    guard let text = String(validating: data, as: UTF8.self) else {
      throw PlacedError(path: path, message: "not UTF-8 text; save it as such")
    }
    return ManagedAccessors.Source(path: path, text: text)
  }

  /// Writes the file unless it has this text already, so that nothing is compiled again for nothing.
  static func write(_ text: String, to path: String) throws {
    let url = URL(fileURLWithPath: path)
    if let old = try? Data(contentsOf: url), old == Data(text.utf8) {
      // The build system goes by the date.
      try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
      return
    }
    try Data(text.utf8).write(to: url)
  }

  /// All Swift files under a path, in a stable order; a file stands for itself. Hidden directories are left
  /// out.
  static func swiftFiles(in path: String) throws -> [String] {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw PlacedError(path: path, message: "there is no such file")
    }
    guard isDirectory.boolValue else { return [path] }
    guard let files = FileManager.default.enumerator(atPath: path) else { return [] }
    var found: [String] = []
    for case let file as String in files {
      let name = (file as NSString).lastPathComponent
      if name.hasPrefix(".") {
        files.skipDescendants()
      } else if name.hasSuffix(".swift") {
        found.append("\(path)/\(file)")
      }
    }
    return found.sorted()
  }
}
