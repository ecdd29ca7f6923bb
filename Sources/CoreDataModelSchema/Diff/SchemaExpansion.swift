/// Whether a version of a model only adds to another one and leaves out what a store can keep beside it, so that programs
/// with either can use one store at the same time.
package enum SchemaExpansion {
  /// Returns the first reason why programs with both versions cannot use one store; nil if those with the older version may
  /// go on reading and writing.
  ///
  /// New entities may be added, and new attributes and relationships to old entities, if objects without a value
  /// are valid; and such ones may be removed. Neither program applies the delete rules of relationships that it does not
  /// know, which the store has to do for it, or enforces the constraints.
  package static func obstacle(from old: ModelSchema, to new: ModelSchema) -> String? {
    let known = Set(old.entities.map(\.name))
    let present = Dictionary(new.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let matching = SchemaMatching(from: old, to: new)
    for entity in old.entities {
      let reason =
        present[entity.name].map { _obstacle(from: entity, to: $0, matching) }
        ?? _obstacle(removing: entity, matching)
      if let reason { return reason }
    }
    for entity in new.entities where !known.contains(entity.name) {
      if let parent = entity.parent, known.contains(parent) {
        return "\(entity.name) is a new subentity of \(parent)"
      }
    }
    return nil
  }

  /// What programs with the older version have beside the newer one: entities as `Author`, properties as `Book.pages`.
  package static func removals(from old: ModelSchema, to new: ModelSchema) -> [String] {
    let present = Dictionary(new.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return old.entities.flatMap { entity -> [String] in
      guard let other = present[entity.name] else { return [entity.name] }
      let names = Set(other.attributes.map(\.name) + other.relationships.map(\.name))
      return (entity.attributes.map(\.name) + entity.relationships.map(\.name)).filter { !names.contains($0) }
        .map { "\(entity.name).\($0)" }
    }
  }

  private static func _obstacle(removing old: EntitySchema, _ matching: SchemaMatching) -> String? {
    if let name = matching.target(of: old.name) { return "\(old.name) is now \(name)" }
    // The values of rows that stay among those of the parent still count for its constraints.
    if let parent = old.parent, matching.new.entities[parent] != nil {
      return "\(old.name), a subentity of \(parent), is removed"
    }
    if let derived = old.attributes.first(where: \.isDerived) {
      return "\(old.name).\(derived.name), which is derived, is removed"
    }
    return nil
  }

  private static func _obstacle(removing old: AttributeSchema, of entity: String) -> String? {
    if old.isTransient { return nil }
    let name = "\(entity).\(old.name)"
    if old.isDerived { return "\(name), which is derived, is removed" }
    // Programs with the older version would find the newer one's objects invalid.
    if !old.toleratesMissingValues || old.type == .composite && !old.isOptional {
      return "\(name), which is mandatory, is removed"
    }
    return nil
  }

  private static func _obstacle(
    from old: EntitySchema, to new: EntitySchema, _ matching: SchemaMatching
  ) -> String? {
    if old.parent != new.parent { return "\(old.name) has another parent" }
    if old.isAbstract != new.isAbstract { return "\(old.name) is abstract in one of the versions" }
    if _canonical(old.uniquenessConstraints) != _canonical(new.uniquenessConstraints) {
      return "\(old.name) has other uniqueness constraints"
    }
    let attributes = Dictionary(
      new.attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let relationships = Dictionary(
      new.relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let targets = _targets(of: old, matching)
    for property in old.attributes.map(\.name) + old.relationships.map(\.name) {
      if let target = targets[property], target != "\(old.name).\(property)" {
        return "\(old.name).\(property) is now \(target)"
      }
    }
    for attribute in old.attributes {
      guard let other = attributes[attribute.name] else {
        if let reason = _obstacle(removing: attribute, of: old.name) { return reason }
        continue
      }
      if _stored(other) != _stored(attribute) { return "\(old.name).\(attribute.name) is changed" }
    }
    for relationship in old.relationships {
      guard let other = relationships[relationship.name] else {
        if !relationship.isOptional {
          return "\(old.name).\(relationship.name), which is mandatory, is removed"
        }
        continue
      }
      if other != relationship { return "\(old.name).\(relationship.name) is changed" }
    }
    let known = Set(old.attributes.map(\.name) + old.relationships.map(\.name))
    for relationship in new.relationships where !known.contains(relationship.name) {
      if !relationship.isOptional { return "\(old.name).\(relationship.name) is mandatory" }
    }
    for attribute in new.attributes where !known.contains(attribute.name) && !attribute.isTransient {
      if attribute.isDerived { return "\(old.name).\(attribute.name) is derived" }
      if !attribute.toleratesMissingValues { return "\(old.name).\(attribute.name) is mandatory" }
      if attribute.type == .composite, !attribute.isOptional {
        return "\(old.name).\(attribute.name) is mandatory"
      }
    }
    return nil
  }

  /// The properties that take over the values of an entity's own ones, as `Book.title`, by the names of these: renamed, or
  /// moved along the line of inheritance.
  private static func _targets(of old: EntitySchema, _ matching: SchemaMatching) -> [String: String] {
    var targets: [String: String] = [:]
    for entity in matching.new.names {
      let own = matching.new.entities[entity]!
      let names = Set(own.attributes.map(\.name) + own.relationships.map(\.name))
      let attributes = matching.attributeSources(of: entity).mapValues { ($0.entity, $0.property.name) }
      let relationships = matching.relationshipSources(of: entity).mapValues { ($0.entity, $0.property.name) }
      for (name, source) in attributes.merging(relationships, uniquingKeysWith: { first, _ in first })
      where source.0 == old.name && names.contains(name) {
        targets[source.1] = "\(entity).\(name)"
      }
    }
    return targets
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
