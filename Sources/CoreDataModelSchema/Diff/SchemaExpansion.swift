/// Whether a version of a model only adds to another one, so that programs with either can use one store at
/// the same time.
package enum SchemaExpansion {
  /// Returns the first reason why a version does more than add; nil if programs with the older version may go
  /// on reading and writing.
  ///
  /// New entities may be added, and new attributes and relationships to old entities, if objects without a value
  /// are valid. An older program applies no delete rule of a relationship that it does not know, which the store
  /// has to do for it, and enforces no constraint.
  package static func obstacle(from old: ModelSchema, to new: ModelSchema) -> String? {
    let known = Set(old.entities.map(\.name))
    let present = Dictionary(new.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in old.entities {
      guard let other = present[entity.name] else { return "there is no entity \(entity.name) any more" }
      if let reason = _obstacle(from: entity, to: other) { return reason }
    }
    for entity in new.entities where !known.contains(entity.name) {
      if let source = entity.renamingIdentifier, known.contains(source), present[source] == nil {
        return "\(source) is now \(entity.name)"
      }
      if let parent = entity.parent, known.contains(parent) {
        return "\(entity.name) is a new subentity of \(parent)"
      }
    }
    return nil
  }

  private static func _obstacle(from old: EntitySchema, to new: EntitySchema) -> String? {
    if old.parent != new.parent { return "\(old.name) has another parent" }
    if old.isAbstract != new.isAbstract { return "\(old.name) is abstract in one of the versions" }
    if _canonical(old.uniquenessConstraints) != _canonical(new.uniquenessConstraints) {
      return "\(old.name) has other uniqueness constraints"
    }
    let attributes = Dictionary(
      new.attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let relationships = Dictionary(
      new.relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for attribute in old.attributes where attributes[attribute.name].map(_stored) != _stored(attribute) {
      return "\(old.name).\(attribute.name) is changed or removed"
    }
    for relationship in old.relationships where relationships[relationship.name] != relationship {
      return "\(old.name).\(relationship.name) is changed or removed"
    }
    let known = Set(old.attributes.map(\.name) + old.relationships.map(\.name))
    for relationship in new.relationships where !known.contains(relationship.name) {
      if let source = relationship.traits.renamingIdentifier, known.contains(source),
        relationships[source] == nil
      {
        return "\(old.name).\(source) is now \(relationship.name)"
      }
      if !relationship.isOptional { return "\(old.name).\(relationship.name) is mandatory" }
    }
    for attribute in new.attributes where !known.contains(attribute.name) {
      if let source = attribute.traits.renamingIdentifier, known.contains(source), attributes[source] == nil {
        return "\(old.name).\(source) is now \(attribute.name)"
      }
      if attribute.isDerived { return "\(old.name).\(attribute.name) is derived" }
      if !attribute.toleratesMissingValues { return "\(old.name).\(attribute.name) is mandatory" }
      if attribute.type == .composite, !attribute.isOptional {
        return "\(old.name).\(attribute.name) is mandatory"
      }
    }
    return nil
  }

  private static func _canonical(_ constraints: [[String]]) -> Set<Set<String>> {
    Set(constraints.map(Set.init))
  }

  /// What a program reads and writes of an attribute.
  private static func _stored(_ attribute: AttributeSchema) -> AttributeSchema {
    var stored = attribute
    stored.isIndexed = false
    stored.isIndexedBySpotlight = false
    stored.usesScalarValueType = false
    return stored
  }
}
