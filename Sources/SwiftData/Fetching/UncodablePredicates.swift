import CoreData

// `#Predicate` compiles to a call of `Predicate.init`, and `#Expression` to one of `Expression.init`, which
// take expressions with Codable parts only: a captured model is none. The initializers here take any. They
// are chosen once for each predicate; overloads
// of `build_Arg`, which is called for each captured value and literal, would double the type checker's
// choices each time.

extension Predicate {
  /// Creates a predicate that captures values which are not Codable, such as models; called by the expansion
  /// of `#Predicate`.
  ///
  /// It cannot be encoded.
  @_disfavoredOverload
  public init(_ builder: (repeat PredicateExpressions.Variable<each Input>) -> any PredicateExpression<Bool>)
  {
    self.init { (variables: repeat PredicateExpressions.Variable<each Input>) in
      _uncodable(builder(repeat each variables))
    }
  }
}

extension Expression {
  /// Creates an expression that captures values which are not Codable, such as models; called by the
  /// expansion of `#Expression`.
  ///
  /// It cannot be encoded.
  @_disfavoredOverload
  public init(
    _ builder: (repeat PredicateExpressions.Variable<each Input>) -> any PredicateExpression<Output>
  ) {
    self.init { (variables: repeat PredicateExpressions.Variable<each Input>) in
      _uncodable(builder(repeat each variables))
    }
  }
}

private func _uncodable<Output>(
  _ expression: some PredicateExpression<Output>
) -> any StandardPredicateExpression<Output> {
  PredicateExpressions._Uncodable(expression)
}

extension PredicateExpressions {
  /// An expression with captured values that are not Codable. Not for direct use.
  ///
  /// Like captured models, used where their context is used. Can't be encoded.
  public struct _Uncodable<Expression: PredicateExpression>: StandardPredicateExpression, @unchecked Sendable
  {
    // Unchecked: predicates are Sendable, though models are not.

    /// The result's type.
    public typealias Output = Expression.Output

    private let _expression: Expression

    fileprivate init(_ expression: Expression) { _expression = expression }

    /// Throws: models are found by their identities, in a context.
    public init(from decoder: any Decoder) throws {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription:
            "A predicate with captured models can't be decoded; capture their persistentModelID."))
    }

    /// Throws: models are found by their identities, in a context.
    public func encode(to encoder: any Encoder) throws {
      throw EncodingError.invalidValue(
        _expression,
        .init(
          codingPath: encoder.codingPath,
          debugDescription:
            "A predicate with captured models can't be encoded; capture their persistentModelID."))
    }

    /// Evaluates the expression.
    public func evaluate(_ bindings: PredicateBindings) throws -> Expression.Output {
      try _expression.evaluate(bindings)
    }
  }
}

extension PredicateExpressions._Uncodable: WrappingPart {
  package var wrapped: any PredicateExpression { _expression }
}

extension PredicateExpressions._Uncodable: CustomDebugStringConvertible {
  /// The expression.
  public var debugDescription: String { String(reflecting: _expression) }
}
