/// `@Model`: makes a class persistent.
enum ModelMacro {
  /// The generated members of a class.
  ///
  /// - Parameter isWrong: The class has errors of its own; generated members then only have to avoid further
  ///   errors.
  static func members(of model: ModelDeclaration, isWrong: Bool) -> String {
    var parts = [_backingData(model)]
    if !model.isSubclass {
      parts.append(
        """
        \(model.memberAccess)var _$observationRegistrar: SwiftData._ModelObservationRegistrar {
          _$backingData.observationRegistrar
        }
        """)
    }
    parts.append(_persistentBackingData(model))
    parts.append(_modelStorage(model))
    parts.append(SchemaMetadata(model, isWrong: isWrong).source)
    parts.append(_initializer(model, isWrong: isWrong))
    if !isWrong, _needsDefaultInitializer(model) { parts.append("init() {\n}") }
    if !model.isSubclass, !model.isFinal, model.name != "Root" {
      parts.append("\(model.memberAccess)typealias Root = \(model.name)")
    }
    parts.append("private struct _SwiftDataNoType {\n}")
    return parts.joined(separator: "\n\n")
  }

  /// `@_PersistedProperty` for each variable that is stored.
  static func attributes(_ request: ExpansionRequest) -> MacroExpansion {
    guard let piece = request.declaration, let parent = request.parent else { return .empty }
    var reader = DeclarationReader(parent)
    guard let type = reader.type(), ModelDeclaration.canBeModel(type) else { return .empty }
    var members = DeclarationReader(piece)
    guard let member = members.member() else { return .empty }
    let properties = ModelProperty.all(of: member, in: piece)
    guard properties.count == 1, properties[0].storage == .persisted,
      member.head.attribute("_PersistedProperty") == nil
    else { return .empty }
    return MacroExpansion(source: "@_PersistedProperty\(_place(of: properties[0], in: type, parent))")
  }

  /// The index of a property among the stored ones of its class, as an argument; empty if it depends on
  /// conditions.
  private static func _place(of property: ModelProperty, in type: TypeDeclaration, _ piece: SyntaxPiece)
    -> String
  {
    guard type.members.allSatisfy({ $0.branches.isEmpty }) else { return "" }
    let stored = type.members.flatMap { ModelProperty.all(of: $0, in: piece) }.filter(\.isStored)
    return stored.firstIndex { $0.name.text == property.name.text }.map { "(at: \($0))" } ?? ""
  }

  /// The conformances that the class lacks.
  static func extensions(_ request: ExpansionRequest, _ model: ModelDeclaration) -> MacroExpansion {
    guard ModelDeclaration.canBeModel(model.type), !model.isSubclass else { return .empty }
    let type = request.extendedType ?? model.name
    let missing = request.missingConformances ?? []
    var parts: [String] = []
    if missing.contains("PersistentModel") {
      parts.append("extension \(type): nonisolated SwiftData.PersistentModel {\n}")
    }
    if missing.contains("Observable") {
      parts.append("extension \(type): nonisolated SwiftData.Observable {\n}")
    }
    if missing.contains("Sendable") {
      parts.append(
        """
        @available(*, unavailable, message: "A model belongs to the context that it is in. Pass its persistentModelID to \
        another actor, and look it up there.")
        extension \(type): Swift.Sendable {
        }
        """)
    }
    return MacroExpansion(source: parts.joined(separator: "\n\n"))
  }

  private static func _backingData(_ model: ModelDeclaration) -> String {
    model.isSubclass
      ? "private var _$backingData = SwiftData._ModelPart<\(model.name)>()"
      : "private let _$backingData = SwiftData._ModelValues<\(model.name)>()"
  }

  private static func _persistentBackingData(_ model: ModelDeclaration) -> String {
    if model.isSubclass {
      return """
        \(model.memberAccess)override var persistentBackingData: any SwiftData.BackingData<Root> {
          get {
            let whole = super.persistentBackingData
            if let joined = _$backingData.joined(to: whole) {
              _$backingData = joined
            }
            return whole
          }
          set {
            super.persistentBackingData = newValue
            _$backingData = SwiftData._ModelPart(sharing: super.persistentBackingData)
          }
        }
        """
    }
    return """
      \(model.memberAccess)var persistentBackingData: any SwiftData.BackingData<\(model.name)> {
        get {
          _$backingData.shown(by: self)
        }
        set {
          _$backingData.show(newValue)
        }
      }
      """
  }

  private static func _modelStorage(_ model: ModelDeclaration) -> String {
    model.isSubclass
      ? """
      \(model.memberAccess)override var _modelStorage: SwiftData._ModelStorage? {
        persistentBackingData._storage
      }
      """
      : """
      \(model.memberAccess)var _modelStorage: SwiftData._ModelStorage? {
        _$backingData.storageOfModule
      }
      """
  }

  private static func _initializer(_ model: ModelDeclaration, isWrong: Bool) -> String {
    let root = model.isSubclass ? "Root" : model.name
    var source = "\(model.memberAccess)required init(backingData: any SwiftData.BackingData<\(root)>) {\n"
    if isWrong { return source + "  Swift.fatalError(\"This class has errors.\")\n}" }
    for property in model.stored {
      guard let line = _assignment(property, in: model) else { continue }
      source += ConditionalSource.wrapped("  \(line)\n", in: property.member.branches)
    }
    if model.isSubclass {
      source += "  _$backingData = SwiftData._ModelPart(sharing: backingData)\n"
      source += "  super.init(backingData: backingData)\n"
    } else {
      source += "  _$backingData.show(backingData)\n"
    }
    return source + "}"
  }

  private static func _assignment(_ property: ModelProperty, in model: ModelDeclaration) -> String? {
    if property.storage == .persisted { return "_\(property.name.text) = _SwiftDataNoType()" }
    // A constant with an initial value cannot be set again.
    guard property.binding.value == nil else { return nil }
    let accessor = property.isTransformable ? "getTransformableValue" : "getValue"
    let data =
      model.isSubclass ? "SwiftData._ModelPart<\(model.name)>(sharing: backingData).constants" : "backingData"
    return PlacedCall(
      receiver: "\(property.spelling) = \(data)", method: "\(accessor)(forKey: \\.\(property.spelling))"
    ).source(at: property.placeOfType, in: property.piece)
  }

  /// Whether the class would have `init()` if the macro generated no initializer.
  private static func _needsDefaultInitializer(_ model: ModelDeclaration) -> Bool {
    !model.isSubclass && !model.hasDesignatedInitializer && model.uninitialized.isEmpty
  }
}
