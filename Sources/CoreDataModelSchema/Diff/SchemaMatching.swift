/// Matches the parts of two versions of a model: by renaming identifier, else by name.
package struct SchemaMatching: Sendable {
  /// A property together with the entity that declares it.
  package struct Declared<Property: Sendable>: Sendable {
    package let entity: String
    package let property: Property
  }

  /// The entities of one version, with inherited properties.
  package struct Version: Sendable {
    package let entities: [String: EntitySchema]
    /// Names of all entities, sorted.
    package let names: [String]
    private let _children: [String: [String]]

    init(_ schema: ModelSchema) {
      entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      names = entities.keys.sorted()
      var children: [String: [String]] = [:]
      for entity in entities.values {
        if let parent = entity.parent { children[parent, default: []].append(entity.name) }
      }
      _children = children
    }

    /// An entity and its ancestors, nearest first; an invalid parent ends the line.
    package func line(_ name: String) -> [EntitySchema] {
      var line: [EntitySchema] = []
      var seen: Set<String> = []
      var next: String? = name
      while let name = next, let entity = entities[name], seen.insert(name).inserted {
        line.append(entity)
        next = entity.parent
      }
      return line
    }

    /// The topmost entity that this one inherits from, or itself.
    package func root(_ name: String) -> String { line(name).last?.name ?? name }

    /// All entities that inherit from this one.
    package func descendants(_ name: String) -> [String] {
      var found: [String] = []
      var seen: Set<String> = [name]
      var open = _children[name] ?? []
      while let next = open.popLast() {
        guard seen.insert(next).inserted else { continue }
        found.append(next)
        open += _children[next] ?? []
      }
      return found.sorted()
    }

    package func attributes(_ name: String) -> [Declared<AttributeSchema>] {
      line(name).flatMap { entity in entity.attributes.map { Declared(entity: entity.name, property: $0) } }
    }

    package func relationships(_ name: String) -> [Declared<RelationshipSchema>] {
      line(name).flatMap { entity in entity.relationships.map { Declared(entity: entity.name, property: $0) }
      }
    }
  }

  package let old: Version
  package let new: Version
  private let _sources: [String: String]
  private let _targets: [String: String]

  package init(from old: ModelSchema, to new: ModelSchema) {
    let (before, after) = (Version(old), Version(new))
    self.old = before
    self.new = after
    _sources = Self._match(
      after.names.map { ($0, after.entities[$0]!.renamingIdentifier) },
      before.names.map { ($0, before.entities[$0]!.renamingIdentifier) })
    _targets = Dictionary(_sources.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
  }

  /// The old entity that this new one replaces; nil if it was added.
  package func source(of entity: String) -> String? { _sources[entity] }

  /// The new entity that replaces this old one; nil if it was removed.
  package func target(of entity: String) -> String? { _targets[entity] }

  /// The old attributes of a new entity's attributes, inherited ones included, by the new names.
  package func attributeSources(of entity: String) -> [String: Declared<AttributeSchema>] {
    source(of: entity).map { attributeSources(of: entity, from: $0) } ?? [:]
  }

  /// The attributes of an old entity that are those of a new one, which need not replace it, by the new
  /// names.
  package func attributeSources(of entity: String, from source: String) -> [String: Declared<AttributeSchema>]
  {
    Self._matched(new.attributes(entity).map(\.property.traits), old.attributes(source), \.traits)
  }

  /// The same for relationships.
  package func relationshipSources(of entity: String) -> [String: Declared<RelationshipSchema>] {
    source(of: entity).map { relationshipSources(of: entity, from: $0) } ?? [:]
  }

  /// The same for relationships.
  package func relationshipSources(of entity: String, from source: String)
    -> [String: Declared<RelationshipSchema>]
  {
    Self._matched(new.relationships(entity).map(\.property.traits), old.relationships(source), \.traits)
  }

  private static func _matched<Property>(
    _ wanted: [PropertyTraits], _ there: [Declared<Property>], _ traits: (Property) -> PropertyTraits
  ) -> [String: Declared<Property>] {
    let names = _match(
      wanted.map { ($0.name, $0.renamingIdentifier) },
      there.map { (traits($0.property).name, traits($0.property).renamingIdentifier) })
    let byName = Dictionary(
      there.map { (traits($0.property).name, $0) }, uniquingKeysWith: { first, _ in first })
    return names.compactMapValues { byName[$0] }
  }

  /// Old names by new names. The identifier of the new must be the canonical name of the old, which is its
  /// own identifier if it has one; failing that, one name must be the other's.
  private static func _match(
    _ wanted: [(name: String, identifier: String?)], _ there: [(name: String, identifier: String?)]
  ) -> [String: String] {
    var found: [String: String] = [:]
    var taken: Set<String> = []
    let canonical = Dictionary(
      there.map { ($0.identifier ?? $0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
    let names = Set(there.map(\.name))
    for rule in 0..<3 {
      for element in wanted where found[element.name] == nil {
        let candidate: String? =
          switch rule {
          case 0: canonical[element.identifier ?? element.name]
          case 1:
            names.contains(element.identifier ?? element.name) ? element.identifier ?? element.name : nil
          default: names.contains(element.name) ? element.name : nil
          }
        guard let candidate, taken.insert(candidate).inserted else { continue }
        found[element.name] = candidate
      }
    }
    return found
  }
}
