/// Traversal of trees.
extension PredicateTree {
  /// Calls `visit` for every expression, parents first, left to right, including those inside subqueries.
  package func forEachExpression(_ visit: (ExpressionTree) throws -> Void) rethrows {
    switch self {
    case .constant, .block: break
    case .not(let operand): try operand.forEachExpression(visit)
    case .and(let members), .or(let members): for member in members { try member.forEachExpression(visit) }
    case .comparison(let comparison):
      try comparison.left.forEachExpression(visit)
      try comparison.right.forEachExpression(visit)
    }
  }

  /// Calls `visit` for every predicate in the tree, parents first, including those inside subqueries and
  /// conditionals.
  package func forEachPredicate(_ visit: (PredicateTree) throws -> Void) rethrows {
    try visit(self)
    switch self {
    case .constant, .block: break
    case .not(let operand): try operand.forEachPredicate(visit)
    case .and(let members), .or(let members): for member in members { try member.forEachPredicate(visit) }
    case .comparison:
      try forEachExpression { expression in
        switch expression {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _):
          try predicate.forEachPredicate(visit)
        default: break
        }
      }
    }
  }

  /// Constants from left to right; an aggregate of constants counts as one.
  package var constants: [PredicateValue] {
    var result: [PredicateValue] = []
    forEachExpression { if case .constant(let value) = $0 { result.append(value) } }
    return result
  }

  /// Names of the variables that need a value: those of the tree except variables of its subqueries.
  package var freeVariables: Set<String> {
    var names: Set<String> = []
    _collectVariables(bound: [], into: &names)
    return names
  }

  fileprivate func _collectVariables(bound: Set<String>, into names: inout Set<String>) {
    switch self {
    case .constant, .block: break
    case .not(let operand): operand._collectVariables(bound: bound, into: &names)
    case .and(let members), .or(let members):
      for member in members { member._collectVariables(bound: bound, into: &names) }
    case .comparison(let comparison):
      comparison.left._collectVariables(bound: bound, into: &names)
      comparison.right._collectVariables(bound: bound, into: &names)
    }
  }
}

extension ExpressionTree {
  /// Calls `visit` for the expression and then for all its parts.
  package func forEachExpression(_ visit: (ExpressionTree) throws -> Void) rethrows {
    try visit(self)
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: break
    case .keyPathOf(let base, _): try base.forEachExpression(visit)
    case .function(_, let parts), .aggregate(let parts), .block(_, let parts):
      for part in parts { try part.forEachExpression(visit) }
    case .customFunction(let target, _, let parts):
      try target.forEachExpression(visit)
      for part in parts { try part.forEachExpression(visit) }
    case .subquery(let collection, _, let predicate):
      try collection.forEachExpression(visit)
      try predicate.forEachExpression(visit)
    case .set(_, let left, let right):
      try left.forEachExpression(visit)
      try right.forEachExpression(visit)
    case .conditional(let predicate, let then, let otherwise):
      try predicate.forEachExpression(visit)
      try then.forEachExpression(visit)
      try otherwise.forEachExpression(visit)
    case .assignment(_, let value): try value.forEachExpression(visit)
    }
  }

  /// Names of the variables that need a value.
  package var freeVariables: Set<String> {
    var names: Set<String> = []
    _collectVariables(bound: [], into: &names)
    return names
  }

  fileprivate func _collectVariables(bound: Set<String>, into names: inout Set<String>) {
    switch self {
    case .variable(let name): if !bound.contains(name) { names.insert(name) }
    case .constant, .evaluatedObject, .keyPath, .anyKey: break
    case .keyPathOf(let base, _): base._collectVariables(bound: bound, into: &names)
    case .function(_, let parts), .aggregate(let parts), .block(_, let parts):
      for part in parts { part._collectVariables(bound: bound, into: &names) }
    case .customFunction(let target, _, let parts):
      target._collectVariables(bound: bound, into: &names)
      for part in parts { part._collectVariables(bound: bound, into: &names) }
    case .subquery(let collection, let variable, let predicate):
      collection._collectVariables(bound: bound, into: &names)
      predicate._collectVariables(bound: bound.union([variable]), into: &names)
    case .set(_, let left, let right):
      left._collectVariables(bound: bound, into: &names)
      right._collectVariables(bound: bound, into: &names)
    case .conditional(let predicate, let then, let otherwise):
      predicate._collectVariables(bound: bound, into: &names)
      then._collectVariables(bound: bound, into: &names)
      otherwise._collectVariables(bound: bound, into: &names)
    case .assignment(_, let value): value._collectVariables(bound: bound, into: &names)
    }
  }
}
