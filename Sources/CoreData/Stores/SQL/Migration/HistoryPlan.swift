import CoreDataModelSchema

/// How the entries of a store's history follow a migration to another version of the model.
///
/// Entries of a removed entity are deleted. Marks of changed properties, and preserved values, follow their
/// property by name or renaming identifier; those of a removed property are left out.
package struct HistoryPlan {
  /// An old entity and its new version.
  package struct Entity {
    package let old: PropertyLayout
    package let new: PropertyLayout
    /// Number that refers to the entity in the store, and its new value.
    package let storedNumber: (old: Int, new: Int)
    /// Added to the keys of its objects.
    package let offset: Int64
    /// New slot by old slot, of properties that still exist.
    package let slots: [Int: Int]

    /// New name by old name, of properties that still exist.
    package var names: [String: String] {
      Dictionary(
        slots.map { (old.slots[$0].name, new.slots[$1].name) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether every property, and the entity itself, is referred to by the same name, number and keys.
    package var keepsNames: Bool {
      storedNumber.old == storedNumber.new && offset == 0
        && old.slots.allSatisfy { $0.isHidden || names[$0.name] == $0.name }
    }
  }

  /// The entities that still exist, each old one once.
  package let entities: [Entity]

  package init(_ plan: MigrationPlan) {
    var entities: [Entity] = []
    var known: Set<Int> = []
    for flow in plan.flows {
      for pair in flow.pairs where known.insert(pair.old.entityNumber).inserted {
        entities.append(
          Entity(
            old: pair.old, new: pair.new,
            storedNumber: (
              plan.old.numbers.stored(for: pair.old.entityNumber),
              plan.new.numbers.stored(for: pair.new.entityNumber)
            ), offset: flow.offset, slots: Self._slots(of: pair, plan)))
      }
    }
    self.entities = entities
  }

  private static func _slots(of pair: MigrationPlan.Pair, _ plan: MigrationPlan) -> [Int: Int] {
    var slots: [Int: Int] = [:]
    for (number, slot) in pair.new.slots.enumerated() where !slot.isHidden {
      let source =
        slot.relationship == nil
        ? plan.attributeSource(of: number, in: pair) : plan.relationshipSource(of: number, in: pair)
      if let source { slots[source] = number }
    }
    return slots
  }

  /// SQL for the new number of an entity, from a column with the old one.
  package func newNumber(of column: String) -> String {
    _choice(column, \.storedNumber.new, otherwise: column) { $0.storedNumber.old != $0.storedNumber.new }
  }

  /// SQL for the new key of an object, from the columns with the old number of its entity and its old key.
  package func newKey(of key: String, entity: String) -> String {
    entities.contains { $0.offset != 0 }
      ? "\(key) + \(_choice(entity, \.offset, otherwise: "0") { $0.offset != 0 })" : key
  }

  private func _choice(
    _ column: String, _ value: (Entity) -> some BinaryInteger, otherwise: String, _ isWanted: (Entity) -> Bool
  ) -> String {
    let cases = entities.filter(isWanted).map { "WHEN \($0.storedNumber.old) THEN \(value($0))" }
    return cases.isEmpty ? otherwise : "CASE \(column) \(cases.joined(separator: " ")) ELSE \(otherwise) END"
  }
}
