import Foundation

extension CocoaError {
  /// An error in the Cocoa domain with one of Core Data's codes.
  ///
  /// - Parameters:
  ///   - code: One of Core Data's error codes.
  ///   - message: What was asked, what was found, what to do.
  static func coreData(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> CocoaError {
    var info = userInfo
    info[NSLocalizedDescriptionKey] = message
    return CocoaError(CocoaError.Code(rawValue: code), userInfo: info)
  }
}

/// Stops the program over a mistake that stops it in Core Data too.
///
/// - Parameter message: What was asked, what was found, what to do.
func programmerError(_ message: String) -> Never {
  fatalError("CoreData: \(message)")
}
