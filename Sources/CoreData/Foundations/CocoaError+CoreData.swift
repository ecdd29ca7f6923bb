import Foundation

extension CocoaError {
  /// Returns an error in the Cocoa domain with one of Core Data's codes.
  ///
  /// - Parameters:
  ///   - code: One of Core Data's error codes.
  ///   - message: The request, the finding, and a remedy.
  static func coreData(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> CocoaError {
    var info = userInfo
    for (key, value) in userInfo {
      if let url = value as? URL { info[key] = url.withoutPasswords }
    }
    info[NSLocalizedDescriptionKey] = message
    return CocoaError(CocoaError.Code(rawValue: code), userInfo: info)
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
