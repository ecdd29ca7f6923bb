import Foundation
import Synchronization

/// Logs problems to standard error that cannot be thrown and must not trap.
package enum Console {
  package static func warn(_ message: String) {
    FileHandle.standardError.write(Data("CoreData: \(message)\n".utf8))
  }

  private static let _said = Mutex<Set<String>>([])

  /// Logs once per topic: a problem with one object of an entity usually affects all.
  static func warnOnce(about topic: String, _ message: @autoclosure () -> String) {
    guard _said.withLock({ $0.insert(topic).inserted }) else { return }
    warn(message())
  }
}
