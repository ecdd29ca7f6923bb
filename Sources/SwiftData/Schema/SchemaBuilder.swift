/// Creates entities from model classes.
struct SchemaBuilder {
  private var _classes: [ModelClass] = []
  private var _entities: [String: Schema.Entity] = [:]

  /// Returns the entities of the classes, of their ancestors, and of all classes reachable through their
  /// relationships.
  static func entities(of types: [any PersistentModel.Type]) -> [Schema.Entity] {
    var builder = SchemaBuilder()
    builder._find(types)
    for modelClass in builder._classes { builder._entities[modelClass.name] = builder._entity(modelClass) }
    builder._connectSuperentities()
    builder._connectInverses()
    return builder._classes.map { builder._entities[$0.name]! }
  }

  private mutating func _find(_ types: [any PersistentModel.Type]) {
    var open = types
    var seen: [String: ModelClass] = [:]
    while !open.isEmpty {
      let modelClass = ModelClass.of(open.removeFirst())
      if let known = seen[modelClass.name] {
        guard known === modelClass else {
          programmerError(
            "a schema can't have two classes with the name '\(modelClass.name)': \(String(reflecting: known.type)) and "
              + "\(String(reflecting: modelClass.type)). Name one of them differently, or leave it to another version."
          )
        }
        continue
      }
      seen[modelClass.name] = modelClass
      _classes.append(modelClass)
      if let superclass = modelClass.superclass { open.append(superclass) }
      open += modelClass.accessors.compactMap(\.destination)
    }
  }

  // MARK: Entities

  private func _entity(_ modelClass: ModelClass) -> Schema.Entity {
    let entity = Schema.Entity(modelClass.name)
    entity.modelType = modelClass.type
    let inherited = Set(modelClass.superclass.map { ModelClass.of($0).properties.map(\.name) } ?? [])
    for (metadata, accessor) in zip(modelClass.properties, modelClass.accessors)
    where !inherited.contains(metadata.name) {
      let property = _property(metadata, accessor)
      entity.storedProperties.append(property)
      if property.isUnique { entity.uniquenessConstraints.append([property.name]) }
    }
    let inheritedGroups = modelClass.superclass.map { ModelClass.of($0).constraints.count } ?? 0
    for metadata in modelClass.constraints.dropFirst(inheritedGroups) {
      guard let groups = metadata.metadata as? any PropertyGroups else { continue }
      for (place, keyPaths) in groups.keyPathGroups.enumerated() {
        let names = PropertyNames.names(keyPaths, of: modelClass.type)
        if groups.isUnique {
          if !entity.uniquenessConstraints.contains(names) { entity.uniquenessConstraints.append(names) }
        } else {
          if groups.isSpatial[place] { entity.spatialIndices.insert(entity.indices.count) }
          entity.indices.append(names)
        }
      }
    }
    return entity
  }

  private func _property(
    _ metadata: Schema.PropertyMetadata, _ accessor: PropertyAccessor
  ) -> any SchemaProperty {
    let valueType = type(of: metadata.keypath).valueType
    if let destination = accessor.destination {
      let given = metadata.metadata as? Schema.Relationship
      let relationship = Schema.Relationship(
        deleteRule: given?.deleteRule ?? .nullify, minimumModelCount: given?.minimumModelCount ?? 0,
        maximumModelCount: given?.maximumModelCount ?? 0, inverse: given?.inverseKeyPath,
        hashModifier: given?.hashModifier)
      relationship.options = given?.options ?? []
      relationship.name = metadata.name
      relationship.originalName =
        given.flatMap { $0.originalName.isEmpty ? nil : $0.originalName } ?? metadata.name
      relationship.valueType = valueType
      relationship.keypath = metadata.keypath
      relationship.destination = ModelClass.of(destination).name
      if !accessor.isToMany { relationship.maximumModelCount = 1 }
      return relationship
    }
    let given = metadata.metadata as? Schema.Attribute
    let original = given.flatMap { $0.originalName.isEmpty ? nil : $0.originalName }
    guard let form = accessor.form, form.type == .compositeAttributeType else {
      return Schema.Attribute(
        name: metadata.name, originalName: original, options: given?.options ?? [], valueType: valueType,
        defaultValue: metadata.defaultValue, hashModifier: given?.hashModifier)
    }
    let composite = Schema.CompositeAttribute(
      name: metadata.name, originalName: original, options: given?.options ?? [], valueType: valueType,
      defaultValue: metadata.defaultValue, hashModifier: given?.hashModifier)
    composite.properties = Self._elements(form)
    return composite
  }

  private static func _elements(_ form: StoredForm) -> [Schema.Attribute] {
    form.elements.map { element in
      guard element.form.type == .compositeAttributeType else {
        return Schema.Attribute(
          name: element.name, valueType: element.form.swiftType(isOptional: element.isOptional))
      }
      let composite = Schema.CompositeAttribute(name: element.name, valueType: [String: Any].self)
      composite.properties = _elements(element.form)
      return composite
    }
  }

  // MARK: Connections

  private func _connectSuperentities() {
    for modelClass in _classes {
      guard let superclass = modelClass.superclass, let entity = _entities[modelClass.name],
        let superentity = _entities[ModelClass.of(superclass).name]
      else { continue }
      entity.superentity = superentity
      superentity.subentities.insert(entity)
    }
  }

  /// The relationships of an entity, including inherited ones.
  private func _relationships(of name: String) -> [Schema.Relationship] {
    _entities[name]?.properties.compactMap { $0 as? Schema.Relationship } ?? []
  }

  private func _connectInverses() {
    // Explicit inverses come first.
    let claims = _claims()
    for claim in claims {
      claim.relationship.inverseName = nil
      claim.relationship.inverseKeyPath = nil
    }
    for claim in claims where _partner(of: claim.inverse, claims)?.relationship === claim.relationship {
      Self._connect(claim.relationship, claim.inverse)
    }
    for claim in claims where claim.relationship.inverseName == nil {
      Console.warnOnce(
        about: "\(claim.entity).\(claim.relationship.name)",
        "'\(claim.entity).\(claim.relationship.name)' has no inverse: '\(claim.relationship.destination)."
          + "\(claim.inverse.name)', which it names, follows '\(claim.inverse.inverseName ?? "none")'.")
    }
    let claiming = Set(claims.map { ObjectIdentifier($0.relationship) })
    for modelClass in _classes {
      for case let relationship as Schema.Relationship in _entities[modelClass.name]!.storedProperties
      where relationship.inverseName == nil {
        guard let other = _onlyCandidate(for: relationship, of: modelClass.name, except: claiming) else {
          continue
        }
        Self._connect(relationship, other)
      }
    }
  }

  private static func _connect(_ relationship: Schema.Relationship, _ other: Schema.Relationship) {
    relationship.inverseName = other.name
    relationship.inverseKeyPath = other.keypath
    other.inverseName = relationship.name
    other.inverseKeyPath = relationship.keypath
  }

  /// A relationship whose declaration names its inverse.
  private struct Claim {
    let entity: String
    let relationship: Schema.Relationship
    let inverse: Schema.Relationship
  }

  private func _claims() -> [Claim] {
    var claims: [Claim] = []
    for modelClass in _classes {
      for case let relationship as Schema.Relationship in _entities[modelClass.name]!.storedProperties {
        guard let keyPath = relationship.inverseKeyPath else { continue }
        let destination = _classes.first { $0.name == relationship.destination }!
        let name = destination.properties[destination.index(of: keyPath)].name
        guard let inverse = _relationships(of: destination.name).first(where: { $0.name == name }) else {
          programmerError(
            "the inverse of '\(modelClass.name).\(relationship.name)' is '\(destination.name).\(name)', which is no "
              + "relationship.")
        }
        claims.append(Claim(entity: modelClass.name, relationship: relationship, inverse: inverse))
      }
    }
    return claims
  }

  /// Returns the relationship that an inverse follows: the one that it names itself; otherwise of those that name it
  /// the last that belongs to its destination.
  private func _partner(of inverse: Schema.Relationship, _ claims: [Claim]) -> Claim? {
    let claimants = claims.filter { $0.inverse === inverse }
    if let own = claims.first(where: { $0.relationship === inverse }) {
      return claimants.first { $0.relationship === own.inverse }
    }
    return claimants.last { claim in
      sequence(first: _entities[claim.entity]) { $0?.superentity }.contains {
        $0?.name == inverse.destination
      }
    } ?? claimants.last
  }

  /// Returns the only possible inverse; nil if there is none, or several on either side.
  ///
  /// A required to-one, and a pair of to-manys, have no inferred inverse.
  private func _onlyCandidate(
    for relationship: Schema.Relationship, of entity: String, except claiming: Set<ObjectIdentifier>
  ) -> Schema.Relationship? {
    func canBeInferred(_ relationship: Schema.Relationship) -> Bool {
      relationship.inverseName == nil && !claiming.contains(ObjectIdentifier(relationship))
        && (!relationship.isToOneRelationship || relationship.isOptional)
    }
    func candidates(_ from: String, _ to: String) -> [Schema.Relationship] {
      (_entities[from]?.storedProperties ?? []).compactMap { $0 as? Schema.Relationship }
        .filter { $0.destination == to && canBeInferred($0) }
    }
    guard canBeInferred(relationship) else { return nil }
    let back = candidates(relationship.destination, entity)
    let forth = candidates(entity, relationship.destination)
    guard back.count == 1, forth.count == 1, let other = back.first, other !== relationship else {
      return nil
    }
    return !relationship.isToOneRelationship && !other.isToOneRelationship ? nil : other
  }
}
