import CoreDataToolKit
import Foundation

/// A directory for stores while they are measured, removed afterwards.
package final class WorkDirectory {
  package let path: String
  private let _signals: [any DispatchSourceSignal]

  /// Creates a directory with a unique name in `parent`, to be removed by `remove`, or when the user
  /// interrupts the tool.
  ///
  /// - Parameters:
  ///   - work: What is measured, for the directory's name.
  ///   - willRemove: Called with the directory's path before it is removed by an interruption.
  package init(
    for work: String, in parent: String, willRemove: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(ToolFailure) {
    var template = Array((parent + "/coredata-\(work)-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw ToolFailure(
        .cannotCreateOutput, "Cannot make a directory in '\(parent)': \(String(cString: strerror(errno))).")
    }
    let path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    self.path = path
    _signals = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        RunningWorker.end()
        willRemove(path)
        // Retried, since this program itself may still be writing there.
        for _ in 0..<100 where FileManager.default.fileExists(atPath: path) {
          try? FileManager.default.removeItem(atPath: path)
        }
        // The conventional exit code after a signal.
        _exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  /// Removes the directory and its contents.
  package func remove() {
    for source in _signals { source.cancel() }
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
    try? FileManager.default.removeItem(atPath: path)
  }
}
