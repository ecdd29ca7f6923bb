import CoreDataModelSchema
import Testing

/// Core Data's rules for lightweight migration, one by one.
@Suite struct SchemaDiffRuleTests {
  private func entity(
    _ name: String, parent: String? = nil, was identifier: String? = nil, isAbstract: Bool = false,
    _ attributes: [AttributeSchema] = [], _ relationships: [RelationshipSchema] = []
  ) -> EntitySchema {
    var entity = EntitySchema(name: name, parent: parent)
    entity.renamingIdentifier = identifier
    entity.isAbstract = isAbstract
    entity.attributes = attributes
    entity.relationships = relationships
    return entity
  }

  private func attribute(
    _ name: String, _ type: AttributeType = .string, isOptional: Bool = true, was identifier: String? = nil,
    default value: SchemaLiteral? = nil
  ) -> AttributeSchema {
    AttributeSchema(
      traits: PropertyTraits(name: name, isOptional: isOptional, renamingIdentifier: identifier), type: type,
      defaultValue: value)
  }

  private func link(
    _ name: String, to destination: String, isToMany: Bool = false, isOrdered: Bool = false,
    isOptional: Bool = true,
    was identifier: String? = nil
  ) -> RelationshipSchema {
    RelationshipSchema(
      traits: PropertyTraits(name: name, isOptional: isOptional, renamingIdentifier: identifier),
      destination: destination,
      inverse: nil, maxCount: isToMany ? 0 : 1, isOrdered: isOrdered)
  }

  /// Returns "place: change: verdict" for each difference.
  private func changes(_ old: [EntitySchema], _ new: [EntitySchema]) -> [String] {
    SchemaDiff(from: ModelSchema(entities: old), to: ModelSchema(entities: new)).changes.map { change in
      let place = change.property.map { "\(change.entity).\($0)" } ?? change.entity
      return "\(place): \(change.what): \(change.verdict)"
    }
  }

  // MARK: Hashes

  /// An entity that differs in everything that hashes leave out, or does not.
  private func unhashed(_ isOther: Bool) -> EntitySchema {
    var derived = attribute("count", isOther ? .integer64 : .integer32, isOptional: !isOther)
    derived.derivationExpression = "items.@count"
    var transient = attribute("shown", isOptional: isOther)
    transient.traits.isTransient = true
    var own = entity("A", [attribute("x", default: isOther ? .string("-") : nil), derived])
    own.attributes += isOther ? [transient] : [transient, attribute("gone")]
    if !isOther { own.attributes[3].traits.isTransient = true }
    own.className = isOther ? "Other" : nil
    if isOther { own.indexes = [FetchIndexSchema(name: "byX", elements: [.init(property: "x")])] }
    return own
  }

  @Test func `Models with equal hashes are the same, and the rest is noted`() {
    let diff = SchemaDiff(
      from: ModelSchema(entities: [unhashed(false)]), to: ModelSchema(entities: [unhashed(true)]))
    #expect(diff.isSameVersion)
    #expect(
      Set(diff.changes.map(\.what)) == [
        "class is Other", "indexes changed", "default changed", "Integer 32 became Integer 64",
        "made optional", "removed",
      ])
    #expect(diff.changes.allSatisfy { $0.verdict == .free })
  }

  @Test func `Whatever changes a hash is named`() {
    func diff(_ change: (inout EntitySchema) -> Void) -> SchemaDiff {
      let old = entity("A", [attribute("x")], [link("a", to: "A", isToMany: true)])
      var new = old
      change(&new)
      return SchemaDiff(from: ModelSchema(entities: [old]), to: ModelSchema(entities: [new]))
    }
    for changed in [
      diff { $0.attributes[0].preservesValueInHistoryOnDeletion = true },
      diff { $0.relationships[0].traits.versionHashModifier = "2" },
      diff { $0.relationships[0].traits.isTransient = true },
    ] {
      #expect(!changed.isSameVersion)
      #expect(changed.changes.map(\.verdict) == [.inferred])
    }
  }

  // MARK: Entities

  @Test func `Entities are added and removed`() {
    #expect(
      changes([entity("A")], [entity("A"), entity("B", [attribute("b", isOptional: false)])]) == [
        "B: entity added: inferred"
      ])
    #expect(changes([entity("A"), entity("B")], [entity("A")]) == ["B: entity removed: loses"])
  }

  @Test func `An entity is renamed by its identifier`() {
    #expect(
      changes([entity("A", [attribute("x")])], [entity("B", was: "A", [attribute("x")])]) == [
        "B: renamed from A: inferred"
      ])
  }

  @Test func `Versions that keep the first name can be skipped`() {
    let first = entity("A", [attribute("x")])
    let second = entity("B", was: "A", [attribute("y", was: "x")])
    let third = entity("C", was: "A", [attribute("z", was: "x")])
    let expected = ["inferred", "inferred"]
    for (old, new) in [(first, second), (second, third), (first, third)] {
      #expect(changes([old], [new]).map { String($0.split(separator: " ").last!) } == expected)
    }
  }

  @Test func `A new parent takes properties up without loss`() {
    let old = [entity("A", [attribute("name")])]
    let new = [entity("P", isAbstract: true, [attribute("name")]), entity("A", parent: "P")]
    #expect(
      changes(old, new) == [
        "A: parent is P: inferred", "P: entity added: inferred", "P.name: moved up from A: inferred",
      ])
  }

  @Test func `Properties move down a hierarchy`() {
    let old = [
      entity("P", isAbstract: true, [attribute("name")]), entity("A", parent: "P"), entity("B", parent: "P"),
    ]
    let toBoth = [
      entity("P", isAbstract: true), entity("A", parent: "P", [attribute("name")]),
      entity("B", parent: "P", [attribute("name")]),
    ]
    #expect(
      changes(old, toBoth) == [
        "A.name: moved from P: inferred", "B.name: moved from P: inferred",
        "P.name: moved down to A, B: inferred",
      ])
    let toOne = [
      entity("P", isAbstract: true), entity("A", parent: "P", [attribute("name")]), entity("B", parent: "P"),
    ]
    #expect(changes(old, toOne) == ["A.name: moved from P: inferred", "P.name: moved down to A: loses"])
  }

  @Test func `A property moved up is required of all who get it`() {
    let old = [
      entity("P", isAbstract: true), entity("A", parent: "P", [attribute("n", isOptional: false)]),
      entity("B", parent: "P"),
    ]
    let new = [
      entity("P", isAbstract: true, [attribute("n", isOptional: false)]), entity("A", parent: "P"),
      entity("B", parent: "P"),
    ]
    #expect(changes(old, new) == ["P.n: moved up from A: fails"])
  }

  @Test func `An entity leaves its hierarchy, keeping what it inherited`() {
    let old = [entity("P", [attribute("name")]), entity("A", parent: "P")]
    let new = [entity("P", [attribute("name")]), entity("A", [attribute("name")])]
    #expect(changes(old, new) == ["A: parent is none: inferred", "A.name: moved from P: inferred"])
  }

  @Test func `Removing a parent keeps what its children declare`() {
    let old = [entity("P", isAbstract: true, [attribute("a"), attribute("b")]), entity("A", parent: "P")]
    let new = [entity("A", [attribute("a")])]
    #expect(
      changes(old, new) == [
        "A: parent is none: inferred", "A.a: moved from P: inferred", "A.b: removed: loses",
        "P: entity removed: inferred",
      ])
  }

  @Test func `Hierarchies that had nothing in common cannot be merged`() {
    let old = [entity("A"), entity("B")]
    let new = [entity("P", isAbstract: true), entity("A", parent: "P"), entity("B", parent: "P")]
    #expect(
      changes(old, new) == [
        "A: parent is P: blocked", "B: parent is P: blocked", "P: entity added: inferred",
      ])
    let siblings = [entity("P"), entity("A", parent: "P"), entity("B")]
    #expect(
      changes(siblings, [entity("P"), entity("A", parent: "P"), entity("B", parent: "P")]) == [
        "B: parent is P: blocked"
      ])
    #expect(
      changes([entity("P"), entity("B")], [entity("P"), entity("B", parent: "P")]) == [
        "B: parent is P: inferred"
      ])
  }

  @Test func `A renamed parent is the same parent`() {
    let old = [entity("P"), entity("A", parent: "P")]
    #expect(
      changes(old, [entity("Q", was: "P"), entity("A", parent: "Q")]) == ["Q: renamed from P: inferred"])
  }

  @Test func `Indexes alone bring no migration about`() {
    var indexed = entity("A", [attribute("x")])
    indexed.indexes = [FetchIndexSchema(name: "i", elements: [.init(property: "x")])]
    #expect(changes([entity("A", [attribute("x")])], [indexed]) == ["A: indexes changed: free"])
    indexed.versionHashModifier = "2"
    #expect(
      changes([entity("A", [attribute("x")])], [indexed]) == [
        "A: version hash modifier changed: inferred", "A: indexes changed: inferred",
      ])
  }

  @Test func `A constraint moved to a subentity is unchanged`() {
    var parent = entity("P", isAbstract: true, [attribute("n")])
    parent.uniquenessConstraints = [["n"]]
    var child = entity("A", [attribute("n")])
    child.uniquenessConstraints = [["n"]]
    let found = changes([parent, entity("A", parent: "P")], [child])
    #expect(!found.contains { $0.contains("uniqueness") })
    child.uniquenessConstraints = []
    #expect(
      changes([parent, entity("A", parent: "P")], [child]).contains(
        "A: uniqueness constraints changed: inferred"))
  }

  // MARK: Attributes

  @Test func `A required attribute without default fails without values`() {
    let old = [entity("A", [attribute("x", .integer16)])]
    #expect(
      changes(old, [entity("A", [attribute("x", .integer16, isOptional: false)])]) == [
        "A.x: made required: fails"
      ])
    #expect(
      changes([entity("A")], [entity("A", [attribute("x", .integer16, isOptional: false)])]) == [
        "A.x: attribute added: fails"
      ])
    #expect(
      changes(old, [entity("A", [attribute("x", .integer16, isOptional: false, default: .integer(1))])]) == [
        "A.x: made required: inferred", "A.x: default changed: free",
      ])
    #expect(
      changes([entity("A", [attribute("x", isOptional: false)])], [entity("A", [attribute("x")])]) == [
        "A.x: made optional: inferred"
      ])
  }

  private func becomes(_ old: AttributeType, _ new: AttributeType) -> [String] {
    changes([entity("A", [attribute("x", old)])], [entity("A", [attribute("x", new)])])
  }

  private static let numeric: [AttributeType] = [
    .boolean, .integer16, .integer32, .integer64, .decimal, .double, .float,
  ]

  @Test func `Numbers become numbers of other types`() {
    for old in Self.numeric {
      for new in Self.numeric where new != old {
        #expect(becomes(old, new).first?.hasSuffix("blocked") == false)
      }
    }
    #expect(becomes(.integer16, .integer32) == ["A.x: Integer 16 became Integer 32: inferred"])
    #expect(becomes(.boolean, .float) == ["A.x: Boolean became Float: inferred"])
    #expect(becomes(.float, .double) == ["A.x: Float became Double: inferred"])
    #expect(becomes(.integer64, .decimal) == ["A.x: Integer 64 became Decimal: inferred"])
  }

  @Test func `A comparison says what numbers of a smaller type may lose`() {
    func why(_ old: AttributeType, _ new: AttributeType) -> String {
      SchemaDiff(
        from: ModelSchema(entities: [entity("A", [attribute("x", old)])]),
        to: ModelSchema(entities: [entity("A", [attribute("x", new)])])
      ).changes.first { $0.verdict == .loses }?.why ?? ""
    }
    #expect(why(.integer32, .integer16).contains("-32768 to 32767"))
    #expect(why(.double, .integer64).contains("fractions are cut off"))
    #expect(why(.integer64, .double).contains("9007199254740992"))
    #expect(why(.integer32, .float).contains("16777216"))
    #expect(why(.double, .float).contains("7 digits"))
    #expect(why(.decimal, .double).contains("17 digits"))
    #expect(why(.integer16, .boolean).contains("0 becomes false"))
  }

  @Test func `No other type becomes another`() {
    #expect(becomes(.string, .integer16) == ["A.x: String became Integer 16: blocked"])
    #expect(becomes(.date, .double) == ["A.x: Date became Double: blocked"])
  }

  @Test func `An attribute renamed without identifier loses its values`() {
    #expect(
      changes([entity("A", [attribute("x")])], [entity("A", [attribute("y")])]) == [
        "A.y: attribute added: inferred", "A.x: removed: loses",
      ])
  }

  @Test func `Two names can be exchanged`() {
    let old = [entity("A", [attribute("x"), attribute("y")])]
    var new = entity("A", [attribute("x", was: "y"), attribute("y", was: "x")])
    // Their hash is that of the old ones: no store is migrated.
    #expect(changes(old, [new]) == ["A.x: renamed from y: free", "A.y: renamed from x: free"])
    new.versionHashModifier = "2"
    #expect(
      changes(old, [new]) == [
        "A: version hash modifier changed: inferred", "A.x: renamed from y: inferred",
        "A.y: renamed from x: inferred",
      ])
  }

  // MARK: Relationships

  @Test func `Relationships are added, removed, renamed and made to-many`() {
    let old = [entity("A", [], [link("one", to: "A")])]
    #expect(changes(old, [entity("A")]) == ["A.one: removed: loses"])
    #expect(changes([entity("A")], old) == ["A.one: relationship added: inferred"])
    #expect(
      changes(old, [entity("A", [], [link("other", to: "A", was: "one")])]) == [
        "A.other: renamed from one: inferred"
      ])
    #expect(
      changes(old, [entity("A", [], [link("one", to: "A", isToMany: true)])]) == [
        "A.one: made to-many: inferred"
      ])
  }

  @Test func `Mandatory relationships can be added`() {
    for isToMany in [true, false] {
      let optional = [entity("A", [], [link("to", to: "A", isToMany: isToMany)])]
      let mandatory = [entity("A", [], [link("to", to: "A", isToMany: isToMany, isOptional: false)])]
      #expect(changes([entity("A")], mandatory) == ["A.to: relationship added: inferred"])
      #expect(changes(optional, mandatory) == ["A.to: made required: inferred"])
    }
  }

  @Test func `Order comes and goes`() {
    let set = [entity("A", [], [link("many", to: "A", isToMany: true)])]
    let list = [entity("A", [], [link("many", to: "A", isToMany: true, isOrdered: true)])]
    #expect(changes(set, list) == ["A.many: made ordered: inferred"])
    #expect(changes(list, set) == ["A.many: made unordered: inferred"])
  }

  @Test func `A destination may be renamed or be kin, but no stranger`() {
    let old = [entity("A", [], [link("to", to: "B")]), entity("B"), entity("C", parent: "B"), entity("D")]
    func now(_ destination: String) -> [EntitySchema] {
      [entity("A", [], [link("to", to: destination)]), entity("B"), entity("C", parent: "B"), entity("D")]
    }
    #expect(changes(old, now("C")) == ["A.to: destination is C: inferred"])
    #expect(changes(old, now("D")) == ["A.to: destination is D: blocked"])
    let renamed = [
      entity("A", [], [link("to", to: "E")]), entity("E", was: "B"), entity("C", parent: "E"), entity("D"),
    ]
    #expect(changes(old, renamed) == ["E: renamed from B: inferred"])
  }
}
