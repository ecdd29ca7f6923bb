import Foundation

extension CocoaError {
  /// Returns an error in the Cocoa domain with one of Core Data's codes.
  ///
  /// - Parameters:
  ///   - code: One of Core Data's error codes.
  ///   - message: The request, the finding, and a remedy.
  ///   - shown: What the error's `localizedDescription` is instead, as apps show it to people; the message is
  ///     under `NSDebugDescriptionErrorKey` then.
  static func coreData(
    _ code: Int, _ message: String, shown: String? = nil, _ userInfo: [String: Any] = [:]
  ) -> CocoaError {
    var info = userInfo
    for (key, value) in userInfo {
      if let url = value as? URL { info[key] = url.withoutPasswords }
    }
    info[NSLocalizedDescriptionKey] = shown ?? message
    if shown != nil { info[NSDebugDescriptionErrorKey] = message }
    return CocoaError(CocoaError.Code(rawValue: code), userInfo: info)
  }
}

extension Error {
  /// What developers are told: the request, the finding, and a remedy. Errors whose `localizedDescription` is
  /// for the users of an app have it under `NSDebugDescriptionErrorKey`.
  package var debugText: String {
    let error = self as NSError
    return error.userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
  }
}

/// Traps for a programming error that stops the program in Core Data as well.
///
/// - Parameter message: The request, the finding, and a remedy. Built out of line, so that the caller's own code stays
///   small.
@inline(never)
func programmerError(_ message: @autoclosure () -> String) -> Never {
  fatalError("CoreData: \(message())")
}
