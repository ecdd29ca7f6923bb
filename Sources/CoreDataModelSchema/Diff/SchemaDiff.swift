/// Compares two versions of a model: by their version hashes, then by Core Data's rules for lightweight
/// migration.
package struct SchemaDiff: Sendable {
  /// All differences, entity by entity.
  package private(set) var changes: [SchemaChange] = []
  /// Whether all version hashes are equal, so that stores of one open with the other. No difference concerns
  /// the stores then.
  package let isSameVersion: Bool

  private let _matching: SchemaMatching
  private var _old: SchemaMatching.Version { _matching.old }
  private var _new: SchemaMatching.Version { _matching.new }

  package init(from old: ModelSchema, to new: ModelSchema) {
    _matching = SchemaMatching(from: old, to: new)
    let hashes = (old: old.entityVersionHashes(), new: new.entityVersionHashes())
    isSameVersion = hashes.old == hashes.new
    let strangers = HierarchyMerges(_matching)
    for name in _new.names {
      let first = changes.count
      let entity = _new.entities[name]!
      guard let source = _matching.source(of: name).flatMap({ _old.entities[$0] }) else {
        _add(name, nil, "entity added", .inferred, "a new table is made, or room in its parent's")
        _compareProperties(entity)
        continue
      }
      if source.name != name {
        _add(
          name, nil, "renamed from \(source.name)", .inferred, "its renaming identifier names the old entity")
      }
      _compare(source, entity, strangers, sameHash: hashes.old[source.name] == hashes.new[name])
      _compareProperties(entity)
      _findRemoved(from: source, now: entity)
      if !_followsFromOthers(source, entity, hashes), hashes.old[source.name] != hashes.new[name],
        changes[first...].allSatisfy({ $0.verdict == .free })
      {
        _add(
          name, nil, "version hash changed", .inferred,
          "what else is part of it has changed; objects and values stay")
      }
    }
    for name in _old.names where _matching.target(of: name) == nil {
      guard !_old.entities[name]!.isAbstract else {
        _add(name, nil, "entity removed", .inferred, "it is abstract: no object was of it alone")
        continue
      }
      _add(
        name, nil, "entity removed", .loses,
        "its objects are deleted; if it was renamed, set the new entity's renaming identifier to '\(name)'")
    }
    // What hashes leave out does not migrate, whatever it would mean in another version.
    if isSameVersion { changes = changes.map(\.asNote) }
  }

  private mutating func _add(
    _ entity: String, _ property: String?, _ what: String, _ verdict: SchemaChange.Verdict, _ why: String
  ) {
    changes.append(SchemaChange(entity: entity, property: property, what: what, verdict: verdict, why: why))
  }

  private mutating func _add(_ entity: String, _ property: String, _ finding: SchemaFinding) {
    _add(entity, property, finding.what, finding.verdict, finding.why)
  }

  /// Whether the hash of an entity depends on a change that is reported elsewhere: of an ancestor, or of a
  /// name that its relationships refer to.
  private func _followsFromOthers(
    _ old: EntitySchema, _ new: EntitySchema, _ hashes: (old: [String: [UInt8]], new: [String: [UInt8]])
  ) -> Bool {
    if let parent = new.parent, hashes.old[_matching.source(of: parent) ?? ""] != hashes.new[parent] {
      return true
    }
    func references(_ entity: EntitySchema) -> Set<[String]> {
      Set(entity.relationships.map { [$0.destination, $0.inverse ?? ""] })
    }
    return references(old) != references(new)
  }

  // MARK: Entities

  private mutating func _compare(
    _ old: EntitySchema, _ new: EntitySchema, _ strangers: HierarchyMerges, sameHash: Bool
  ) {
    if old.parent.map({ _matching.target(of: $0) ?? "" }) != new.parent {
      let stranger = strangers.stranger(to: new.name)
      _add(
        new.name, nil, "parent is \(new.parent ?? "none")", stranger == nil ? .inferred : .blocked,
        stranger.map { "it gets an ancestor in common with \($0), with which it had none" }
          ?? "the hierarchy is rebuilt")
    }
    if old.isAbstract != new.isAbstract {
      _add(
        new.name, nil, new.isAbstract ? "made abstract" : "made concrete", .inferred,
        "the table stays as it is")
    }
    if old.className != new.className {
      _add(
        new.name, nil, "class is \(new.className ?? "NSManagedObject")", .free, "stores do not know classes")
    }
    func constraints(_ version: SchemaMatching.Version, _ name: String) -> Set<[String]> {
      Set(version.line(name).flatMap(\.uniquenessConstraints))
    }
    if constraints(_old, old.name) != constraints(_new, new.name) {
      _add(
        new.name, nil, "uniqueness constraints changed", .inferred,
        "objects that are in each other's way make the migration fail")
    }
    if old.versionHashModifier != new.versionHashModifier {
      _add(
        new.name, nil, "version hash modifier changed", .inferred,
        "the version counts as another one, as was asked")
    }
    if Set(old.indexes) != Set(new.indexes) || old.compoundIndexes != new.compoundIndexes {
      sameHash
        ? _add(
          new.name, nil, "indexes changed", .free,
          "no migration runs for indexes alone, and existing stores do not get them; a version hash modifier forces one"
        )
        : _add(new.name, nil, "indexes changed", .inferred, "they are built anew")
    }
  }

  // MARK: Properties

  private mutating func _compareProperties(_ entity: EntitySchema) {
    let attributes = _matching.attributeSources(of: entity.name)
    for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
      guard let source = attributes[attribute.name] else {
        _appeared(attribute.traits, in: entity, PropertyRules.added(attribute)) { [_matching] in
          _matching.attributeSources(of: $0)[attribute.name]?.entity
        }
        continue
      }
      _moved(attribute.traits, in: entity, from: source.entity, source.property.traits)
      for finding in PropertyRules.changes(source.property, attribute) {
        _add(entity.name, attribute.name, finding)
      }
    }
    let relationships = _matching.relationshipSources(of: entity.name)
    for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
      guard let source = relationships[relationship.name] else {
        _appeared(relationship.traits, in: entity, PropertyRules.added(relationship)) { [_matching] in
          _matching.relationshipSources(of: $0)[relationship.name]?.entity
        }
        continue
      }
      _moved(relationship.traits, in: entity, from: source.entity, source.property.traits)
      for finding in PropertyRules.changes(source.property, relationship, _matching) {
        _add(entity.name, relationship.name, finding)
      }
    }
  }

  private mutating func _moved(
    _ traits: PropertyTraits, in entity: EntitySchema, from source: String, _ old: PropertyTraits
  ) {
    if old.name != traits.name {
      _add(
        entity.name, traits.name, "renamed from \(old.name)", .inferred,
        "its renaming identifier names the old property")
    }
    if _matching.target(of: source) != entity.name {
      _add(entity.name, traits.name, "moved from \(source)", .inferred, "the values stay")
    }
  }

  /// A property that an entity did not have: added, or moved up from subentities.
  private mutating func _appeared(
    _ traits: PropertyTraits, in entity: EntitySchema, _ added: SchemaFinding, declarer: (String) -> String?
  ) {
    let family = ([entity.name] + _new.descendants(entity.name)).filter { _matching.source(of: $0) != nil }
    let givers = Set(family.compactMap(declarer)).sorted()
    guard !givers.isEmpty else {
      // A new entity has no objects, unless it becomes the parent of others.
      if !family.isEmpty { _add(entity.name, traits.name, added) }
      return
    }
    let lacks = family.contains { declarer($0) == nil && !(_new.entities[$0]?.isAbstract ?? true) }
    let what = "moved up from \(givers.joined(separator: ", "))"
    if lacks, added.verdict == .fails {
      _add(entity.name, traits.name, what, .fails, added.why)
    } else {
      _add(entity.name, traits.name, what, .inferred, "the values stay")
    }
  }

  /// Properties that the objects of an entity lose.
  private mutating func _findRemoved(from old: EntitySchema, now new: EntitySchema) {
    // Also reports the properties of a removed parent, which are not reported elsewhere.
    let line = _old.line(old.name)
    let declarers = [old] + line.dropFirst().prefix { _matching.target(of: $0.name) == nil }
    let kept =
      Set(_matching.attributeSources(of: new.name).values.map(\.property.name))
      .union(_matching.relationshipSources(of: new.name).values.map(\.property.name))
    let heirs = _old.descendants(old.name).filter { _matching.target(of: $0) != nil }
    for declarer in declarers {
      let names = declarer.attributes.map(\.name) + declarer.relationships.map(\.name)
      for name in names.sorted() where !kept.contains(name) {
        let keepers = heirs.filter { heir in
          let target = _matching.target(of: heir)!
          return _matching.attributeSources(of: target).values.contains { $0.property.name == name }
            || _matching.relationshipSources(of: target).values.contains { $0.property.name == name }
        }
        guard !declarer._isTransient(name) else {
          _add(new.name, name, "removed", .free, "it is transient: stores do not have it")
          continue
        }
        if keepers.isEmpty {
          _add(
            new.name, name, "removed", .loses,
            "its values go; if it was renamed, set the new property's renaming identifier to '\(name)'")
          continue
        }
        let losers = ([old.name] + heirs).filter {
          !keepers.contains($0) && !(_old.entities[$0]?.isAbstract ?? true)
        }
        _add(
          new.name, name, "moved down to \(keepers.joined(separator: ", "))",
          losers.isEmpty ? .inferred : .loses,
          losers.isEmpty ? "the values stay" : "objects of \(losers.joined(separator: ", ")) lose theirs")
      }
    }
  }
}

/// Entities without a common ancestor that have one in the new version, which no lightweight migration
/// supports: their rows are in different tables, with separate primary keys.
private struct HierarchyMerges {
  private let _matching: SchemaMatching
  /// Entities of the new version that existed before, by their new root.
  private var _families: [String: [(name: String, oldRoot: String, line: Set<String>)]] = [:]

  init(_ matching: SchemaMatching) {
    _matching = matching
    for name in matching.new.names {
      guard let source = matching.source(of: name) else { continue }
      let line = matching.new.line(name).map(\.name)
      _families[line.last ?? name, default: []].append((name, matching.old.root(source), Set(line)))
    }
  }

  /// An old entity that shares an ancestor with this one only in the new version.
  func stranger(to name: String) -> String? {
    let family = _families[_matching.new.root(name)] ?? []
    guard let own = family.first(where: { $0.name == name }) else { return nil }
    return family.first { other in
      other.oldRoot != own.oldRoot && !own.line.contains(other.name) && !other.line.contains(name)
    }?.name
  }
}

extension EntitySchema {
  /// Whether the entity declares a transient property of this name.
  fileprivate func _isTransient(_ name: String) -> Bool {
    attributes.contains { $0.name == name && $0.isTransient }
      || relationships.contains { $0.name == name && $0.traits.isTransient }
  }
}
