import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Parses predicates and expressions from model files. The text is untrusted, so this throws where
/// `NSPredicate(format:)` traps.
enum ModelText {
  static func predicate(_ text: String) throws -> NSPredicate { try NSPredicate(parsing: text) }

  /// Returns the variables of a predicate that need values.
  static func variables(of predicate: NSPredicate) -> Set<String> {
    (try? PredicateTree(predicate).freeVariables) ?? []
  }

  static func substituting(_ variables: [String: Any], in predicate: NSPredicate) -> NSPredicate {
    predicate.withSubstitutionVariables(variables)
  }

  static func expression(_ text: String) throws -> NSExpression { try NSExpression(parsing: text) }
}

extension NSPredicate {
  /// The predicate in the syntax of model files.
  var predicateText: String {
    (try? PredicateTree(self)).map { PredicatePrinter.text(of: $0) } ?? description
  }
}

extension NSAttributeDescription {
  /// The validation rules of a model file: limits as predicates, each with the Cocoa error code of a value
  /// that fails it, then other predicates with their messages. Skips invalid predicates; using the model
  /// reports them.
  final var modelValidation: [(predicate: NSPredicate, warning: Any)] {
    limitPredicates.map { ($0.predicate, NSNumber(value: $0.code) as Any) }
      + fileValidations.compactMap { validation in
        (try? ModelText.predicate(validation.predicate)).map { ($0, validation.warning as Any) }
      }
  }

  /// The limits as predicates, each with the Cocoa error code of a value that fails it.
  final var limitPredicates: [(predicate: NSPredicate, code: Int)] {
    func bound(_ path: String, _ sign: String, _ literal: SchemaLiteral?, _ code: Int) -> (NSPredicate, Int)?
    {
      guard let literal, let value = literal._number else { return nil }
      return (NSPredicate(format: "\(path) \(sign) %@", value), code)
    }
    switch attributeType {
    case .stringAttributeType:
      return [
        bound("length", ">=", limits.minimum, NSValidationStringTooShortError),
        bound("length", "<=", limits.maximum, NSValidationStringTooLongError),
        limits.regularExpression.map {
          (NSPredicate(format: "SELF MATCHES %@", $0), NSValidationStringPatternMatchingError)
        },
      ].compactMap { $0 }
    case .dateAttributeType:
      return [
        bound("timeIntervalSinceReferenceDate", ">=", limits.minimum, NSValidationDateTooSoonError),
        bound("timeIntervalSinceReferenceDate", "<=", limits.maximum, NSValidationDateTooLateError),
      ].compactMap { $0 }
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .decimalAttributeType:
      return [
        bound("SELF", ">=", limits.minimum, NSValidationNumberTooSmallError),
        bound("SELF", "<=", limits.maximum, NSValidationNumberTooLargeError),
      ].compactMap { $0 }
    default: return []
    }
  }
}

extension SchemaLiteral {
  /// The literal as a decimal, lossless for integers and decimals; nil unless it is a number.
  var decimal: Decimal? {
    switch self {
    case .integer(let int): Decimal(int)
    case .double(let double), .date(let double):
      double.isFinite ? Decimal(string: "\(double)", locale: nil) : nil
    case .decimal(let text), .string(let text): Decimal(string: text, locale: nil)
    default: nil
    }
  }

  fileprivate var _number: NSNumber? {
    switch self {
    case .integer(let int): NSNumber(value: int)
    case .double(let double), .date(let double): NSNumber(value: double)
    default: decimal.map { NSDecimalNumber(decimal: $0) }
    }
  }
}
