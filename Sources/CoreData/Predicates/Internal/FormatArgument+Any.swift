import Foundation
import PredicateLanguage

extension FormatArgument {
  /// A format argument as callers give it: an expression takes its place as it is, also inside an array.
  /// - Throws: `PredicateEvaluationError.unsupported` for a predicate.
  init(any argument: Any) throws {
    // Text and numbers, nearly all there is, without asking what else it might be.
    guard type(of: argument) is AnyClass || argument is [Any] else {
      self = .value(PredicateValue(any: argument))
      return
    }
    if let expression = argument as? NSExpression {
      self = .expression(expression.tree)
    } else if argument is NSPredicate {
      throw PredicateEvaluationError.unsupported(
        "A predicate cannot be a format argument; combine predicates with NSCompoundPredicate.")
    } else if let elements = argument as? [Any], elements.contains(where: { $0 is NSExpression }) {
      self = .expression(.aggregate(of: elements.map { NSExpression.tree(of: $0) }))
    } else {
      self = .value(PredicateValue(any: argument))
    }
  }
}
