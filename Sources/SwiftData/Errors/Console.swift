import Foundation
import Synchronization

/// Lines on the standard error.
enum Console {
  private static let _said = Mutex<Set<String>>([])

  /// Writes a line.
  static func warn(_ message: String) {
    FileHandle.standardError.write(Data("SwiftData: \(message)\n".utf8))
  }

  /// Writes a line, once for each subject.
  static func warnOnce(about subject: String, _ message: @autoclosure () -> String) {
    guard _said.withLock({ $0.insert(subject).inserted }) else { return }
    warn(message())
  }
}
