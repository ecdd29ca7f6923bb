/// The effect of changes of one property on existing values.
enum PropertyRules {
  static func added(_ attribute: AttributeSchema) -> SchemaFinding {
    if attribute.isTransient { return SchemaFinding("transient attribute added", .free, "it is not stored") }
    if attribute.isDerived {
      return SchemaFinding(
        "derived attribute added", .inferred, "it is computed when its object is saved next")
    }
    if attribute.toleratesMissingValues {
      return SchemaFinding(
        "attribute added", .inferred,
        attribute.isOptional && attribute.migrationDefault == nil
          ? "it is nil at first" : "it has a value at first")
    }
    return SchemaFinding(
      "attribute added", .fails,
      "not optional and without default: a store that has objects of the entity cannot be migrated; give it a default, "
        + "or make it optional")
  }

  static func added(_ relationship: RelationshipSchema) -> SchemaFinding {
    SchemaFinding(
      "relationship added", .inferred,
      relationship.isOptional
        ? "it is empty at first" : "it is empty at first, and \(_checked(relationship))")
  }

  /// Whether and when an empty mandatory relationship is an error, in words.
  private static func _checked(_ relationship: RelationshipSchema) -> String {
    relationship.isToMany && relationship.minCount == 0
      ? "a mandatory to-many without minimum count may be"
      : "that is an error when its object is saved next"
  }

  // MARK: Attributes

  static func changes(_ old: AttributeSchema, _ new: AttributeSchema) -> [SchemaFinding] {
    let findings = _changes(old, new)
    guard old.isTransient, new.isTransient else { return findings }
    return findings.map { SchemaFinding($0.what, .free, "it is transient: stores do not have it") }
  }

  private static func _changes(_ old: AttributeSchema, _ new: AttributeSchema) -> [SchemaFinding] {
    var findings: [SchemaFinding] = []
    if old.type != new.type, !old.isTransient, !new.isTransient {
      findings.append(_typeChange(old.type, new.type))
    }
    if old.isOptional, !new.isOptional, !new.isDerived {
      findings.append(
        new.toleratesMissingValues
          ? SchemaFinding("made required", .inferred, "where there is no value, the default is put")
          : SchemaFinding(
            "made required", .fails,
            "without default: a store that has objects without a value cannot be migrated"))
    }
    if !old.isOptional, new.isOptional {
      findings.append(SchemaFinding("made optional", .inferred, "the values stay"))
    }
    if old.isTransient != new.isTransient {
      findings.append(
        new.isTransient
          ? SchemaFinding("made transient", .loses, "its column goes")
          : SchemaFinding("made persistent", added(new).verdict, added(new).why))
    }
    if old.defaultValue != new.defaultValue {
      findings.append(
        SchemaFinding("default changed", .free, "existing values stay, and stores do not know defaults"))
    }
    if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
      findings.append(
        SchemaFinding("external storage changed", .inferred, "values move when they are written next"))
    }
    if old.derivationExpression != new.derivationExpression {
      findings.append(
        SchemaFinding(
          new.isDerived ? "derivation changed" : "no longer derived", .inferred,
          new.isDerived ? "values are computed when their objects are saved next" : "the values stay"))
    }
    if old.limits != new.limits || old.validations != new.validations {
      findings.append(
        SchemaFinding("validation changed", .free, "values are checked when their objects are saved next"))
    }
    if old.preservesValueInHistoryOnDeletion != new.preservesValueInHistoryOnDeletion {
      findings.append(
        SchemaFinding(
          new.preservesValueInHistoryOnDeletion ? "kept after deletion" : "no longer kept after deletion",
          .inferred, "in the history of deletions from then on"))
    }
    if old.traits.versionHashModifier != new.traits.versionHashModifier {
      findings.append(SchemaFinding("version hash modifier changed", .inferred, "the values stay"))
    }
    return findings + _elementChanges(old.elements, new.elements)
  }

  private static func _typeChange(_ old: AttributeType, _ new: AttributeType) -> SchemaFinding {
    let what = "\(old.fileName) became \(new.fileName)"
    guard let conversion = NumericConversion(from: old, to: new) else {
      return SchemaFinding(what, .blocked, "only numbers are converted, to other types of numbers")
    }
    guard let loss = conversion.loss else { return SchemaFinding(what, .inferred, "the numbers stay") }
    return SchemaFinding(what, .loses, loss)
  }

  private static func _elementChanges(_ old: [AttributeSchema], _ new: [AttributeSchema]) -> [SchemaFinding] {
    let before = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var findings: [SchemaFinding] = []
    for element in new {
      let changes = before[element.name].map { self.changes($0, element) } ?? [added(element)]
      findings += changes.map { change in
        let what = "element \(element.name): \(change.what)"
        // Neither migrations nor saves validate elements of a composite on their own.
        return change.verdict == .fails
          ? SchemaFinding(what, .inferred, "it is nil at first")
          : SchemaFinding(what, change.verdict, change.why)
      }
    }
    let kept = Set(new.map(\.name))
    findings += old.filter { !kept.contains($0.name) }
      .map { SchemaFinding("element \($0.name): removed", .loses, "its values go") }
    return findings
  }

  // MARK: Relationships

  static func changes(
    _ old: RelationshipSchema, _ new: RelationshipSchema, _ matching: SchemaMatching
  ) -> [SchemaFinding] {
    var findings: [SchemaFinding] = []
    if !old.isToMany, new.isToMany {
      findings.append(SchemaFinding("made to-many", .inferred, "the one becomes a member"))
    } else if old.isToMany, !new.isToMany {
      findings.append(SchemaFinding("made to-one", .loses, "all members but one are let go"))
    } else if old.minCount != new.minCount || old.maxCount != new.maxCount {
      findings.append(
        SchemaFinding("counts changed", .inferred, "members are counted when their objects are saved next"))
    }
    if old.isToMany, new.isToMany, old.isOrdered != new.isOrdered {
      findings.append(
        SchemaFinding(
          new.isOrdered ? "made ordered" : "made unordered", .inferred,
          new.isOrdered
            ? "the members stay, in no order that means anything" : "the members stay, their order goes"))
    }
    if matching.target(of: old.destination) != new.destination {
      findings.append(_destinationChange(old, new, matching))
    }
    if (old.inverse == nil) != (new.inverse == nil) {
      findings.append(
        SchemaFinding(
          new.inverse == nil ? "inverse removed" : "inverse is \(new.inverse!)", .inferred, "the members stay"
        ))
    }
    if old.traits.versionHashModifier != new.traits.versionHashModifier {
      findings.append(SchemaFinding("version hash modifier changed", .inferred, "what is there stays"))
    }
    if old.isOptional, !new.isOptional {
      findings.append(
        SchemaFinding(
          "made required", .inferred, "what is there stays; where nothing is, \(_checked(new))"))
    }
    if !old.isOptional, new.isOptional {
      findings.append(SchemaFinding("made optional", .inferred, "what is there stays"))
    }
    if old.deleteRule != new.deleteRule {
      findings.append(
        SchemaFinding("delete rule is \(new.deleteRule)", .free, "stores do not know delete rules"))
    }
    return findings
  }

  private static func _destinationChange(
    _ old: RelationshipSchema, _ new: RelationshipSchema, _ matching: SchemaMatching
  ) -> SchemaFinding {
    let what = "destination is \(new.destination)"
    guard let target = matching.target(of: old.destination) else {
      return SchemaFinding(what, .loses, "the objects that it pointed to are deleted")
    }
    return matching.new.root(target) == matching.new.root(new.destination)
      ? SchemaFinding(what, .inferred, "\(target) is of the same hierarchy")
      : SchemaFinding(
        what, .blocked, "it points to objects of \(target), which are none of \(new.destination)")
  }
}
