import CoreData

// `#Predicate` calls `build_Arg` for each captured value. Foundation's own takes any, but the predicate then compiles for
// Codable ones only.

extension PredicateExpressions {
  /// Captured models: one, an optional one, or several. Not for direct use.
  ///
  /// Like the models, used where their context is used. Encodes their identities, and can't be decoded.
  public struct _CapturedModels<Output>: StandardPredicateExpression, @unchecked Sendable {
    // Unchecked: predicates are Sendable, though models are not.

    /// The models.
    public let _value: Output
    private let _identifiers: [PersistentIdentifier]

    fileprivate init(_ value: Output, _ models: [any PersistentModel]) {
      _value = value
      _identifiers = models.map { $0.persistentModelID }
    }

    /// Throws: models are found by their identities, in a context.
    public init(from decoder: any Decoder) throws {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription:
            "A predicate with captured models can't be decoded; capture their persistentModelID."))
    }

    /// Encodes the identities.
    public func encode(to encoder: any Encoder) throws { try _identifiers.encode(to: encoder) }

    /// Returns the models.
    public func evaluate(_ bindings: PredicateBindings) throws -> Output { _value }
  }

  /// Captures a model; called by the expansion of `#Predicate`.
  public static func build_Arg<Model: PersistentModel>(_ model: Model) -> _CapturedModels<Model> {
    _CapturedModels(model, [model])
  }

  /// Captures a model or nil; called by the expansion of `#Predicate`.
  public static func build_Arg<Model: PersistentModel>(_ model: Model?) -> _CapturedModels<Model?> {
    _CapturedModels(model, model.map { [$0] } ?? [])
  }

  /// Captures models; called by the expansion of `#Predicate`.
  public static func build_Arg<Model: PersistentModel>(_ models: [Model]) -> _CapturedModels<[Model]> {
    _CapturedModels(models, models)
  }

  /// Captures models; called by the expansion of `#Predicate`.
  public static func build_Arg<Model: PersistentModel>(_ models: Set<Model>) -> _CapturedModels<Set<Model>> {
    _CapturedModels(models, Array(models))
  }
}

extension PredicateExpressions._CapturedModels: CapturedPart {
  package var capturedValue: Any { _value }
}

extension PredicateExpressions._CapturedModels: CustomDebugStringConvertible {
  /// The identities.
  public var debugDescription: String { "\(_identifiers)" }
}
