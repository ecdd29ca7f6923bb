/// What the class of an entity is to look like: names checked, types chosen.
struct ModelClass {
  struct Property {
    let name: String
    /// Such as `@Attribute(.unique)`.
    let attribute: String?
    let type: String
    /// The initial value; nil where an initialiser has to set one.
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
  /// What the superclasses' initialisers set.
  let inheritedParameters: [Property]
}
