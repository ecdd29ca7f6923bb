import Foundation

/// Describes a computed column of a fetch, or a computed element of an index. It can't be a property of an
/// entity.
open class NSExpressionDescription: NSPropertyDescription {
  private var _expression: NSExpression?
  private var _expressionResultType = NSAttributeType.undefinedAttributeType

  /// What is computed.
  open var expression: NSExpression? {
    get { _expression }
    set {
      willMutate("expression")
      _expression = newValue
    }
  }

  /// Kind of value that the expression yields.
  open var expressionResultType: NSAttributeType {
    get { _expressionResultType }
    set {
      willMutate("expressionResultType")
      _expressionResultType = newValue
    }
  }

  /// Kind of value that the expression yields, under its shorter name.
  public final var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
    set { expressionResultType = newValue.rawValue }
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSExpressionDescription()
    copyState(to: copy)
    copy._expression = _expression
    copy._expressionResultType = _expressionResultType
    return copy
  }
}
