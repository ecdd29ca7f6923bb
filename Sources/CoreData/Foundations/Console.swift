import Foundation
import Synchronization

/// Lines on the standard error, for what must be known and can neither be thrown nor trap.
enum Console {
  static func warn(_ message: String) {
    FileHandle.standardError.write(Data("CoreData: \(message)\n".utf8))
  }

  private static let _said = Mutex<Set<String>>([])

  /// The same once for each topic: what holds for one object of an entity holds for all.
  static func warnOnce(about topic: String, _ message: @autoclosure () -> String) {
    guard _said.withLock({ $0.insert(topic).inserted }) else { return }
    warn(message())
  }
}
