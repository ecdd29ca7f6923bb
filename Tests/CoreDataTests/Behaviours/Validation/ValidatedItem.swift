import CoreData
import Foundation

/// Validates and replaces values.
final class ValidatedItem: NSManagedObject {
  var skips = false

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
    guard let text = value as? String else { return }
    switch text {
    case "forbidden": throw NSError(domain: "Items", code: 77)
    case "twice":
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSValidationMultipleErrorsError,
        userInfo: [
          NSDetailedErrorsKey: [NSError(domain: "Items", code: 1), NSError(domain: "Items", code: 2)]
        ])
    default: value = text.trimmingCharacters(in: .whitespaces)
    }
  }

  override func validateForInsert() throws {
    if !skips { try super.validateForInsert() }
  }
}

/// Clears its mandatory value after validation has passed.
final class ForgetfulItem: NSManagedObject {
  override func validateForInsert() throws {
    try super.validateForInsert()
    setPrimitiveValue(nil, forKey: "value")
  }
}
