import Foundation

/// Describes a computed column of a fetch, or a computed element of an index. Cannot be a property of an
/// entity.
///
/// ```swift
/// let total = NSExpressionDescription()
/// total.name = "totalPages"
/// total.expression = NSExpression(format: "sum:(pages)")
/// total.resultType = .integer64
/// let request = NSFetchRequest<NSDictionary>(entityName: "Book")
/// request.resultType = .dictionaryResultType
/// request.propertiesToFetch = [total]
/// let pages = try context.fetch(request).first?["totalPages"] as? Int
/// ```
open class NSExpressionDescription: NSPropertyDescription {
  private var _expression: NSExpression?
  private var _expressionResultType = NSAttributeType.undefinedAttributeType

  /// The expression to compute.
  open var expression: NSExpression? {
    get { _expression }
    set {
      willMutate("expression")
      _expression = newValue
    }
  }

  /// The type of the expression's values.
  open var expressionResultType: NSAttributeType {
    get { _expressionResultType }
    set {
      willMutate("expressionResultType")
      _expressionResultType = newValue
    }
  }

  /// The type of the expression's values; shorter alias.
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
