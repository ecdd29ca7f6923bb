import ModelSchema

/// One difference between two versions of a model, and whether a lightweight migration carries it.
struct SchemaChange: Sendable, Hashable {
  enum Verdict: String, Sendable {
    /// Nothing in the store changes.
    case free
    /// Inferred, no data is lost.
    case inferred
    /// Inferred, and what was there goes.
    case loses
    /// Needs a mapping of one's own.
    case blocked
  }

  let entity: String
  let property: String?
  let what: String
  let verdict: Verdict
  let why: String
}

/// Compares two versions of a model, following renaming identifiers.
struct SchemaDiff {
  private(set) var changes: [SchemaChange] = []

  init(from old: ModelSchema, to new: ModelSchema) {
    var gone = Dictionary(old.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in new.entities.sorted(by: { $0.name < $1.name }) {
      let identifier = entity.renamingIdentifier ?? entity.name
      let source =
        gone[identifier] ?? gone[entity.name] ?? old.entities.first { $0.renamingIdentifier == identifier }
      guard let source else {
        _add(entity.name, nil, "entity added", .inferred, "a new table is made")
        continue
      }
      gone[source.name] = nil
      if source.name != entity.name {
        _add(entity.name, nil, "renamed from \(source.name)", .inferred, "its renaming identifier names the old entity")
      }
      _compare(source, entity, old, new)
    }
    for name in gone.keys.sorted() {
      _add(
        name, nil, "entity removed", .loses,
        "its objects are deleted; if it was renamed, set the new entity's renaming identifier to '\(name)'")
    }
  }

  private mutating func _add(
    _ entity: String, _ property: String?, _ what: String, _ verdict: SchemaChange.Verdict, _ why: String
  ) {
    changes.append(SchemaChange(entity: entity, property: property, what: what, verdict: verdict, why: why))
  }

  // MARK: Entities

  private mutating func _compare(_ old: EntitySchema, _ new: EntitySchema, _ before: ModelSchema, _ after: ModelSchema) {
    if old.parent != new.parent { _compareParents(old, new, before, after) }
    if old.isAbstract != new.isAbstract {
      _add(new.name, nil, new.isAbstract ? "made abstract" : "made concrete", .inferred, "the table stays as it is")
    }
    if old.className != new.className {
      _add(new.name, nil, "class is \(new.className ?? "NSManagedObject")", .free, "stores do not know classes")
    }
    if old.uniquenessConstraints != new.uniquenessConstraints {
      _add(
        new.name, nil, "uniqueness constraints changed", .inferred,
        "objects that are in each other's way make the migration fail")
    }
    if old.indexes != new.indexes { _add(new.name, nil, "indexes changed", .inferred, "they are built anew") }
    _compare(new.name, old.attributes, new.attributes, \.traits, added: _added, changed: _compareAttributes)
    _compare(new.name, old.relationships, new.relationships, \.traits, added: _added, changed: _compareRelationships)
  }

  /// Two entities that had no ancestor in common cannot get one: their rows are in different tables.
  private mutating func _compareParents(
    _ old: EntitySchema, _ new: EntitySchema, _ before: ModelSchema, _ after: ModelSchema
  ) {
    let root = Self._root(of: new.name, in: after)
    let oldRoot = Self._root(of: old.name, in: before)
    let merged = after.entities.contains { other in
      Self._root(of: other.name, in: after) == root
        && before.entities.contains { $0.name == other.name }
        && Self._root(of: other.name, in: before) != oldRoot
    }
    _add(
      new.name, nil, "parent is \(new.parent ?? "none")", merged ? .blocked : .inferred,
      merged ? "it joins entities that had no ancestor in common" : "the hierarchy is rebuilt")
  }

  private static func _root(of name: String, in schema: ModelSchema) -> String {
    var seen: Set<String> = []
    var current = name
    while seen.insert(current).inserted, let parent = schema.entities.first(where: { $0.name == current })?.parent {
      current = parent
    }
    return current
  }

  // MARK: Properties

  private typealias Finding = (what: String, verdict: SchemaChange.Verdict, why: String)

  private mutating func _compare<Property>(
    _ entity: String, _ old: [Property], _ new: [Property], _ traits: (Property) -> PropertyTraits,
    added: (Property) -> Finding, changed: (Property, Property) -> [Finding]
  ) {
    var gone = Dictionary(old.map { (traits($0).name, $0) }, uniquingKeysWith: { first, _ in first })
    for property in new.sorted(by: { traits($0).name < traits($1).name }) {
      let own = traits(property)
      let identifier = own.renamingIdentifier ?? own.name
      guard let source = gone[identifier] ?? gone[own.name] else {
        let finding = added(property)
        _add(entity, own.name, finding.what, finding.verdict, finding.why)
        continue
      }
      let oldName = traits(source).name
      gone[oldName] = nil
      if oldName != own.name {
        _add(entity, own.name, "renamed from \(oldName)", .inferred, "its renaming identifier names the old property")
      }
      for finding in changed(source, property) { _add(entity, own.name, finding.what, finding.verdict, finding.why) }
    }
    for name in gone.keys.sorted() {
      _add(
        entity, name, "removed", .loses,
        "its values go; if it was renamed, set the new property's renaming identifier to '\(name)'")
    }
  }

  private func _added(_ attribute: AttributeSchema) -> Finding {
    if attribute.isTransient { return ("transient attribute added", .free, "it is not stored") }
    if attribute.isOptional || attribute.defaultValue != nil || attribute.isDerived {
      return ("attribute added", .inferred, attribute.isOptional ? "it is nil at first" : "it has a value at first")
    }
    return ("attribute added", .blocked, "not optional and without default: existing objects would have no value")
  }

  private func _added(_ relationship: RelationshipSchema) -> Finding {
    relationship.isOptional
      ? ("relationship added", .inferred, "it is empty at first")
      : ("relationship added", .blocked, "not optional: existing objects would have nothing there")
  }

  private func _compareAttributes(_ old: AttributeSchema, _ new: AttributeSchema) -> [Finding] {
    var findings: [Finding] = []
    if old.type != new.type {
      findings.append(
        ("\(old.type.fileName) became \(new.type.fileName)", .blocked, "values of one type are not converted to another"))
    }
    if old.isOptional, !new.isOptional {
      findings.append(
        new.defaultValue != nil
          ? ("made required", .inferred, "where there is no value, the default is put")
          : ("made required", .blocked, "there is no default to put where there is no value"))
    }
    if !old.isOptional, new.isOptional { findings.append(("made optional", .inferred, "the values stay")) }
    if old.isTransient != new.isTransient {
      findings.append(
        new.isTransient
          ? ("made transient", .loses, "its column goes") : ("made persistent", .inferred, "it is nil at first"))
    }
    if old.defaultValue != new.defaultValue {
      findings.append(("default changed", .free, "existing values stay, and stores do not know defaults"))
    }
    if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
      findings.append(("external storage changed", .free, "values move when they are written next"))
    }
    return findings
  }

  private func _compareRelationships(_ old: RelationshipSchema, _ new: RelationshipSchema) -> [Finding] {
    var findings: [Finding] = []
    if !old.isToMany, new.isToMany { findings.append(("made to-many", .inferred, "the one becomes a member")) }
    if old.isToMany, !new.isToMany { findings.append(("made to-one", .loses, "all members but one are let go")) }
    if old.isOrdered != new.isOrdered {
      findings.append((new.isOrdered ? "made ordered" : "made unordered", .inferred, "the members stay"))
    }
    if old.destination != new.destination {
      findings.append(
        ("destination is \(new.destination)", .inferred, "holds if that is \(old.destination) renamed, or its kin"))
    }
    if old.isOptional, !new.isOptional {
      findings.append(("made required", .blocked, "objects that have nothing there would be invalid"))
    }
    if !old.isOptional, new.isOptional { findings.append(("made optional", .inferred, "what is there stays")) }
    if old.deleteRule != new.deleteRule {
      findings.append(("delete rule is \(new.deleteRule)", .free, "stores do not know delete rules"))
    }
    return findings
  }
}
