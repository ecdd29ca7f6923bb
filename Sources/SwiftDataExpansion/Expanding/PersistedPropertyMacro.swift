/// `@_PersistedProperty`: turns a stored variable into accessors of the backing data, and a zero-sized
/// placeholder.
///
/// The compiler checks that initializers initialize the placeholder, so that a missing assignment remains an
/// error.
enum PersistedPropertyMacro {
  static func expand(_ request: ExpansionRequest) -> MacroExpansion {
    guard let piece = request.declaration else { return .empty }
    var reader = DeclarationReader(piece)
    guard let member = reader.member(), let property = ModelProperty.all(of: member, in: piece).first,
      property.storage == .persisted
    else { return .empty }
    switch request.role {
    case .peer: return MacroExpansion(source: _placeholder(property))
    case .accessor: return MacroExpansion(source: _accessors(property, _place(in: request.use)))
    default: return .empty
    }
  }

  private static func _placeholder(_ property: ModelProperty) -> String {
    let value = property.hasInitialValue ? " = _SwiftDataNoType()" : ""
    return "private var _\(property.name.text): _SwiftDataNoType\(value)"
  }

  /// The argument of `@_PersistedProperty(at: 3)` with the property's index, to be passed on; empty without
  /// one.
  private static func _place(in use: SyntaxPiece) -> String {
    guard let start = use.trimmed.firstIndex(of: "(") else { return "" }
    return ", " + use.trimmed[use.trimmed.index(after: start)...].prefix { $0 != ")" }
  }

  private static func _accessors(_ property: ModelProperty, _ place: String) -> String {
    let (key, name) = ("\\.\(property.spelling)\(place)", property.name.text)
    let isTransformable = property.isTransformable
    // The methods' overloads tell values from models, and report a type that is neither.
    let value = property.head.attribute("Relationship") == nil ? "value" : "related"
    let (get, set) = isTransformable ? ("transformableValue", "setTransformable") : (value, "set")
    let begin = isTransformable ? "beginTransformable" : "begin"
    let getter = PlacedCall(receiver: "_$backingData", method: "\(get)(\(key), of: self)")
      .source(at: property.placeOfType, in: property.piece)
    return """
      @storageRestrictions(accesses: _$backingData, initializes: _\(name))
      init(initialValue) {
        _$backingData.\(begin)(\(key), with: initialValue)
        _\(name) = _SwiftDataNoType()
      }
      get {
        \(getter)
      }
      set {
        _$backingData.\(set)(\(key), of: self, to: newValue)
      }
      """
  }
}
