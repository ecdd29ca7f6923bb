/// The plan for an entity's class, with checked names and chosen types.
struct ModelClass {
  struct Property {
    let name: String
    /// Such as `@Attribute(.unique)`.
    let attribute: String?
    let type: String
    /// The initial value; nil if an initializer must set one.
    let value: String?
    let isOptional: Bool
    let documentation: String?

    var needsValue: Bool { value == nil && !isOptional }
  }

  /// A Codable struct for a composite attribute.
  struct Composite {
    let name: String
    let elements: [(name: String, type: String)]
    let nested: [Composite]
  }

  let entity: String
  /// The class as source spells it.
  let name: String
  let superclass: String?
  let isFinal: Bool
  let documentation: String?
  let composites: [Composite]
  /// The arguments of `#Unique` and of `#Index`.
  let uniques: [String]
  let indexes: [String]
  let properties: [Property]
  /// The properties that the superclasses' initializers set.
  let inheritedParameters: [Property]
}
