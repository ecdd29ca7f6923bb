import CoreDataPredicateLanguage
import Foundation

// Translates each kind of `#Predicate` expression into the predicate language.

extension PredicateExpressions.Value: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    .expression(try translator.constant(value))
  }
}

extension PredicateExpressions.NilLiteral: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    .expression(.constant(.null))
  }
}

extension PredicateExpressions.Variable: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    guard let known = translator.variables[key] else {
      throw PredicateTranslationError("a variable", "it belongs to no enclosing closure")
    }
    return .expression(known)
  }
}

extension PredicateExpressions.KeyPath: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let base = try translator.expression(root)
    if let known = try translator.known(keyPath, from: Root.Output.self, at: base) {
      return .expression(known)
    }
    if Root.Output.self is NSManagedObject.Type {
      do {
        return .expression(base.followed(by: try KeyRecorder.path(of: keyPath)))
      } catch {
        throw PredicateTranslationError("\(keyPath)", "\(error)")
      }
    }
    // The predicate language supports count and isEmpty of strings and collections. Their key paths have no
    // names, but can be identified by their values for an empty one.
    let isText = Root.Output.self is any StringProtocol.Type
    let count: ExpressionTree = isText ? .function(.length, [base]) : base.followed(by: ["@count"])
    let answer = (EmptyCollection.of(Root.Output.self) as? Root.Output).map { $0[keyPath: keyPath] as Any }
    if Output.self == Int.self, answer as? Int == 0 { return .expression(count) }
    if Output.self == Bool.self, answer as? Bool == true {
      if isText { return .predicate(.comparison(.init(base, .equal, .constant(.string(""))))) }
      return .predicate(.comparison(.init(count, .equal, .constant(.int(0)))))
    }
    throw PredicateTranslationError(
      "\(keyPath)",
      "a store knows the properties of managed objects, count and isEmpty of collections, and nothing else")
  }
}

/// Empty collections of any type.
private enum EmptyCollection {
  static func of(_ type: Any.Type) -> Any? {
    if let type = type as? any RangeReplaceableCollection.Type { return type.init() }
    if let type = type as? any SetAlgebra.Type { return type.init() }
    if type == NSSet.self { return NSSet() }
    if type == NSOrderedSet.self { return NSOrderedSet() }
    return nil
  }
}

extension PredicateExpressions.Conjunction: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let (left, right) = (try translator.predicate(lhs), try translator.predicate(rhs))
    // Chains are flat, as after parsing.
    var members: [PredicateTree] = []
    for side in [left, right] {
      if case .and(let inner) = side { members += inner } else { members.append(side) }
    }
    return .predicate(.and(members))
  }
}

extension PredicateExpressions.Disjunction: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let (left, right) = (try translator.predicate(lhs), try translator.predicate(rhs))
    var members: [PredicateTree] = []
    for side in [left, right] {
      if case .or(let inner) = side { members += inner } else { members.append(side) }
    }
    return .predicate(.or(members))
  }
}

extension PredicateExpressions.Negation: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    .predicate(.not(try translator.predicate(wrapped)))
  }
}

extension PredicateExpressions.Equal: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.comparison(lhs, .equal, rhs)
  }
}

extension PredicateExpressions.NotEqual: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.comparison(lhs, .notEqual, rhs)
  }
}

extension PredicateExpressions.Comparison: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let operation: PredicateTree.Comparison.Operator =
      switch op {
      case .lessThan: .lessThan
      case .lessThanOrEqual: .lessThanOrEqual
      case .greaterThan: .greaterThan
      case .greaterThanOrEqual: .greaterThanOrEqual
      @unknown default: throw PredicateTranslationError("a comparison", "its operator is not known here")
      }
    return try translator.comparison(lhs, operation, rhs)
  }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    if let part = wrapped as? any CastPart {
      let (object, test) = try part.cast(&translator)
      translator.variables[variable.key] = object
      switch try translator.part(transform) {
      case .predicate(let condition): return .predicate(.and([test, condition]))
      case .expression(let value): return .expression(.conditional(test, value, .constant(.null)))
      }
    }
    // A path through nil is nil in the predicate language as well.
    translator.variables[variable.key] = try translator.expression(wrapped)
    return try translator.part(transform)
  }
}

/// An optional expression that is nil if a part of it is.
private protocol OptionalPart {
  /// Returns conditions that its parts are not nil. Call after the expression was translated.
  func presence(_ translator: inout PredicateTranslator) throws -> [PredicateTree]
}

extension PredicateExpressions.OptionalFlatMap: OptionalPart {
  func presence(_ translator: inout PredicateTranslator) throws -> [PredicateTree] {
    let test = PredicateTree.comparison(
      .init(try translator.expression(wrapped), .notEqual, .constant(.null)))
    return try [test] + ((transform as? any OptionalPart)?.presence(&translator) ?? [])
  }
}

extension PredicateExpressions.NilCoalesce: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    // In `author?.name.contains("x") ?? true` the test itself cannot be nil, so the conditions come from its
    // parts.
    if case .predicate(let test) = try translator.part(lhs), let part = lhs as? any OptionalPart {
      let present = try part.presence(&translator)
      let holds = PredicateTree.and(present + [test])
      let other = try translator.predicate(rhs)
      if other == .constant(false) { return .predicate(holds) }
      let isThere = present.count == 1 ? present[0] : .and(present)
      return .predicate(.or([holds, .and([.not(isThere), other])]))
    }
    let (value, other) = (try translator.expression(lhs), try translator.expression(rhs))
    return .expression(.conditional(.comparison(.init(value, .notEqual, .constant(.null))), value, other))
  }
}

extension PredicateExpressions.ForcedUnwrap: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.part(inner)
  }
}

extension PredicateExpressions.Conditional: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let condition = try translator.predicate(test)
    let (then, otherwise) = (try translator.part(trueBranch), try translator.part(falseBranch))
    if case .predicate = then { return .predicate(_choice(condition, then.predicate, otherwise.predicate)) }
    if case .predicate = otherwise {
      return .predicate(_choice(condition, then.predicate, otherwise.predicate))
    }
    return .expression(.conditional(condition, then.expression, otherwise.expression))
  }

  private func _choice(_ test: PredicateTree, _ then: PredicateTree, _ otherwise: PredicateTree)
    -> PredicateTree
  {
    .or([.and([test, then]), .and([.not(test), otherwise])])
  }
}

// MARK: Arithmetic

extension PredicateExpressions.Arithmetic: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    let function: PredicateFunction =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw PredicateTranslationError("arithmetic", "its operator is not known here")
      }
    return try translator.function(function, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.function(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.function(.modulus, lhs, rhs)
  }
}

extension PredicateExpressions.FloatDivision: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    try translator.function(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.UnaryMinus: TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart {
    .expression(.function(.subtract, [.constant(.int(0)), try translator.expression(wrapped)]))
  }
}
