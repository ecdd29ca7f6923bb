import Foundation
import Synchronization

/// The reaction to contexts and objects being used off their queue.
///
/// The arguments `-com.apple.CoreData.ConcurrencyDebug 1`, or the environment variable of that name or
/// `COREDATA_CONCURRENCY_DEBUG`, make misuse trap, as in Core Data; 0 disables the check. Without either, a
/// debug build logs each place of misuse to standard error and continues, and a release build does not check.
/// Read once, when the first context is created.
enum ConcurrencyCheck {
  enum Mode {
    case off
    /// Logs one line to standard error per place.
    case reports
    case traps
  }

  static let argument = "com.apple.CoreData.ConcurrencyDebug"
  static let variable = "COREDATA_CONCURRENCY_DEBUG"

  static let mode = decision(
    arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment,
    isDebugBuild: _isDebugBuild)

  private static let _places = Mutex<Set<[UInt]>>([])

  /// Whether the current call stack has not been reported yet. Compares the innermost calls only, since a
  /// place deep in a program has many callers.
  static func isNewPlace() -> Bool {
    let calls = Thread.callStackReturnAddresses.prefix(12).map(\.uintValue)
    return _places.withLock { $0.insert(calls).inserted }
  }

  private static var _isDebugBuild: Bool {
    #if DEBUG
    true
    #else
    false
    #endif
  }

  /// Returns the mode for a process with these settings; arguments take precedence over the environment.
  static func decision(arguments: [String], environment: [String: String], isDebugBuild: Bool) -> Mode {
    if let index = arguments.lastIndex(of: "-" + argument), index + 1 < arguments.count {
      return _isYes(arguments[index + 1]) ? .traps : .off
    }
    if let value = environment[argument] ?? environment[variable] { return _isYes(value) ? .traps : .off }
    return isDebugBuild ? .reports : .off
  }

  private static func _isYes(_ value: String) -> Bool {
    ["1", "yes", "true"].contains(value.lowercased()) || (Int(value) ?? 0) > 0
  }
}

extension NSManagedObjectContext {
  /// Traps or logs if the check is enabled and the calling thread is not executing for this context.
  @inline(__always)
  final func checkQueue() {
    if isChecked, !queue.isCurrent { queueWasViolated(by: nil) }
  }

  /// Traps, or logs the place once, with a message that names object, context and queue.
  final func queueWasViolated(by object: NSManagedObject?) {
    let traps = ConcurrencyCheck.mode == .traps
    guard traps || ConcurrencyCheck.isNewPlace() else { return }
    let subject =
      object.map { "\($0._layout.entityName) \($0._objectID.uriRepresentation().absoluteString) of \(label)" }
      ?? label
    let violation =
      "multithreading violation: \(subject) was used on \(ContextQueue.currentPlace), which is not executing for that "
      + "context. Its queue is '\(queue.label)': use it inside the context's perform or performAndWait. An object's objectID may be read anywhere. "
    guard traps else {
      return Console.warn(
        violation
          + "(-\(ConcurrencyCheck.argument) 1, or \(ConcurrencyCheck.variable)=1 in the environment, makes the program stop here.)"
      )
    }
    programmerError(violation + "(-\(ConcurrencyCheck.argument) 0 switches this check off.)")
  }
}

extension NSManagedObject {
  /// Prepares an object for access to its values: checks its queue, fills its fault.
  @inline(__always)
  final func attend() {
    if _flags.contains(.checked) { checkQueue() }
    if _flags.contains(.fault) { fireFault() }
  }

  /// Traps or logs if the check is enabled and the calling thread is not executing for the object's context.
  @inline(__always)
  final func checkQueue() {
    guard _flags.contains(.checked), let context = _context, !context.queue.isCurrent else { return }
    context.queueWasViolated(by: self)
  }
}
