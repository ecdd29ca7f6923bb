import Foundation

/// Evaluates predicates and expressions in memory, on one subject, with Foundation's semantics.
///
/// Create one per subject; it holds the values of variables during evaluation. `now()` is constant
/// throughout.
package struct PredicateEvaluator<Subject: PredicateSubject> {
  let subject: Subject
  /// Values of variables by name without the dollar; assignments and subqueries change them.
  package internal(set) var variables: [String: PredicateValue]
  /// The result of `now()`, in seconds since 2001; read from the clock on first use.
  private var _now: Double?

  package init(_ subject: Subject, variables: [String: PredicateValue] = [:], now: Double? = nil) {
    self.subject = subject
    self.variables = variables
    _now = now
  }

  /// Whether the subject satisfies the predicate.
  /// - Throws: `PredicateEvaluationError`, or an error of the subject.
  package mutating func matches(_ tree: PredicateTree) throws -> Bool {
    switch tree {
    case .constant(let value): return value
    case .comparison(let comparison): return try compare(comparison)
    case .not(let operand): return try !matches(operand)
    case .and(let members):
      for member in members where try !matches(member) { return false }
      return true
    case .or(let members):
      for member in members where try matches(member) { return true }
      return false
    case .block(let block):
      if block.isNestingLimit { throw PredicateEvaluationError.unsupported(NestingLimit.problem) }
      return try subject.predicateResult(ofBlock: block, arguments: nil, variables: variables).isTrue
    }
  }

  /// Evaluates an expression on the subject.
  /// - Throws: `PredicateEvaluationError`, or an error of the subject.
  package mutating func value(of tree: ExpressionTree) throws -> PredicateValue {
    switch tree {
    case .constant(let value): return value
    case .keyPath(let path):
      if path.count == 1, path[0].utf8.first != UInt8(ascii: "@") {
        return try first(path[0])
      }
      return try value(of: path[...], after: nil)
    case .keyPathOf(let base, let path):
      return try value(of: path[...], after: try value(of: base))
    case .evaluatedObject: return subject.predicateValue
    case .variable(let name):
      guard let value = variables[name] else { throw PredicateEvaluationError.unboundVariable(name) }
      return value
    case .function(let name, let arguments): return try function(name, arguments)
    case .customFunction(let target, let selector, let arguments):
      let target = try value(of: target)
      return try call(selector, on: target, try values(of: arguments))
    case .subquery(let collection, let variable, let predicate):
      return try _subquery(collection, variable, predicate)
    case .aggregate(let elements): return .collection(try values(of: elements))
    case .set(let op, let left, let right): return try _combined(op, value(of: left), value(of: right))
    case .conditional(let predicate, let then, let otherwise):
      return try value(of: matches(predicate) ? then : otherwise)
    case .assignment(let name, let expression):
      let value = try value(of: expression)
      variables[name] = value
      return value
    case .anyKey:
      guard case .dictionary(let entries) = subject.predicateValue else {
        throw PredicateEvaluationError.wrongOperand("ANYKEY", "anything but a dictionary")
      }
      return .collection(Array(entries.values))
    case .block(let block, let arguments):
      if block.isNestingLimit { throw PredicateEvaluationError.unsupported(NestingLimit.problem) }
      let arguments = try values(of: arguments)
      return try subject.predicateResult(ofBlock: block, arguments: arguments, variables: variables)
    }
  }

  mutating func values(of trees: [ExpressionTree]) throws -> [PredicateValue] {
    var result: [PredicateValue] = []
    result.reserveCapacity(trees.count)
    for tree in trees { result.append(try value(of: tree)) }
    return result
  }

  /// Returns the time of the evaluation.
  mutating func now() -> Double {
    if let _now { return _now }
    let now = Date().timeIntervalSinceReferenceDate
    _now = now
    return now
  }

  /// Returns the subject's value for the first key of a path.
  func first(_ key: String) throws -> PredicateValue {
    subject.isReadByKey
      ? try subject.predicateValue(forKey: key) : try step(key, from: subject.predicateValue)
  }

  private mutating func _subquery(
    _ collection: ExpressionTree, _ variable: String, _ predicate: PredicateTree
  ) throws -> PredicateValue {
    let value = try value(of: collection)
    if value.isNull { return .collection([]) }
    guard let elements = value.elements else {
      throw PredicateEvaluationError.needsCollection(value.kindName)
    }
    let outer = variables[variable]
    defer { variables[variable] = outer }
    var found: [PredicateValue] = []
    for element in elements {
      variables[variable] = element
      if try matches(predicate) { found.append(element) }
    }
    return .collection(found)
  }

  /// UNION, INTERSECT, MINUS: distinct elements, in the order of the left side.
  private func _combined(
    _ op: ExpressionTree.SetOperator, _ left: PredicateValue, _ right: PredicateValue
  ) throws -> PredicateValue {
    let (first, second) = (left.isNull ? [] : left.elements, right.isNull ? [] : right.elements)
    guard let first, let second else {
      let wrong = first == nil ? left : right
      throw PredicateEvaluationError.wrongOperand("\(op)".uppercased(), wrong.kindName)
    }
    var index = ElementSet(subject)
    switch op {
    case .union:
      return .collection((first + second).filter { index.insert($0) })
    case .intersect, .minus:
      for element in second { _ = index.insert(element) }
      var seen = ElementSet(subject)
      return .collection(first.filter { index.contains($0) == (op == .intersect) && seen.insert($0) })
    }
  }
}

extension PredicateTree {
  /// Whether `subject` satisfies the predicate.
  /// - Throws: `PredicateEvaluationError`, or an error of the subject.
  package func matches(
    _ subject: some PredicateSubject, variables: [String: PredicateValue] = [:]
  ) throws -> Bool {
    var evaluator = PredicateEvaluator(subject, variables: variables)
    return try evaluator.matches(self)
  }
}

extension ExpressionTree {
  /// Evaluates the expression on `subject`.
  /// - Throws: `PredicateEvaluationError`, or an error of the subject.
  package func value(
    for subject: some PredicateSubject, variables: [String: PredicateValue] = [:]
  ) throws -> PredicateValue {
    var evaluator = PredicateEvaluator(subject, variables: variables)
    return try evaluator.value(of: self)
  }
}
