import Foundation

/// Names along a Swift key path from a root that is not a managed object.
enum StoredKeyPath {
  /// - Throws: `KeyPathRecordingError` for a key path through a subscript or a component without a name at
  ///   run time.
  static func names(of keyPath: AnyKeyPath) throws -> [String] {
    // "\\Book.title?.count": the root's name, then the properties.
    let text = keyPath.debugDescription
    let names = text.split(separator: ".").dropFirst().map { $0.trimmingCharacters(in: ["?", "!"]) }
    let isPlain = names.allSatisfy { name in
      !name.isEmpty && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
    guard !names.isEmpty, isPlain else {
      throw KeyPathRecordingError(keyPath, "“\(text)” does not give the names of properties")
    }
    return names
  }
}
