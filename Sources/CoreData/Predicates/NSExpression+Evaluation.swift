import CoreDataPredicateLanguage
import Foundation

extension NSExpression {
  /// Evaluates the expression for `object`; `context` contains the values of variables and receives
  /// assignments.
  ///
  /// Call it on the thread that may read the object. Traps if the expression cannot be evaluated, where Core
  /// Data raises; see `evaluated(with:context:)`.
  ///
  /// ```swift
  /// let ratio = NSExpression(format: "pages / 2").expressionValue(with: book, context: nil) as? Double
  /// ```
  public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
    do {
      return try _value(for: object, context)
    } catch {
      programmerError("NSInvalidArgumentException: “\(self)” cannot be evaluated: \(error)")
    }
  }

  /// Evaluates the expression and throws instead of trapping. Not in Core Data, which raises.
  ///
  /// ```swift
  /// do {
  ///   let value = try NSExpression(format: "author.name").evaluated(with: book)
  /// } catch let error as NSPredicate.EvaluationError {
  ///   print(error)
  /// }
  /// ```
  ///
  /// - Throws: ``Foundation/NSPredicate/EvaluationError``.
  public func evaluated(with object: Any?, context: NSMutableDictionary? = nil) throws -> Any? {
    do {
      return try _value(for: object, context)
    } catch {
      throw NSPredicate.EvaluationError(error)
    }
  }

  private func _value(for object: Any?, _ context: NSMutableDictionary?) throws -> Any? {
    var variables: [String: PredicateValue] = [:]
    for (key, value) in context ?? [:] {
      if let name = key as? String { variables[name] = PredicateValue(any: value) }
    }
    var evaluator = PredicateEvaluator(ObjectSubject(object), variables: variables)
    let value = try evaluator.value(of: tree)
    if let context {
      for (name, value) in evaluator.variables where variables[name] != value {
        context[name] = value.any ?? NSNull()
      }
    }
    return value.any
  }

  /// Allows the evaluation of an archived expression. Does nothing, since all are allowed; for source
  /// compatibility.
  public func allowEvaluation() {}
}
