/// Specifies the storage of an attribute.
///
/// - Parameters:
///   - options: Such as `.unique` and `.externalStorage`.
///   - originalName: The property's name in earlier versions of the schema.
///   - hashModifier: Distinguishes versions whose schemas are otherwise equal.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "AttributeMacro")

/// Specifies the storage of a relationship to other models.
///
/// - Parameters:
///   - options: Such as `.unique`.
///   - deleteRule: The effect of deleting this model on the models at the other end.
///   - minimumModelCount: The minimum number of models for a save.
///   - maximumModelCount: The maximum number of models; 0 for any number.
///   - originalName: The property's name in earlier versions of the schema.
///   - inverse: The property at the other end. Specify it at one of the two ends only.
///   - hashModifier: Distinguishes versions whose schemas are otherwise equal.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
  inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "RelationshipMacro")

/// Keeps a property in memory only. The property must have an initial value or be optional.
@attached(peer)
public macro Transient() = #externalMacro(module: "SwiftDataMacros", type: "TransientMacro")
