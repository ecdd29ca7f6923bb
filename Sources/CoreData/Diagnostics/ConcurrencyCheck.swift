import Foundation

/// Whether contexts and objects check that they are used on their queue.
///
/// On by default in debug builds. The arguments `-com.apple.CoreData.ConcurrencyDebug 1` (or `0`), or the
/// environment variables of that name or `COREDATA_CONCURRENCY_DEBUG`, decide otherwise. Read once, when the
/// first context is made.
enum ConcurrencyCheck {
  static let argument = "com.apple.CoreData.ConcurrencyDebug"

  static let isOn = decision(
    arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment,
    isDebugBuild: isDebugBuild)

  private static var isDebugBuild: Bool {
    #if DEBUG
    true
    #else
    false
    #endif
  }

  /// What a process started like this does; arguments weigh more than the environment.
  static func decision(arguments: [String], environment: [String: String], isDebugBuild: Bool) -> Bool {
    if let index = arguments.lastIndex(of: "-" + argument), index + 1 < arguments.count {
      return isYes(arguments[index + 1])
    }
    if let value = environment[argument] ?? environment["COREDATA_CONCURRENCY_DEBUG"] { return isYes(value) }
    return isDebugBuild
  }

  private static func isYes(_ value: String) -> Bool {
    ["1", "yes", "true"].contains(value.lowercased()) || (Int(value) ?? 0) > 0
  }
}

extension NSManagedObjectContext {
  /// Traps if the check is on and the calling thread is not executing for this context.
  final func checkQueue() {
    if isChecked, !queue.isCurrent { queueWasViolated(by: nil) }
  }

  /// Stops the program with a message that names object, context and queue.
  final func queueWasViolated(by object: NSManagedObject?) -> Never {
    let subject =
      object.map { "\($0._layout.entityName) \($0._objectID.uriRepresentation().absoluteString) of \(label)" }
      ?? label
    programmerError(
      "multithreading violation: \(subject) was used on \(ContextQueue.currentPlace), which is not executing for that "
        + "context. Its queue is '\(queue.label)': use it inside the context's perform or performAndWait. An object's objectID may be read anywhere. "
        + "(-\(ConcurrencyCheck.argument) 0 switches this check off.)")
  }
}

extension NSManagedObject {
  /// What has to be done before an object's values are touched: its queue checked, its fault filled.
  final func attend() {
    if _flags.contains(.checked) { checkQueue() }
    if _flags.contains(.fault) { fireFault() }
  }

  /// Traps if the check is on and the calling thread is not executing for the object's context.
  final func checkQueue() {
    guard _flags.contains(.checked), let context = _context, !context.queue.isCurrent else { return }
    context.queueWasViolated(by: self)
  }
}
