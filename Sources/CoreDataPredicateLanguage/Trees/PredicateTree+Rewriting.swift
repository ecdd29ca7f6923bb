/// Derives trees from others. Unchanged parts are shared, not copied.
extension PredicateTree {
  /// Replaces every expression for which `transform` returns a result; nil if nothing changed.
  ///
  /// `transform` sees an expression before its parts; its result is not transformed again. Parts of
  /// subqueries are visited as well.
  package func rewritten<Failure: Error>(
    _ transform: (ExpressionTree) throws(Failure) -> ExpressionTree?
  ) throws(Failure) -> PredicateTree? {
    switch self {
    case .constant, .block: return nil
    case .not(let operand): return try operand.rewritten(transform).map { .not($0) }
    case .and(let members): return try Self._rewritten(members, transform).map { .and($0) }
    case .or(let members): return try Self._rewritten(members, transform).map { .or($0) }
    case .comparison(var comparison):
      let left = try comparison.left.rewritten(transform)
      let right = try comparison.right.rewritten(transform)
      if left == nil, right == nil { return nil }
      if let left { comparison.left = left }
      if let right { comparison.right = right }
      return .comparison(comparison)
    }
  }

  private static func _rewritten<Failure: Error>(
    _ members: [PredicateTree], _ transform: (ExpressionTree) throws(Failure) -> ExpressionTree?
  ) throws(Failure) -> [PredicateTree]? {
    var result: [PredicateTree]?
    for index in members.indices {
      guard let new = try members[index].rewritten(transform) else { continue }
      if result == nil { result = members }
      result?[index] = new
    }
    return result
  }

  /// Applies `transform` to every constant. An aggregate of constants counts as one constant.
  package func mapConstants<Failure: Error>(
    _ transform: (PredicateValue) throws(Failure) -> PredicateValue
  ) throws(Failure) -> PredicateTree {
    try rewritten { (expression: ExpressionTree) throws(Failure) -> ExpressionTree? in
      guard case .constant(let value) = expression else { return nil }
      return .constant(try transform(value))
    } ?? self
  }

  /// Replaces `$name` if `values` has the name; keeps other variables. A subquery's own variable shadows one
  /// of the same name.
  package func substituting(_ values: [String: ExpressionTree]) -> PredicateTree {
    guard !values.isEmpty else { return self }
    return rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      expression._substitute(values)
    } ?? self
  }
}

extension ExpressionTree {
  /// Replaces every expression for which `transform` returns a result; nil if nothing changed.
  package func rewritten<Failure: Error>(
    _ transform: (ExpressionTree) throws(Failure) -> ExpressionTree?
  ) throws(Failure) -> ExpressionTree? {
    if let answer = try transform(self) { return answer }
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: return nil
    case .keyPathOf(let base, let path): return try base.rewritten(transform).map { .keyPathOf($0, path) }
    case .function(let name, let arguments):
      return try Self._rewritten(arguments, transform).map { .function(name, $0) }
    case .customFunction(let target, let selector, let arguments):
      let newTarget = try target.rewritten(transform)
      let newArguments = try Self._rewritten(arguments, transform)
      if newTarget == nil, newArguments == nil { return nil }
      return .customFunction(newTarget ?? target, selector, newArguments ?? arguments)
    case .subquery(let collection, let variable, let predicate):
      let newCollection = try collection.rewritten(transform)
      let newPredicate = try predicate.rewritten(transform)
      if newCollection == nil, newPredicate == nil { return nil }
      return .subquery(newCollection ?? collection, variable: variable, newPredicate ?? predicate)
    case .aggregate(let elements): return try Self._rewritten(elements, transform).map { .aggregate(of: $0) }
    case .set(let op, let left, let right):
      guard let parts = try Self._rewritten([left, right], transform) else { return nil }
      return .set(op, parts[0], parts[1])
    case .conditional(let predicate, let then, let otherwise):
      let newPredicate = try predicate.rewritten(transform)
      let parts = try Self._rewritten([then, otherwise], transform)
      if newPredicate == nil, parts == nil { return nil }
      return .conditional(newPredicate ?? predicate, parts?[0] ?? then, parts?[1] ?? otherwise)
    case .assignment(let name, let value): return try value.rewritten(transform).map { .assignment(name, $0) }
    case .block(let block, let arguments):
      return try Self._rewritten(arguments, transform).map { .block(block, $0) }
    }
  }

  private static func _rewritten<Failure: Error>(
    _ parts: [ExpressionTree], _ transform: (ExpressionTree) throws(Failure) -> ExpressionTree?
  ) throws(Failure) -> [ExpressionTree]? {
    var result: [ExpressionTree]?
    for index in parts.indices {
      guard let new = try parts[index].rewritten(transform) else { continue }
      if result == nil { result = parts }
      result?[index] = new
    }
    return result
  }

  /// Replaces `$name` wherever `values` has the name.
  package func substituting(_ values: [String: ExpressionTree]) -> ExpressionTree {
    rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      expression._substitute(values)
    } ?? self
  }

  /// Returns the replacement of a variable, or of a whole subquery whose variable shadows one.
  fileprivate func _substitute(_ values: [String: ExpressionTree]) -> ExpressionTree? {
    switch self {
    case .variable(let name): return values[name]
    case .subquery(let collection, let variable, let predicate) where values[variable] != nil:
      var inner = values
      inner[variable] = nil
      return .subquery(
        collection.substituting(values), variable: variable, predicate.substituting(inner))
    default: return nil
    }
  }
}
