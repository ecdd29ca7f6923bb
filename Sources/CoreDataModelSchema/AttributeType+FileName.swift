extension AttributeType {
  /// What model files call the type.
  package var fileName: String {
    switch self {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binaryData: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .objectID: "Object ID"
    case .composite: "Composite"
    }
  }

  /// The type that model files call this.
  package init?(fileName: String) {
    guard let type = Self._byFileName[fileName] else { return nil }
    self = type
  }

  private static let _byFileName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.fileName, $0) })
}
