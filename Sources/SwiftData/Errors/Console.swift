import Foundation
import Synchronization

/// Logs to standard error.
enum Console {
  private static let _said = Mutex<Set<String>>([])

  /// Logs a message.
  static func warn(_ message: String) {
    FileHandle.standardError.write(Data("SwiftData: \(message)\n".utf8))
  }

  /// Logs a message once per subject.
  static func warnOnce(about subject: String, _ message: @autoclosure () -> String) {
    guard _said.withLock({ $0.insert(subject).inserted }) else { return }
    warn(message())
  }

  /// Whether a message about a subject was logged.
  static func hasWarned(about subject: String) -> Bool { _said.withLock { $0.contains(subject) } }
}
