import CoreDataModelSchema

/// The Swift types of attributes, as Xcode chooses them.
///
/// Non-scalar types are optional regardless of the model: an object may be read before it is valid.
enum PropertyTypes {
  /// - Throws: `ModelCodegenError` for a transformable attribute whose class is not a Swift type.
  static func type(of attribute: AttributeSchema, in entity: String) throws -> TypeSyntax {
    if attribute.usesScalarValueType, let scalar = attribute.type.traits.scalarType { return .name(scalar) }
    if attribute.type == .transformable, let text = attribute.customClassName {
      guard let type = TypeParser.parse(text) else {
        throw ModelCodegenError(
          entity: entity, property: attribute.name,
          reason: "its custom class '\(text)' is no type in Swift; change it in the model")
      }
      if case .optional = type { return type }
      return .optional(type)
    }
    if attribute.type == .composite { return .optional(.dictionary(.name("String"), .name("Any"))) }
    return .optional(.name(attribute.type.traits.objectType))
  }
}
