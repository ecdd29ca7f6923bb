import CoreDataPredicateLanguage

/// Predefined functions.
extension QueryCompiler {
  package mutating func function(
    _ function: PredicateFunction, _ arguments: [ExpressionTree], _ expression: ExpressionTree
  ) throws -> Operand {
    if aggregatesRows,
      RowAggregate.isTaken(function, arguments, from: evaluated.layout, in: mapping.layout.layouts)
    {
      return try rowAggregate(function, arguments[0], expression)
    }
    if let quotient = try wholeQuotient(function, arguments) { return quotient }
    if let form = dialect.function(function) {
      if case .infix(let symbol, let kind) = form, let chain = OperatorChain(function, arguments) {
        return .scalar(try _said(chain, symbol, isQuotient: function == .divide), kind)
      }
      return try _scalarFunction(function, form, arguments, expression)
    }
    switch function {
    case .now: return .scalar(dialect.now, .date)
    case .unindexed:
      guard arguments.count == 1, case .scalar(let value, let kind) = try operand(arguments[0]) else { break }
      return .scalar(dialect.unindexed(value, kind), kind)
    case .cast where arguments.count == 2: return try _cast(arguments, expression)
    case .element where arguments.count == 2: return try _element(arguments, expression)
    case .count: return try _count(arguments, expression)
    case .sum, .average, .min, .max, .median, .mode, .standardDeviation:
      return try _aggregate(function, arguments, expression)
    // The dialect compiles functions of values.
    default: break
    }
    throw untranslatable(expression.outline, "\(dialect.name) has no function for it")
  }

  /// Compiles a chain of one operator within one pair of parentheses: parsers limit the nesting depth.
  private mutating func _said(
    _ chain: OperatorChain, _ symbol: String, isQuotient: Bool
  ) throws -> SQLFragment {
    var values: [SQLFragment] = []
    for part in chain.parts { values.append(try value(part)) }
    // From its first part that is no whole number a quotient is exact.
    let exactFrom = isQuotient ? chain.order.firstIndex { !isWhole(chain.parts[$0]) } : nil
    var result = values[chain.order[0]]
    for (index, position) in chain.order.enumerated() {
      if index == exactFrom { result = dialect.exactDividend(result) }
      if index > 0 { result = "\(result) \(sql: symbol) \(values[position])" }
    }
    return "(\(result))"
  }

  mutating func value(_ argument: ExpressionTree) throws -> SQLFragment {
    let value = try operand(argument)
    if case .object = value {
      throw untranslatable(argument.outline, "an object stands where a value is needed")
    }
    return try scalar(value, .natural, argument.outline)
  }

  private mutating func _scalarFunction(
    _ function: PredicateFunction, _ form: SQLFunctionForm, _ arguments: [ExpressionTree],
    _ expression: ExpressionTree
  ) throws -> Operand {
    var values: [SQLFragment] = []
    for argument in arguments { values.append(try value(argument)) }
    switch form {
    case .infix(let symbol, let kind):
      guard values.count == 2 else { throw untranslatable(expression.outline, "it needs two arguments") }
      if function == .divide, !arguments.allSatisfy(isWhole) { values[0] = dialect.exactDividend(values[0]) }
      return .scalar("(\(values[0]) \(sql: symbol) \(values[1]))", kind)
    case .call(let name, let kind): return .scalar("\(sql: name)(\(SQLFragment.list(values)))", kind)
    }
  }

  /// Compiles CAST(value, 'Type') if the database produces the same result as evaluation in memory.
  private mutating func _cast(_ arguments: [ExpressionTree], _ expression: ExpressionTree) throws -> Operand {
    let value = try operand(arguments[0])
    // The type name is a constant and consumes its number.
    guard case .constant(_, .string(let type)) = try operand(arguments[1]) else {
      throw untranslatable(expression.outline, "the type of a CAST must be a constant")
    }
    let sql = try scalar(value, value.kind.conversion, expression.outline)
    guard let (cast, kind) = dialect.cast(sql, value.kind, to: type) else {
      throw untranslatable(
        expression.outline, "\(dialect.name) cannot turn \(arguments[0].outline) into '\(type)'")
    }
    return .scalar(cast, kind)
  }

  /// Compiles `toMany[SIZE]`; a store cannot access members by position.
  private mutating func _element(_ arguments: [ExpressionTree], _ expression: ExpressionTree) throws
    -> Operand
  {
    guard case .function(.size, _) = arguments[1] else {
      throw untranslatable(
        expression.outline,
        "of a collection \(dialect.name) knows the [SIZE] only; fetch the members and pick one of them")
    }
    return try _count([arguments[0]], expression)
  }

  private mutating func _count(_ arguments: [ExpressionTree], _ expression: ExpressionTree) throws -> Operand
  {
    guard arguments.count == 1 else { throw untranslatable(expression.outline, "it needs one argument") }
    if case .subquery(let collection, let variable, let predicate) = arguments[0] {
      return .scalar(try countedSubquery(collection, variable, predicate), .number)
    }
    guard case .toMany(let path) = try operand(arguments[0]), path.rest.isEmpty,
      let counted = try aggregate(
        ToManyPath(
          owner: path.owner, slot: path.slot, rest: ["@count"], outline: path.outline))
    else {
      throw untranslatable(expression.outline, "only a to-many relationship or SUBQUERY can be counted")
    }
    return counted
  }

  private mutating func _aggregate(
    _ function: PredicateFunction, _ arguments: [ExpressionTree], _ expression: ExpressionTree
  ) throws -> Operand {
    guard function != .mode else {
      throw untranslatable(expression.outline, "it gives several values, and \(dialect.name) compares one")
    }
    // An attribute of a to-many, or several values listed in the predicate.
    if arguments.count == 1, case .toMany(let path) = try operand(arguments[0]) {
      return .scalar(try aggregated(function, path, path.rest), .number)
    }
    throw untranslatable(
      expression.outline,
      "in a predicate it needs an attribute of a to-many relationship, such as lines.price")
  }
}
