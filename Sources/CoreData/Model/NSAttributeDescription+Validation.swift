import Foundation
import ModelSchema

extension NSAttributeDescription {
  /// The limits and validations of the model file as predicates, each with its warning: for a limit the
  /// number of the Cocoa error, for any other predicate a message.
  ///
  /// One that can't be parsed is left out; a model file may say anything.
  final var modelledValidation: [(predicate: NSPredicate, warning: Any)] {
    var all: [(predicate: NSPredicate, warning: Any)] = []
    func add(_ format: String, _ bound: Any?, _ code: Int) {
      guard let bound, let predicate = try? NSPredicate(parsing: format, arguments: [bound]) else { return }
      all.append((predicate, NSNumber(value: code)))
    }
    let (low, high) = (_bound(limits.minimum), _bound(limits.maximum))
    switch attributeType {
    case .stringAttributeType:
      add("length >= %@", low, NSValidationStringTooShortError)
      add("length <= %@", high, NSValidationStringTooLongError)
    case .dateAttributeType:
      add("timeIntervalSinceReferenceDate >= %@", low, NSValidationDateTooSoonError)
      add("timeIntervalSinceReferenceDate <= %@", high, NSValidationDateTooLateError)
    default:
      add("SELF >= %@", low, NSValidationNumberTooSmallError)
      add("SELF <= %@", high, NSValidationNumberTooLargeError)
    }
    add("SELF MATCHES %@", limits.regularExpression, NSValidationStringPatternMatchingError)
    for validation in validations {
      guard let predicate = try? ModelText.predicate(validation.predicate) else { continue }
      all.append(
        (predicate, Int(validation.warning).map { NSNumber(value: $0) } ?? validation.warning as Any))
    }
    return all
  }

  private func _bound(_ literal: SchemaLiteral?) -> Any? {
    switch literal {
    case .integer(let number): NSNumber(value: number)
    case .double(let number), .date(let number): NSNumber(value: number)
    case .decimal(let text): Decimal(string: text).map { NSDecimalNumber(decimal: $0) }
    case .boolean, .string, .data, .uuid, .uri, nil: nil
    }
  }
}
