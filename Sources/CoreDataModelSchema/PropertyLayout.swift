/// Maps the property names of one entity to slot numbers.
///
/// Created once, when a model is first used and so becomes immutable. A subentity extends its parent's slots:
/// a slot number denotes the same property in every subentity of the entity that declares it. Hot paths use
/// slots, never dictionaries of names.
package final class PropertyLayout: Sendable {
  /// A relationship as the engine sees it: entity and slot numbers, no names.
  package struct Relationship: Sendable {
    /// `entityNumber` of the destination.
    package let destination: Int
    /// Slot of the inverse in the destination's layout; nil without an inverse.
    package let inverseSlot: Int?
    package let isToMany: Bool
    package let isOrdered: Bool
    package let deleteRule: DeleteRule
    package let minCount: Int
    package let maxCount: Int
    /// Whether both ends are to-many, so that a join table stores them.
    package let isManyToMany: Bool
    /// Whether this is a to-many whose inverse is a to-one of the model. The members' to-ones alone determine
    /// the members.
    package let isOneToMany: Bool

    /// Whether unsaved changes of this to-many are recorded with its owner: those of a many-to-many, those
    /// without inverse, and the order of an ordered one.
    package var recordsMembers: Bool { isToMany && (isOrdered || !isOneToMany) }
  }

  package enum Kind: Sendable {
    case attribute(AttributeSchema)
    case relationship(Relationship)
  }

  /// Indirect, so that copying a slot costs one retain and not one for each of the attribute's strings.
  private indirect enum Attribute: Sendable { case schema(AttributeSchema) }

  package struct Slot: Sendable {
    package let name: String
    private let _attribute: Attribute?
    /// The relationship; nil for an attribute. Reading it does not copy the rest of the slot.
    package let relationship: Relationship?
    package let isOptional: Bool
    package let isTransient: Bool
    /// True for the to-one that the engine adds to the destination of a to-many without inverse.
    package let isHidden: Bool
    /// `entityNumber` of the entity that declares the property.
    package let owner: Int
    /// Type of an attribute; nil for a relationship.
    package let type: AttributeType?
    /// How values of the attribute are represented; nil for a relationship.
    package var form: AttributeForm? { type?.form }
    /// Whether the store computes the attribute's values.
    package let isDerived: Bool
    package let isToMany: Bool
    package let isToOne: Bool

    init(name: String, kind: Kind, isOptional: Bool, isTransient: Bool, isHidden: Bool, owner: Int) {
      self.name = name
      self.isOptional = isOptional
      self.isTransient = isTransient
      self.isHidden = isHidden
      self.owner = owner
      switch kind {
      case .attribute(let attribute):
        _attribute = .schema(attribute)
        relationship = nil
        type = attribute.type
        isDerived = attribute.isDerived
        isToMany = false
        isToOne = false
      case .relationship(let relationship):
        _attribute = nil
        self.relationship = relationship
        type = nil
        isDerived = false
        isToMany = relationship.isToMany
        isToOne = !relationship.isToMany
      }
    }

    package var isAttribute: Bool { type != nil }
    package var attribute: AttributeSchema? {
      if case .schema(let attribute) = _attribute { attribute } else { nil }
    }
    package var kind: Kind {
      if let relationship { return .relationship(relationship) }
      guard case .schema(let attribute) = _attribute else { preconditionFailure("a slot has a kind") }
      return .attribute(attribute)
    }
  }

  package let entityName: String
  /// The number of the entity in the SQLite store (Z_ENT), from 1.
  package let entityNumber: Int
  /// Number of the topmost ancestor, whose table all subentities share.
  package let rootNumber: Int
  package let parentNumber: Int?
  package let isAbstract: Bool
  /// Direct and indirect subentities, itself first.
  package let family: [Int]
  package let slots: [Slot]
  /// Slots by name, without hidden ones.
  package let slotsByName: [String: Int]
  private let _names: SlotNames
  /// Slots of to-many relationships.
  package let toManySlots: [Int]
  /// Slots of the to-manys whose unsaved changes are recorded with their owner.
  package let recordedToManySlots: [Int]
  /// Slots of the other to-manys, whose members follow from to-ones alone.
  package let derivedToManySlots: SlotSet
  /// Slots of to-one relationships.
  package let toOneSlots: [Int]
  /// Whether any property is a relationship.
  package let hasRelationships: Bool
  /// Slots of relationships whose rule follows them when an object is deleted: Nullify or Cascade.
  package let followedSlots: [Int]
  /// Slots of relationships whose rule is Deny.
  package let denyingSlots: [Int]
  /// Slots of attributes whose values are encoded to be stored.
  package let transformableSlots: [Int]
  /// Slots of attributes that the store computes.
  package let derivedSlots: [Int]
  package let uniquenessConstraints: [[Int]]
  /// Whether any property is transient.
  package let hasTransients: Bool

  /// - Parameter numbers: The slots by name, hidden ones included.
  init(
    entityName: String, entityNumber: Int, rootNumber: Int, parentNumber: Int?, isAbstract: Bool,
    family: [Int], slots: [Slot], numbers: [String: Int], uniquenessConstraints: [[Int]]
  ) {
    self.entityName = entityName
    self.entityNumber = entityNumber
    self.rootNumber = rootNumber
    self.parentNumber = parentNumber
    self.isAbstract = isAbstract
    self.family = family
    self.slots = slots
    self.uniquenessConstraints = uniquenessConstraints
    var lists = SlotLists()
    for (index, slot) in slots.enumerated() { lists.add(slot, at: index) }
    hasTransients = lists.hasTransients
    slotsByName = lists.hasHidden ? numbers.filter { !slots[$0.value].isHidden } : numbers
    _names = SlotNames(slotsByName)
    toManySlots = lists.toMany
    recordedToManySlots = lists.recordedToMany
    derivedToManySlots = SlotSet(lists.derivedToMany)
    transformableSlots = lists.transformable
    derivedSlots = lists.derived
    toOneSlots = lists.toOne
    hasRelationships = !lists.toOne.isEmpty || !lists.toMany.isEmpty
    followedSlots = lists.followed
    denyingSlots = lists.denying
  }

  /// The slots of each kind, in order.
  private struct SlotLists {
    var toMany: [Int] = [], recordedToMany: [Int] = [], derivedToMany: [Int] = []
    var toOne: [Int] = [], transformable: [Int] = [], derived: [Int] = []
    var followed: [Int] = [], denying: [Int] = []
    var hasTransients = false, hasHidden = false

    mutating func add(_ slot: Slot, at index: Int) {
      if slot.isTransient { hasTransients = true }
      if slot.isHidden { hasHidden = true }
      if slot.type == .transformable { transformable.append(index) }
      if slot.isDerived { derived.append(index) }
      guard let relationship = slot.relationship else { return }
      if relationship.isToMany {
        toMany.append(index)
        if relationship.recordsMembers { recordedToMany.append(index) } else { derivedToMany.append(index) }
      } else {
        toOne.append(index)
      }
      switch relationship.deleteRule {
      case .nullify, .cascade: followed.append(index)
      case .deny: denying.append(index)
      case .noAction: break
      }
    }
  }

  package func slot(named name: String) -> Int? { _names[name] }

  /// Whether this entity is `other` or one of its subentities.
  package func isKind(of other: PropertyLayout) -> Bool { other.family.contains(entityNumber) }
}
