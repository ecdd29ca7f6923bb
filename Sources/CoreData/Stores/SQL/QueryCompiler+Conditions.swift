import CoreDataPredicateLanguage

/// Predicates.
extension QueryCompiler {
  package mutating func condition(_ predicate: PredicateTree) throws -> SQLFragment {
    try deeper { compiler in
      switch predicate {
      case .constant(let value): return value ? "1 = 1" : "1 = 0"
      case .comparison(let comparison): return try compiler.condition(comparison)
      case .not(.not(let member)): return try compiler.condition(member)
      case .not(let member): return "NOT (\(try compiler.condition(member)))"
      case .and: return try compiler._joined(predicate.sideBySide, by: "AND", empty: "1 = 1")
      case .or: return try compiler._alternatives(predicate.sideBySide)
      case .block(let block):
        if block.isNestingLimit { throw compiler.untranslatable("the predicate", NestingLimit.problem) }
        throw compiler.untranslatable(
          "a block predicate", "only the program can run it; fetch without it and filter the result")
      }
    }
  }

  private mutating func _joined(
    _ members: [PredicateTree], by operation: String, empty: SQLFragment
  ) throws -> SQLFragment {
    guard members.count > 1 else { return try members.first.map { try condition($0) } ?? empty }
    var parts: [SQLFragment] = []
    parts.reserveCapacity(members.count)
    for member in members { parts.append(parenthesized(member, try condition(member))) }
    return SQLFragment.joined(parts, by: operation)
  }

  /// Compiles an OR. Many equality tests of one value become an IN, which databases look up in one step.
  private mutating func _alternatives(_ members: [PredicateTree]) throws -> SQLFragment {
    guard members.count >= Alternatives.worthwhileCount else {
      return try _joined(members, by: "OR", empty: "1 = 0")
    }
    var alternatives = Alternatives(members)
    var parts: [SQLFragment] = []
    for member in members {
      guard case .comparison(let comparison) = member, let group = alternatives.group(of: comparison) else {
        parts.append(parenthesized(member, try condition(member)))
        continue
      }
      guard case .constant(let value) = comparison.right else { continue }
      let index = try consumeConstant(value)
      if alternatives.add(index, to: group) { continue }
      // The first of its group; the others join it at this position.
      alternatives.places[group] = parts.count
      parts.append("")
    }
    for (group, place) in alternatives.places {
      parts[place] = try _equal(to: alternatives.constants[group] ?? [], alternatives.examples[group]!)
    }
    return SQLFragment.joined(parts, by: "OR")
  }

  /// Tests whether a value equals one of the numbered constants.
  private mutating func _equal(
    to constants: [Int], _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    let left = try operand(comparison.left)
    return try isAny(left, of: { .constants(constants, $0) }, comparison)
  }

  /// Parenthesizes a condition if operator precedence requires it.
  package func parenthesized(_ predicate: PredicateTree, _ condition: SQLFragment) -> SQLFragment {
    switch predicate {
    case .and(let members), .or(let members): members.count > 1 ? "(\(condition))" : condition
    case .not(.not(let member)): parenthesized(member, condition)
    default: condition
    }
  }

  // MARK: Comparisons

  package mutating func condition(_ comparison: PredicateTree.Comparison) throws -> SQLFragment {
    if comparison.modifier == .all {
      throw untranslatable(
        "ALL \(comparison.left.outline)",
        "ALL is not supported by the \(dialect.name) store; say SUBQUERY(…, $x, NOT …).@count == 0 instead")
    }
    let left = try operand(comparison.left)
    let right = try operand(comparison.right)
    if case .toMany(let path) = left {
      return try _toManyCondition(path, comparison, right)
    }
    // For an attribute or a to-one, ANY is the comparison itself.
    if case .toMany(let path) = right {
      guard comparison.op == .in else { throw _toManyNotAllowed(comparison.right) }
      return try any(path) { compiler, member in
        try compiler.compare(left, .equal, member, comparison)
      }
    }
    return try compare(left, comparison.op, right, comparison)
  }

  private mutating func _toManyCondition(
    _ path: ToManyPath, _ comparison: PredicateTree.Comparison, _ right: Operand
  ) throws -> SQLFragment {
    if case .toMany = right { throw _toManyNotAllowed(comparison.right) }
    if comparison.modifier == .any {
      return try any(path) { compiler, member in
        try compiler.compare(member, comparison.op, right, comparison)
      }
    }
    if let wanted = try _holds(path, comparison, right) { return wanted }
    guard comparison.op == .contains else { throw _toManyNotAllowed(comparison.left) }
    if path.rest.isEmpty, case .constant(let index, let value) = right {
      guard case .object = value else {
        throw untranslatable(
          comparison.left.outline, "a to-many relationship can only contain an object or object ID")
      }
      return try contains(path, constant: index)
    }
    return try any(path) { compiler, member in
      try compiler.compare(member, .equal, right, comparison)
    }
  }

  /// Compiles `toMany == object` as a membership test; nil for any other comparison. Lenient: Core Data's
  /// result is unknown.
  private mutating func _holds(
    _ path: ToManyPath, _ comparison: PredicateTree.Comparison, _ right: Operand
  ) throws -> SQLFragment? {
    guard comparison.op == .equal || comparison.op == .notEqual else { return nil }
    switch right {
    case .constant(_, .object), .object: break
    default: return nil
    }
    var isMember = comparison
    isMember.op = .contains
    let condition = try _toManyCondition(path, isMember, right)
    return comparison.op == .equal ? condition : "NOT (\(condition))"
  }

  private func _toManyNotAllowed(_ expression: ExpressionTree) -> UntranslatableQueryError {
    untranslatable(
      expression.outline,
      "to-many key not allowed here; put ANY before it, or use @count, SUBQUERY, CONTAINS or IN")
  }

  /// Compiles a comparison of two operands, neither of which is a to-many.
  package mutating func compare(
    _ left: Operand, _ op: PredicateTree.Comparison.Operator, _ right: Operand,
    _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    switch op {
    case .equal, .notEqual:
      if let test = try _nullTest(left, op, right) { return test }
      return try _relation(left, op == .equal ? "=" : "<>", right, comparison)
    case .lessThan: return try _relation(left, "<", right, comparison)
    case .lessThanOrEqual: return try _relation(left, "<=", right, comparison)
    case .greaterThan: return try _relation(left, ">", right, comparison)
    case .greaterThanOrEqual: return try _relation(left, ">=", right, comparison)
    case .between: return try _between(left, right, comparison)
    case .in: return try membership(left, right, comparison)
    case .contains:
      if case .constant(_, .collection) = left { return try membership(right, left, comparison) }
      if case .list = left { return try membership(right, left, comparison) }
      return try textTest(.contains, left, right, comparison)
    case .beginsWith: return try textTest(.beginsWith, left, right, comparison)
    case .endsWith: return try textTest(.endsWith, left, right, comparison)
    case .like: return try textTest(.like, left, right, comparison)
    case .matches: return try textTest(.matches, left, right, comparison)
    case .customSelector:
      throw untranslatable(
        comparison.left.outline, "the selector '\(comparison.selector ?? "")' cannot run in \(dialect.name)")
    }
  }

  private mutating func _nullTest(
    _ left: Operand, _ op: PredicateTree.Comparison.Operator, _ right: Operand
  ) throws -> SQLFragment? {
    let tested: Operand
    if case .constant(_, .null) = right {
      tested = left
    } else if case .constant(_, .null) = left {
      tested = right
    } else {
      return nil
    }
    let subject: SQLFragment
    switch tested {
    case .object(let scope): subject = SQLFragment(text: scope.identity)
    case .entity(let column), .entityName(let column): subject = column
    case .scalar(let column, _): subject = column
    case .constant(let index, let value): subject = dialect.constant(.constant(index, .natural), value)
    case .toMany, .list:
      throw untranslatable("a collection", "it cannot be compared with nil; use @count == 0")
    }
    return "\(subject) IS \(sql: op == .equal ? "" : "NOT ")NULL"
  }

  private mutating func _relation(
    _ left: Operand, _ symbol: String, _ right: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    if let operation = try textRelation(left, symbol, right, comparison) { return operation }
    let (l, r) = try sides(left, right, comparison)
    return "\(l) \(sql: symbol) \(r)"
  }

  private mutating func _between(
    _ left: Operand, _ right: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    let subject: SQLFragment
    let conversion: ConstantConversion
    switch left {
    case .scalar(let column, let kind): (subject, conversion) = (column, kind.conversion)
    case .constant(let index, let value):
      (subject, conversion) = (dialect.constant(.constant(index, .natural), value), .natural)
    default: throw untranslatable(comparison.left.outline, "BETWEEN needs a value with an order")
    }
    switch right {
    case .constant(let index, .collection(let members)) where members.count == 2:
      let low = dialect.constant(.constant(index, .member(0, conversion)), members[0])
      let high = dialect.constant(.constant(index, .member(1, conversion)), members[1])
      return _between(subject, left.kind, (low, ValueKind(members[0])), (high, ValueKind(members[1])))
    case .list(let members) where members.count == 2:
      let low = try scalar(members[0], conversion, "BETWEEN")
      let high = try scalar(members[1], conversion, "BETWEEN")
      return _between(subject, left.kind, (low, members[0].kind), (high, members[1].kind))
    default: throw untranslatable(comparison.right.outline, "BETWEEN needs exactly two values")
    }
  }

  private func _between(
    _ subject: SQLFragment, _ kind: ValueKind, _ low: (SQLFragment, ValueKind),
    _ high: (SQLFragment, ValueKind)
  ) -> SQLFragment {
    let (left, low) = dialect.comparable(subject, kind, low.0, low.1)
    let (_, high) = dialect.comparable(subject, kind, high.0, high.1)
    return "\(left) BETWEEN \(low) AND \(high)"
  }

  /// Compiles both sides of an operator, converting each constant to the kind of the other side.
  package mutating func sides(
    _ left: Operand, _ right: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> (SQLFragment, SQLFragment) {
    if case .scalar(_, .opaque) = left { throw _opaque(comparison.left) }
    if case .scalar(_, .opaque) = right { throw _opaque(comparison.right) }
    try _checkTransformed(left, right, comparison.left)
    try _checkTransformed(right, left, comparison.right)
    if case .object(let l) = left, case .object(let r) = right, l.layout.rootNumber != r.layout.rootNumber {
      throw untranslatable(
        comparison.left.outline,
        "objects of '\(l.layout.entityName)' and '\(r.layout.entityName)' are never the same")
    }
    return dialect.comparable(
      try scalar(left, conversion(for: right), comparison.left.outline), left.kind,
      try scalar(right, conversion(for: left), comparison.right.outline), right.kind)
  }

  /// Encoded bytes compare only with those of a constant, or of another transformable.
  private func _checkTransformed(_ side: Operand, _ other: Operand, _ expression: ExpressionTree) throws {
    guard case .scalar(_, .transformed) = side else { return }
    switch other {
    case .constant, .scalar(_, .transformed): return
    default:
      throw untranslatable(
        expression.outline,
        "a transformable value can only be compared with a constant or another transformable")
    }
  }

  private func _opaque(_ expression: ExpressionTree) -> UntranslatableQueryError {
    untranslatable(
      expression.outline, "externally stored values can only be compared with nil")
  }
}
