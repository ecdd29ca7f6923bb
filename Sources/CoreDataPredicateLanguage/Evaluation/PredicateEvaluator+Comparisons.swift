import Foundation

/// Comparisons, with ANY and ALL, and the operators' tests.
extension PredicateEvaluator {
  mutating func compare(_ comparison: PredicateTree.Comparison) throws -> Bool {
    let left = try value(of: comparison.left)
    let right = try value(of: comparison.right)
    var modifier = comparison.modifier
    if modifier == .direct, case .anyKey = comparison.left { modifier = .any }
    switch modifier {
    case .direct: return try _test(left, comparison, right)
    case .any:
      guard let elements = left.elements else {
        // For a single value, ANY is the comparison itself; nil at the end of a path through a to-many is not
        // a member.
        return left.isNull && _leadsToMany(comparison.left) ? false : try _test(left, comparison, right)
      }
      for element in elements where try _test(element, comparison, right) { return true }
      return false
    case .all:
      for element in try _elements(left) where try !_test(element, comparison, right) { return false }
      return true
    }
  }

  private func _leadsToMany(_ expression: ExpressionTree) -> Bool {
    guard case .keyPath(let path) = expression else { return true }
    return subject.isToMany(path)
  }

  private func _elements(_ value: PredicateValue) throws -> [PredicateValue] {
    if value.isNull { return [] }
    guard let elements = value.elements else {
      throw PredicateEvaluationError.needsCollection(value.kindName)
    }
    return elements
  }

  private func _test(
    _ left: PredicateValue, _ comparison: PredicateTree.Comparison, _ right: PredicateValue
  ) throws -> Bool {
    let options = comparison.options
    switch comparison.op {
    case .equal: return _holds(left, right) ?? isEqual(left, right, options)
    case .notEqual: return !(_holds(left, right) ?? isEqual(left, right, options))
    case .lessThan: return try _order(left, right, options) { $0 == .orderedAscending }
    case .lessThanOrEqual: return try _order(left, right, options) { $0 != .orderedDescending }
    case .greaterThan: return try _order(left, right, options) { $0 == .orderedDescending }
    case .greaterThanOrEqual: return try _order(left, right, options) { $0 != .orderedAscending }
    case .between:
      guard let bounds = right.elements, bounds.count == 2 else {
        throw PredicateEvaluationError.wrongOperand("BETWEEN", "anything but a collection of two bounds")
      }
      return try _order(left, bounds[0], options) { $0 != .orderedAscending }
        && _order(left, bounds[1], options) { $0 != .orderedDescending }
    case .in:
      if let index = _index(of: comparison.right, comparison) { return index.contains(left, self) }
      return try _isMember(left, of: right, options, "IN")
    case .contains:
      if let index = _index(of: comparison.left, comparison) { return index.contains(right, self) }
      return try _isMember(right, of: left, options, "CONTAINS")
    case .beginsWith:
      return try _text("BEGINSWITH", left, right) { StringComparison.begins($0, with: $1, options: options) }
    case .endsWith:
      return try _text("ENDSWITH", left, right) { StringComparison.ends($0, with: $1, options: options) }
    case .like:
      return try _text("LIKE", left, right) { try StringComparison.like($0, $1, options: options) }
    case .matches:
      return try _text("MATCHES", left, right) { try StringComparison.matches($0, $1, options: options) }
    case .customSelector: return try _custom(left, comparison.selector ?? "", right)
    }
  }

  /// Returns the index of the collection that IN or CONTAINS searches, if it is a large constant.
  private func _index(of side: ExpressionTree, _ comparison: PredicateTree.Comparison) -> ElementIndex? {
    guard let memo = comparison.memo, case .constant(.collection(let elements)) = side else { return nil }
    return memo.index(of: elements, comparison.options, self)
  }

  /// Whether a collection of objects, the members of a to-many, contains the object on the other side; nil
  /// for any other operands. Lenient: Core Data's result for `toMany == object` is unknown.
  private func _holds(_ left: PredicateValue, _ right: PredicateValue) -> Bool? {
    switch (left, right) {
    case (.collection(let members), .object), (.object, .collection(let members)):
      let object = if case .object = left { left } else { right }
      return members.contains { isEqual($0, object) }
    default: return nil
    }
  }

  /// Whether two values are equal: nil only to nil, numbers by value, strings according to the options,
  /// objects by identity, collections by their elements in any order.
  func isEqual(
    _ left: PredicateValue, _ right: PredicateValue, _ options: PredicateTree.Comparison.Options = []
  ) -> Bool {
    switch (left, right) {
    case (.string(let l), .string(let r)): return StringComparison.equal(l, r, options: options)
    case (.int(let l), .int(let r)): return l == r
    case (.object(let l), .object(let r)):
      return l == r || subject.predicateIdentity(of: l) == subject.predicateIdentity(of: r)
    case (.collection(let l), .collection(let r)): return _isEqual(l, r, options)
    case (.dictionary(let l), .dictionary(let r)):
      return l.count == r.count
        && l.allSatisfy { key, value in r[key].map { isEqual(value, $0, options) } ?? false }
    default:
      if left.isNumber, right.isNumber {
        return (try? left.ordered(against: right, options: [])) == .orderedSame
      }
      return left == right
    }
  }

  private func _isEqual(
    _ left: [PredicateValue], _ right: [PredicateValue], _ options: PredicateTree.Comparison.Options
  ) -> Bool {
    guard left.count == right.count else { return false }
    if zip(left, right).allSatisfy({ isEqual($0, $1, options) }) { return true }
    // A collection may stem from a set, whose order is meaningless.
    var rest = right
    for element in left {
      guard let index = rest.firstIndex(where: { isEqual(element, $0, options) }) else { return false }
      rest.remove(at: index)
    }
    return true
  }

  private func _order(
    _ left: PredicateValue, _ right: PredicateValue, _ options: PredicateTree.Comparison.Options,
    _ test: (ComparisonResult) -> Bool
  ) throws -> Bool {
    guard !left.isNull, !right.isNull else { return false }
    guard let result = try left.ordered(against: right, options: options) else { return false }
    return test(result)
  }

  /// Whether `element` is in `container`: as an element of a collection, or as a substring.
  private func _isMember(
    _ element: PredicateValue, of container: PredicateValue, _ options: PredicateTree.Comparison.Options,
    _ name: String
  ) throws -> Bool {
    switch container {
    case .null: return false
    case .bool, .int, .double, .decimal:
      return try _isMember(element, of: .string(container.plainText), options, name)
    case .collection(let elements): return elements.contains { isEqual(element, $0, options) }
    case .dictionary(let entries): return entries.values.contains { isEqual(element, $0, options) }
    case .string(let text):
      switch element {
      case .string(let part): return StringComparison.contains(text, part, options: options)
      case .bool, .int, .double, .decimal:
        return StringComparison.contains(text, element.plainText, options: options)
      case .null: return false
      default: throw PredicateEvaluationError.wrongOperand("\(name) in a string", element.kindName)
      }
    default: throw PredicateEvaluationError.wrongOperand(name, container.kindName)
    }
  }

  private func _text(
    _ name: String, _ left: PredicateValue, _ right: PredicateValue, _ test: (String, String) throws -> Bool
  ) throws -> Bool {
    // A number is compared as text.
    let (left, right) = (left.textIfNumber, right.textIfNumber)
    switch (left, right) {
    case (.string(let string), .string(let pattern)): return try test(string, pattern)
    case (.null, .string), (.string, .null), (.null, .null): return false
    case (.string, _), (.null, _): throw PredicateEvaluationError.wrongOperand(name, right.kindName)
    default: throw PredicateEvaluationError.wrongOperand(name, left.kindName)
    }
  }

  private func _custom(_ left: PredicateValue, _ selector: String, _ right: PredicateValue) throws -> Bool {
    switch selector {
    case "UTI-EQUALS":
      return try _text(selector, left, right) { StringComparison.equal($0, $1, options: .caseInsensitive) }
    case "UTI-CONFORMS-TO":
      return try _text(selector, left, right) { UniformTypes.conforms($0, to: $1) }
    default: return left.isNull ? false : try call(selector, on: left, [right]).isTrue
    }
  }

  /// Sends a selector with arguments; nil targets yield nil.
  func call(_ selector: String, on target: PredicateValue, _ arguments: [PredicateValue]) throws
    -> PredicateValue
  {
    if let result = try subject.predicateResult(of: selector, on: target, arguments: arguments) {
      return result
    }
    if target.isNull { return .null }
    switch (selector, arguments.first) {
    case ("valueForKey:", .string(let key)?): return try step(key, from: target)
    case ("valueForKeyPath:", .string(let path)?):
      guard let components = KeyPathText.components(path) else {
        throw PredicateEvaluationError.unknownKey(path, of: target.kindName)
      }
      return try value(of: components[...], after: target)
    case ("isEqual:", let other?): return .bool(isEqual(target, other))
    case ("containsObject:", let element?): return .bool(try _isMember(element, of: target, [], selector))
    default: break
    }
    if let result = try SelectorCall.value(of: selector, on: target, arguments: arguments) { return result }
    throw PredicateEvaluationError.unknownSelector(selector, on: target.kindName)
  }
}
