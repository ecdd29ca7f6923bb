import CoreDataModelSchema

/// The Swift types of attributes, as Xcode chooses them.
///
/// What is no scalar is optional, whatever the model says: an object may be looked at before it is valid.
enum PropertyTypes {
  /// - Throws: `ModelCodegenError` for a transformable attribute whose class is no type in Swift.
  static func type(of attribute: AttributeSchema, in entity: String) throws -> TypeSyntax {
    if attribute.usesScalarValueType, let scalar = _scalar(attribute.type) { return .name(scalar) }
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
    return .optional(.name(_object(attribute.type)))
  }

  private static func _scalar(_ type: AttributeType) -> String? {
    switch type {
    case .integer16: "Int16"
    case .integer32: "Int32"
    case .integer64: "Int64"
    case .double: "Double"
    case .float: "Float"
    case .boolean: "Bool"
    case .date: "TimeInterval"
    default: nil
    }
  }

  private static func _object(_ type: AttributeType) -> String {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "String"
    case .date: "Date"
    case .binaryData: "Data"
    case .uuid: "UUID"
    case .uri: "URL"
    case .objectID: "NSManagedObjectID"
    case .undefined, .transformable, .composite: "NSObject"
    }
  }
}
