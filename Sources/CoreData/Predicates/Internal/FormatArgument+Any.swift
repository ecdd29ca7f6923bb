import CoreDataPredicateLanguage
import Foundation

extension FormatArgument {
  /// Converts a caller's format argument; expressions are inserted unchanged, also inside an array.
  /// - Throws: `PredicateEvaluationError.unsupported` for a predicate.
  init(any argument: Any) throws {
    let type = Swift.type(of: argument)
    if type == String.self, let text = argument as? String {
      self = .value(.string(text))
      return
    }
    // Fast path for text, numbers and arrays of them, which are nearly all arguments.
    guard type is AnyClass || Self._mayHoldExpressions(type) else {
      self = .value(PredicateValue(any: argument))
      return
    }
    if let expression = argument as? NSExpression {
      self = .expression(expression.tree)
    } else if argument is NSPredicate {
      throw PredicateEvaluationError.unsupported(
        "A predicate cannot be a format argument; combine predicates with NSCompoundPredicate.")
    } else if let elements = argument as? [Any], elements.contains(where: Self._isExpression) {
      self = .expression(.aggregate(of: elements.map { NSExpression.tree(of: $0) }))
    } else {
      self = .value(PredicateValue(any: argument))
    }
  }

  private static func _mayHoldExpressions(_ type: Any.Type) -> Bool {
    type == [Any].self || type is [NSExpression].Type || type == [NSObject].self || type == [AnyObject].self
  }

  private static func _isExpression(_ element: Any) -> Bool {
    type(of: element) is AnyClass && element is NSExpression
  }
}
