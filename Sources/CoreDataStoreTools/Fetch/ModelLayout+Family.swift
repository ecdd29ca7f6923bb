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
}
