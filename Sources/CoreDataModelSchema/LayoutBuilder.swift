/// Numbers the entities of a schema and assigns every property a slot.
struct LayoutBuilder {
  private(set) var layouts: [PropertyLayout] = []

  /// With properties in order.
  private let _entities: [String: EntitySchema]
  private let _children: [String: [String]]
  private var _numbers: [String: Int] = [:]

  init(_ schema: ModelSchema) throws {
    var entities: [String: EntitySchema] = [:]
    for entity in schema.entities {
      var entity = entity
      entity.sortProperties()
      guard entities.updateValue(entity, forKey: entity.name) == nil else {
        throw ModelLayoutError(entity: entity.name, reason: "two entities have this name; rename one of them")
      }
    }
    _entities = entities
    var children: [String: [String]] = [:]
    for entity in schema.entities {
      guard let parent = entity.parent else { continue }
      guard entities[parent] != nil else {
        throw ModelLayoutError(
          entity: entity.name, reason: "its parent entity '\(parent)' is not in the model")
      }
      children[parent, default: []].append(entity.name)
    }
    _children = children.mapValues { $0.sorted(by: Self._precedes) }
    try InheritanceRules.check(schema.entities, entities)
    try _build(schema)
  }

  /// Order of siblings in the numbering: by name without regard to case, then by code units.
  private static func _precedes(_ left: String, _ right: String) -> Bool {
    let (l, r) = (left.lowercased(), right.lowercased())
    return l == r ? left < right : l < r
  }

  private mutating func _build(_ schema: ModelSchema) throws {
    let roots = schema.entities.filter { $0.parent == nil }.map(\.name).sorted(by: Self._precedes)
    var order: [String] = []
    func visit(_ name: String) {
      order.append(name)
      for child in _children[name] ?? [] { visit(child) }
    }
    for root in roots { visit(root) }
    for (index, name) in order.enumerated() { _numbers[name] = index + 1 }

    // Numbers first: a slot refers to the number of its inverse, which may be in any other entity.
    var numbering = SlotNumbering(_entities, hidden: _hiddenToOnes(order))
    var count = 0
    for name in order {
      count += try numbering.number(name)
      guard count <= InheritanceRules.propertyLimit else {
        throw ModelLayoutError(
          entity: name,
          reason:
            "the model's entities have more than \(InheritanceRules.propertyLimit) properties, with those they inherit"
        )
      }
    }
    for name in order {
      layouts.append(try _layout(name, numbering))
    }
  }

  /// Returns a hidden to-one for each to-many without inverse, which is stored in its destination.
  private func _hiddenToOnes(_ order: [String]) -> [HiddenToOne] {
    order.flatMap { name in
      _entities[name]!.relationships.filter { $0.isToMany && $0.inverse == nil }
        .sorted { $0.name < $1.name }
        .map {
          HiddenToOne(
            owner: name, relationship: $0.name, destination: $0.destination,
            name: "\(_numbers[name]!)\($0.name)")
        }
    }
  }

  private func _layout(_ name: String, _ numbering: SlotNumbering) throws -> PropertyLayout {
    let entity = _entities[name]!
    // Parents come first.
    let parent = entity.parent.map { layouts[_numbers[$0]! - 1] }
    let number = _numbers[name]!
    var slots = parent?.slots ?? []
    for attribute in entity.attributes {
      guard attribute.type != .undefined || attribute.isTransient else {
        throw ModelLayoutError(
          entity: name, property: attribute.name,
          reason: "has no attribute type, which only a transient attribute may lack; choose one")
      }
      slots.append(
        PropertyLayout.Slot(
          name: attribute.name, kind: .attribute(attribute), isOptional: attribute.isOptional,
          isTransient: attribute.isTransient, isHidden: false, owner: number))
    }
    for relationship in entity.relationships {
      slots.append(try _slot(relationship, in: entity, numbering))
    }
    for hidden in numbering.hidden(in: name) { slots.append(try _slot(hidden, in: entity, numbering)) }
    let constraints = try entity.uniquenessConstraints.map { constraint in
      try constraint.map { attribute in
        guard let slot = slots.firstIndex(where: { !$0.isHidden && $0.name == attribute }) else {
          throw ModelLayoutError(
            entity: name, property: attribute,
            reason: "named by a uniqueness constraint but not a property of the entity")
        }
        return slot
      }
    }
    return PropertyLayout(
      entityName: name, entityNumber: number, rootNumber: parent?.rootNumber ?? number,
      parentNumber: parent?.entityNumber, isAbstract: entity.isAbstract, family: _family(name),
      slots: slots, numbers: numbering.slots(in: name),
      uniquenessConstraints: (parent?.uniquenessConstraints ?? []) + constraints)
  }

  private func _family(_ name: String) -> [Int] {
    [_numbers[name]!] + (_children[name] ?? []).flatMap(_family)
  }

  private func _slot(
    _ relationship: RelationshipSchema, in entity: EntitySchema, _ numbering: SlotNumbering
  ) throws -> PropertyLayout.Slot {
    guard let destination = _numbers[relationship.destination] else {
      throw ModelLayoutError(
        entity: entity.name, property: relationship.name,
        reason: "its destination entity '\(relationship.destination)' is not in the model")
    }
    var inverseSlot: Int?
    var isManyToMany = false
    var isOneToMany = false
    if let inverse = relationship.inverse {
      guard let found = numbering.relationship(inverse, in: relationship.destination) else {
        throw ModelLayoutError(
          entity: entity.name, property: relationship.name,
          reason: "its inverse '\(inverse)' is not a relationship of '\(relationship.destination)'")
      }
      guard found.inverse == relationship.name else {
        throw ModelLayoutError(
          entity: entity.name, property: relationship.name,
          reason: "its inverse '\(relationship.destination).\(inverse)' does not point back to it but to "
            + "'\(found.inverse ?? "nothing")'; set both ends")
      }
      inverseSlot = numbering.slot(inverse, in: relationship.destination)
      isManyToMany = relationship.isToMany && found.isToMany
      // A transient to-one stays in the context that set it.
      isOneToMany =
        relationship.isToMany && !found.isToMany && !relationship.traits.isTransient
        && !found.traits.isTransient
    } else if relationship.isToMany {
      inverseSlot = numbering.slot(
        "\(_numbers[entity.name]!)\(relationship.name)", in: relationship.destination)
    }
    return PropertyLayout.Slot(
      name: relationship.name,
      kind: .relationship(
        PropertyLayout.Relationship(
          destination: destination, inverseSlot: inverseSlot, isToMany: relationship.isToMany,
          isOrdered: relationship.isOrdered, deleteRule: relationship.deleteRule,
          minCount: relationship.minCount, maxCount: relationship.maxCount, isManyToMany: isManyToMany,
          isOneToMany: isOneToMany)),
      isOptional: relationship.isOptional, isTransient: relationship.traits.isTransient, isHidden: false,
      owner: _numbers[entity.name]!)
  }

  private func _slot(
    _ hidden: HiddenToOne, in entity: EntitySchema, _ numbering: SlotNumbering
  ) throws -> PropertyLayout.Slot {
    PropertyLayout.Slot(
      name: hidden.name,
      kind: .relationship(
        PropertyLayout.Relationship(
          destination: _numbers[hidden.owner]!,
          inverseSlot: numbering.slot(hidden.relationship, in: hidden.owner), isToMany: false,
          isOrdered: false, deleteRule: .noAction, minCount: 0, maxCount: 1, isManyToMany: false,
          isOneToMany: false)),
      isOptional: true, isTransient: false, isHidden: true, owner: _numbers[entity.name]!)
  }
}

/// The hidden to-one in the destination of a to-many without inverse.
struct HiddenToOne {
  let owner: String
  let relationship: String
  let destination: String
  let name: String
}

/// Slot numbers by entity and property name, before the slots themselves exist.
struct SlotNumbering {
  private var _slots: [String: [String: Int]] = [:]
  /// With properties in order.
  private let _entities: [String: EntitySchema]
  private let _hidden: [String: [HiddenToOne]]

  init(_ entities: [String: EntitySchema], hidden: [HiddenToOne]) {
    _entities = entities
    _hidden = Dictionary(grouping: hidden, by: \.destination)
  }

  /// Numbers the slots of an entity, inherited ones first, and returns their count. The parent's slots must
  /// have been numbered already.
  ///
  /// - Throws: `ModelLayoutError` if the entity redeclares a name.
  mutating func number(_ name: String) throws -> Int {
    let entity = _entities[name]!
    var slots = entity.parent.flatMap { _slots[$0] } ?? [:]
    func add(_ property: String) throws {
      guard slots.updateValue(slots.count, forKey: property) == nil else {
        throw ModelLayoutError(
          entity: name, property: property,
          reason: "declared twice, here or in a parent entity; rename one of them")
      }
    }
    slots.reserveCapacity(slots.count + entity.attributes.count + entity.relationships.count)
    for index in entity.attributes.indices { try add(entity.attributes[index].traits.name) }
    for index in entity.relationships.indices { try add(entity.relationships[index].traits.name) }
    for hidden in self.hidden(in: name) { slots[hidden.name] = slots.count }
    _slots[name] = slots
    return slots.count
  }

  /// Returns the slots of an entity by name, hidden ones included.
  func slots(in entity: String) -> [String: Int] { _slots[entity] ?? [:] }

  func slot(_ property: String, in entity: String) -> Int? { _slots[entity]?[property] }

  func hidden(in entity: String) -> [HiddenToOne] { _hidden[entity] ?? [] }

  func relationship(_ name: String, in entity: String) -> RelationshipSchema? {
    var next = _entity(entity)
    while let current = next {
      if let found = current.relationships.first(where: { $0.name == name }) { return found }
      next = current.parent.flatMap(_entity)
    }
    return nil
  }

  private func _entity(_ name: String) -> EntitySchema? { _entities[name] }
}
