/// `@_PersistedProperty`: a stored variable becomes accessors of the backing data, and a placeholder without size.
///
/// The placeholder is what an initialiser initialises as far as the compiler can see, so that a missing assignment
/// remains an error.
enum PersistedPropertyMacro {
  static func expand(_ request: ExpansionRequest) -> MacroExpansion {
    guard let piece = request.declaration else { return .empty }
    var reader = DeclarationReader(piece)
    guard let member = reader.member(), let property = ModelProperty.all(of: member, in: piece).first,
      property.storage == .persisted
    else { return .empty }
    switch request.role {
    case .peer: return MacroExpansion(source: _placeholder(property))
    case .accessor: return MacroExpansion(source: _accessors(property))
    default: return .empty
    }
  }

  private static func _placeholder(_ property: ModelProperty) -> String {
    let value = property.hasInitialValue ? " = _SwiftDataNoType()" : ""
    return "private var _\(property.name.text): _SwiftDataNoType\(value)"
  }

  private static func _accessors(_ property: ModelProperty) -> String {
    let (key, name) = ("\\.\(property.spelling)", property.name.text)
    let kind = property.isTransformable ? "TransformableValue" : "Value"
    return """
      @storageRestrictions(accesses: _$backingData, initializes: _\(name))
      init(initialValue) {
        _$backingData.set\(kind)(forKey: \(key), to: initialValue)
        _\(name) = _SwiftDataNoType()
      }
      get {
        _$observationRegistrar.access(self, keyPath: \(key))
        return _$backingData.get\(kind)(forKey: \(key))
      }
      set {
        _$observationRegistrar.withMutation(of: self, keyPath: \(key)) {
          self.set\(kind)(forKey: \(key), to: newValue)
        }
      }
      """
  }
}
