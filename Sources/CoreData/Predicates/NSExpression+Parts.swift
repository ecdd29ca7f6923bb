import CoreDataPredicateLanguage
import Foundation

/// The parts of an expression. Traps for a part that the expression's kind lacks, where Core Data raises.
extension NSExpression {
  private func _missing(_ part: String) -> Never {
    programmerError(
      "NSInvalidArgumentException: the expression “\(self)” (\(expressionType)) has no \(part).")
  }

  private func _face(_ tree: ExpressionTree) -> NSExpression { NSExpression.face(of: tree) }

  /// The value of a constant: numbers as NSNumber, text as String, collections as arrays.
  public var constantValue: Any? {
    guard case .constant(let value) = tree else { _missing("constant value") }
    return value.any
  }

  /// The key path, with components separated by dots.
  public var keyPath: String {
    switch tree {
    case .keyPath(let path), .keyPathOf(_, let path): path.joined(separator: ".")
    default: _missing("key path")
    }
  }

  /// The selector of the function.
  public var function: String {
    switch tree {
    case .function(let function, _): function.rawValue
    case .customFunction(_, let selector, _): selector
    default: _missing("function")
    }
  }

  /// Name of the variable, without its dollar.
  public var variable: String {
    switch tree {
    case .variable(let name), .assignment(let name, _), .subquery(_, let name, _): name
    default: _missing("variable")
    }
  }

  /// The target of the function, or the start of the key path.
  public var operand: NSExpression {
    switch tree {
    case .keyPath: _face(.evaluatedObject)
    case .keyPathOf(let base, _): _face(base)
    case .customFunction(let target, _, _): _face(target)
    case .function: _face(.constant(.null))
    default: _missing("operand")
    }
  }

  /// Arguments of the function or the closure.
  public var arguments: [NSExpression]? {
    switch tree {
    case .function(_, let arguments), .customFunction(_, _, let arguments), .block(_, let arguments):
      arguments.map(_face)
    default: _missing("arguments")
    }
  }

  /// The elements of an aggregate as an array of expressions; for a subquery, the expression of the
  /// collection.
  public var collection: Any {
    switch tree {
    case .aggregate(let elements): elements.map(_face)
    case .constant(.collection(let elements)): elements.map { _face(.constant($0)) }
    case .subquery(let collection, _, _): _face(collection)
    default: _missing("collection")
    }
  }

  /// Predicate of a subquery or a conditional expression.
  public var predicate: NSPredicate {
    switch tree {
    case .subquery(_, _, let predicate), .conditional(let predicate, _, _): predicate.predicate
    default: _missing("predicate")
    }
  }

  /// Left side of a set expression.
  public var left: NSExpression {
    guard case .set(_, let left, _) = tree else { _missing("left side") }
    return _face(left)
  }

  /// Right side of a set expression.
  public var right: NSExpression {
    guard case .set(_, _, let right) = tree else { _missing("right side") }
    return _face(right)
  }

  /// The value of a conditional expression if its predicate holds.
  public var `true`: NSExpression {
    guard case .conditional(_, let then, _) = tree else { _missing("true expression") }
    return _face(then)
  }

  /// The value of a conditional expression if its predicate does not hold.
  public var `false`: NSExpression {
    guard case .conditional(_, _, let otherwise) = tree else { _missing("false expression") }
    return _face(otherwise)
  }

  /// The closure.
  public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any {
    guard case .block(let object, _) = tree, let block = object.wrapped as? ExpressionBlock else {
      _missing("closure")
    }
    return block.body
  }
}

extension ExpressionTree {
  /// The expression's type in the public API.
  var type: NSExpression.ExpressionType {
    switch self {
    case .constant: .constantValue
    case .evaluatedObject: .evaluatedObject
    case .variable, .assignment: .variable
    case .keyPath, .keyPathOf: .keyPath
    case .function(.fetch, _): .fetchRequest
    case .function, .customFunction: .function
    case .subquery: .subquery
    case .aggregate: .aggregate
    case .set(.union, _, _): .unionSet
    case .set(.intersect, _, _): .intersectSet
    case .set(.minus, _, _): .minusSet
    case .conditional: .conditional
    case .anyKey: .anyKey
    case .block: .block
    }
  }
}
