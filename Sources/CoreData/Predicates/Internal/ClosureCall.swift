import CoreDataPredicateLanguage
import Foundation

/// Calls the closures of predicates and expressions.
enum ClosureCall {
  /// Returns the result of a closure: a boolean for a predicate, the value for an expression.
  ///
  /// - Parameters:
  ///   - block: The predicate, or the block of the expression.
  ///   - object: The evaluated object.
  ///   - arguments: The arguments of an expression; nil for a predicate.
  ///   - variables: Values of variables by name, without the dollar.
  static func result(
    of block: PredicateObject, with object: Any?, arguments: [PredicateValue]?,
    variables: [String: PredicateValue]
  ) throws -> PredicateValue {
    switch block.wrapped {
    case let predicate as NSPredicate:
      let bindings = variables.isEmpty ? nil : variables.mapValues { $0.any ?? NSNull() }
      return .bool(predicate.evaluate(with: object, substitutionVariables: bindings))
    case let block as ExpressionBlock:
      let context = NSMutableDictionary()
      for (name, value) in variables { context[name] = value.any ?? NSNull() }
      return PredicateValue(any: block.body(object, (arguments ?? []).map { $0.any ?? NSNull() }, context))
    default:
      throw PredicateEvaluationError.unsupported(
        "\(block.wrapped) is no closure that a predicate can call.")
    }
  }
}
