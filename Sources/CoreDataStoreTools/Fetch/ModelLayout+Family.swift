import CoreData
import CoreDataModelSchema

/// Stored properties of an entity and its subentities: a table shows objects of all of them.
extension ModelLayout {
  /// A stored property by name, and the entity that has it.
  package struct FamilyProperty {
    package let slot: PropertyLayout.Slot
    /// Number of the entity that has it.
    package let entity: Int
    /// Its place in that entity's layout.
    package let index: Int
  }

  /// The stored property of this name in the entity or the first subentity that has one; nil if there is
  /// none.
  package func storedProperty(_ name: String, of entity: PropertyLayout) -> FamilyProperty? {
    for number in entity.family {
      let member = layout(numbered: number)
      if let index = member.slot(named: name), !member.slots[index].isTransient {
        return FamilyProperty(slot: member.slots[index], entity: number, index: index)
      }
    }
    return nil
  }

  /// Names of all stored properties, sorted.
  package func storedProperties(of entity: PropertyLayout) -> [String] {
    var names: Set<String> = []
    for number in entity.family {
      for slot in layout(numbered: number).slots where !slot.isHidden && !slot.isTransient {
        names.insert(slot.name)
      }
    }
    return names.sorted()
  }

  /// Whether the members of a to-many relationship are recorded with it: neither in their own to-ones nor by the inverse, of
  /// which one side counts, the ordered one if one is.
  func isRecorded(_ slot: PropertyLayout.Slot, of entity: PropertyLayout) -> Bool {
    guard let relationship = slot.relationship, !slot.isHidden, !slot.isTransient else { return false }
    guard relationship.recordsMembers else { return relationship.isToMany && relationship.inverseSlot == nil }
    guard !relationship.isOrdered, relationship.isManyToMany, let inverse = relationship.inverseSlot else {
      return true
    }
    let other = layout(numbered: relationship.destination)
    guard !other.slots[inverse].isHidden else { return true }
    if other.slots[inverse].relationship?.isOrdered == true { return false }
    return (entity.entityName, slot.name) <= (other.entityName, other.slots[inverse].name)
  }
}
