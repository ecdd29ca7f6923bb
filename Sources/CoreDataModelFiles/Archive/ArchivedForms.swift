/// The archived forms of predicates and expressions, as found in Core Data's archives.
package enum ArchivedForms {
  /// Operators with an archived form.
  package enum Comparison: Int64, Sendable {
    case lessThan = 0
    case lessThanOrEqual = 1
    case greaterThan = 2
    case greaterThanOrEqual = 3
    case equal = 4
    case notEqual = 5
    case matches = 6
    case like = 7
    case beginsWith = 8
    case endsWith = 9
    case `in` = 10
    case contains = 99
    case between = 100

    /// Whether Core Data's archives show the form; the others are modelled on those.
    var isKnownFromStores: Bool {
      switch self {
      case .beginsWith, .endsWith, .between: false
      default: true
      }
    }
  }

  package static func evaluatedObject() -> KeyedObject {
    KeyedObject(
      ["NSSelfExpression", "NSExpression", "NSObject"], [("NSExpressionType", .plain(.integer(1)))])
  }

  package static func constant(_ value: KeyedValue) -> KeyedObject {
    KeyedObject(
      ["NSConstantValueExpression", "NSExpression", "NSObject"],
      [("NSConstantValue", value), ("NSExpressionType", .plain(.integer(0)))])
  }

  package static func variable(_ name: String) -> KeyedObject {
    KeyedObject(
      ["NSVariableExpression", "NSExpression", "NSObject"],
      [("NSVariable", .text(name)), ("NSExpressionType", .plain(.integer(2)))])
  }

  /// A key path of the evaluated object, or of another expression.
  package static func keyPath(_ components: [String], of operand: KeyedObject? = nil) -> KeyedObject {
    let specifier = KeyedObject(
      ["NSKeyPathSpecifierExpression", "NSExpression", "NSObject"],
      [("NSKeyPath", .text(components.joined(separator: "."))), ("NSExpressionType", .plain(.integer(10)))])
    let isPath = operand != nil || components.count > 1
    return KeyedObject(
      ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
      [
        ("NSSelectorName", .text(isPath ? "valueForKeyPath:" : "valueForKey:")),
        ("NSOperand", .object(operand ?? evaluatedObject())),
        ("NSArguments", .object(_list(["NSMutableArray", "NSArray", "NSObject"], [specifier]))),
        ("NSExpressionType", .plain(.integer(operand == nil ? 3 : 4))),
      ])
  }

  /// A predefined function, by its selector.
  package static func function(_ selector: String, _ arguments: [KeyedObject]) -> KeyedObject {
    let utilities = KeyedObject(
      ["NSConstantValueExpression", "NSExpression", "NSObject"],
      [
        ("NSConstantValueClassName", .text("_NSPredicateUtilities")),
        ("NSExpressionType", .plain(.integer(0))),
      ])
    return KeyedObject(
      ["NSFunctionExpression", "NSExpression", "NSObject"],
      [
        ("NSSelectorName", .text(selector)), ("NSOperand", .object(utilities)),
        ("NSArguments", .object(_list(["NSArray", "NSObject"], arguments))),
        ("NSExpressionType", .plain(.integer(4))),
      ])
  }

  /// FUNCTION: a method of an object.
  static func function(_ selector: String, of target: KeyedObject, _ arguments: [KeyedObject]) -> KeyedObject
  {
    KeyedObject(
      ["NSFunctionExpression", "NSExpression", "NSObject"],
      [
        ("NSSelectorName", .text(selector)), ("NSOperand", .object(target)),
        ("NSArguments", .object(_list(["NSMutableArray", "NSArray", "NSObject"], arguments))),
        ("NSExpressionType", .plain(.integer(4))),
      ])
  }

  /// FETCH, as in mapping models.
  static func fetch(_ request: KeyedObject, in context: KeyedObject, countsOnly: Bool) -> KeyedObject {
    KeyedObject(
      ["NSFetchRequestExpression", "NSExpression", "NSObject"],
      [
        ("NSFRExpression", .object(request)), ("NSMOCExpression", .object(context)),
        ("NSCountOnlyFlag", .plain(.boolean(countsOnly))), ("NSExpressionType", .plain(.integer(50))),
      ])
  }

  /// `{a, b}`.
  static func aggregate(_ members: [KeyedObject]) -> KeyedObject {
    KeyedObject(
      ["NSAggregateExpression", "NSExpression", "NSObject"],
      [
        ("NSCollection", .object(_list(["NSArray", "NSObject"], members))),
        ("NSExpressionType", .plain(.integer(14))),
      ])
  }

  /// SUBQUERY.
  static func subquery(_ collection: KeyedObject, _ variable: String, _ predicate: KeyedObject) -> KeyedObject
  {
    KeyedObject(
      ["NSSubqueryExpression", "NSExpression", "NSObject"],
      [
        ("NSCollection", .object(collection)), ("NSVariable", .text(variable)),
        ("NSPredicate", .object(predicate)), ("NSExpressionType", .plain(.integer(13))),
      ])
  }

  /// TERNARY.
  static func conditional(_ predicate: KeyedObject, _ first: KeyedObject, _ second: KeyedObject)
    -> KeyedObject
  {
    KeyedObject(
      ["NSTernaryExpression", "NSExpression", "NSObject"],
      [
        ("NSPredicate", .object(predicate)), ("NSTrueExpression", .object(first)),
        ("NSFalseExpression", .object(second)), ("NSExpressionType", .plain(.integer(20))),
      ])
  }

  /// - Parameter type: 5 UNION, 6 INTERSECT, 7 MINUS.
  static func set(_ type: Int64, _ left: KeyedObject, _ right: KeyedObject) -> KeyedObject {
    KeyedObject(
      ["NSSetExpression", "NSExpression", "NSObject"],
      [
        ("NSLeftExpression", .object(left)), ("NSRightExpression", .object(right)),
        ("NSExpressionType", .plain(.integer(type))),
      ])
  }

  /// TRUEPREDICATE, FALSEPREDICATE.
  static func constantPredicate(_ flag: Bool) -> KeyedObject {
    KeyedObject([flag ? "NSTruePredicate" : "NSFalsePredicate", "NSPredicate", "NSObject"])
  }

  /// A comparison of two expressions.
  ///
  /// - Parameters:
  ///   - modifier: 0 direct, 1 ALL, 2 ANY.
  ///   - options: 1 for [c], 2 for [d].
  package static func comparison(
    _ left: KeyedObject, _ comparison: Comparison, _ right: KeyedObject, modifier: Int64 = 0,
    options: Int64 = 0
  ) -> KeyedObject {
    KeyedObject(
      ["NSComparisonPredicate", "NSPredicate", "NSObject"],
      [
        ("NSLeftExpression", .object(left)), ("NSRightExpression", .object(right)),
        ("NSPredicateOperator", .object(_operator(comparison, modifier, options))),
      ])
  }

  /// - Parameter type: 0 NOT, 1 AND, 2 OR.
  package static func compound(_ type: Int64, _ parts: [KeyedObject]) -> KeyedObject {
    KeyedObject(
      ["NSCompoundPredicate", "NSPredicate", "NSObject"],
      [
        ("NSCompoundPredicateType", .plain(.integer(type))),
        ("NSSubpredicates", .object(_list(["NSArray", "NSObject"], parts))),
      ])
  }

  private static func _operator(_ comparison: Comparison, _ modifier: Int64, _ options: Int64) -> KeyedObject
  {
    var fields: [(key: String, value: KeyedValue)] = [
      ("NSModifier", .plain(.integer(modifier))), ("NSOperatorType", .plain(.integer(comparison.rawValue))),
    ]
    let optionsValue = KeyedValue.plain(.integer(options))
    let root = ["NSPredicateOperator", "NSObject"]
    switch comparison {
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      fields += [("NSVariant", .plain(.integer(comparison.rawValue))), ("NSOptions", optionsValue)]
      return KeyedObject(["NSComparisonPredicateOperator"] + root, fields)
    case .equal, .notEqual:
      fields += [("NSNegate", .plain(.boolean(comparison == .notEqual))), ("NSOptions", optionsValue)]
      return KeyedObject(["NSEqualityPredicateOperator"] + root, fields)
    case .in, .contains:
      fields.append(("NSFlags", optionsValue))
      return KeyedObject(["NSInPredicateOperator"] + root, fields)
    case .matches:
      fields.append(("NSFlags", optionsValue))
      return KeyedObject(["NSMatchingPredicateOperator", "NSStringPredicateOperator"] + root, fields)
    case .beginsWith, .endsWith:
      fields += [
        ("NSFlags", optionsValue), ("NSSubstringPosition", .plain(.integer(comparison.rawValue - 8))),
      ]
      return KeyedObject(["NSSubstringPredicateOperator", "NSStringPredicateOperator"] + root, fields)
    case .between:
      fields.append(("NSFlags", optionsValue))
      return KeyedObject(["NSBetweenPredicateOperator"] + root, fields)
    case .like:
      fields.append(("NSFlags", optionsValue))
      return KeyedObject(
        ["NSLikePredicateOperator", "NSMatchingPredicateOperator", "NSStringPredicateOperator"] + root, fields
      )
    }
  }

  private static func _list(_ classes: [String], _ members: [KeyedObject]) -> KeyedObject {
    KeyedObject(classes, [("NS.objects", .members(members.map { .object($0) }))])
  }
}
