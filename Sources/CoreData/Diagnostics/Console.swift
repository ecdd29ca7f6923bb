import Foundation

/// Lines on the standard error, for what must be known and can neither be thrown nor trap.
enum Console {
  static func warn(_ message: String) {
    FileHandle.standardError.write(Data("CoreData: \(message)\n".utf8))
  }
}
