/// Says how an attribute is stored.
///
/// - Parameters:
///   - options: Such as `.unique` and `.externalStorage`.
///   - originalName: The property's name in earlier versions of the schema.
///   - hashModifier: Tells versions apart whose schemas are otherwise equal.
@attached(peer)
public macro Attribute(
  _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "AttributeMacro")

/// Says how a relationship to other models is stored.
///
/// - Parameters:
///   - options: Such as `.unique`.
///   - deleteRule: What happens to the models at the other end when this one is deleted.
///   - minimumModelCount: The fewest models that a saved object refers to.
///   - maximumModelCount: The most models; 0 for any number.
///   - originalName: The property's name in earlier versions of the schema.
///   - inverse: The property at the other end. Stands at one of the two ends only.
///   - hashModifier: Tells versions apart whose schemas are otherwise equal.
@attached(peer)
public macro Relationship(
  _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
  minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
  inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "RelationshipMacro")

/// Keeps a property in memory. It has an initial value, or is optional.
@attached(peer)
public macro Transient() = #externalMacro(module: "SwiftDataMacros", type: "TransientMacro")
