import Foundation

/// Finds Swift files.
package enum SwiftFiles {
  /// All Swift files under a path, sorted, or the path itself if it is a file. Skips hidden directories.
  ///
  /// - Returns: Nil if the path does not exist.
  package static func paths(in path: String) -> [String]? {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return nil }
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
