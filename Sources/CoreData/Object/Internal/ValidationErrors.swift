import Foundation

/// Creates validation errors and combines several into one.
enum ValidationErrors {
  static func make(
    _ code: Int, _ object: NSManagedObject, _ key: String, _ value: Any?, _ reason: String,
    shown: String? = nil
  ) -> CocoaError {
    var info: [String: Any] = [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: key]
    if let value { info[NSValidationValueErrorKey] = value }
    return CocoaError.coreData(code, "\(object._layout.entityName).\(key) \(reason).", shown: shown, info)
  }

  static func missing(_ object: NSManagedObject, _ key: String) -> CocoaError {
    make(
      NSValidationMissingMandatoryPropertyError, object, key, nil, "is mandatory but nil",
      shown: "\(key) is a required value.")
  }

  /// Returns the errors inside a multiple-errors error, or the error itself.
  static func flatten(_ error: any Error) -> [any Error] {
    let cocoa = error as NSError
    guard cocoa.domain == NSCocoaErrorDomain, cocoa.code == NSValidationMultipleErrorsError,
      let details = cocoa.userInfo[NSDetailedErrorsKey] as? [any Error]
    else { return [error] }
    return details
  }

  /// Throws a single error unchanged, several as one combined error.
  static func throwIfAny(_ errors: [any Error]) throws {
    guard let first = errors.first else { return }
    if errors.count == 1 { throw first }
    throw CocoaError.coreData(
      NSValidationMultipleErrorsError,
      "\(errors.count) validation errors; the first: \(first.debugText)",
      shown: "Multiple validation errors occurred.", [NSDetailedErrorsKey: errors])
  }
}
