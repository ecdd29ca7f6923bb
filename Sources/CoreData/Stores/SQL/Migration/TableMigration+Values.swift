import CoreDataModelSchema

/// Objects without a value in an attribute that has become mandatory.
package struct MissingValuesError: Error, CustomStringConvertible {
  package let entity: String
  package let attribute: String

  /// Core Data's wording of the failure.
  package static let reason = "Validation error missing attribute values on mandatory destination attribute"

  package var description: String { "\(Self.reason) '\(entity).\(attribute)'" }
}

extension TableMigration {
  /// Checks that all rows have values in attributes which became mandatory and have no default.
  ///
  /// - Throws: `MissingValuesError`, or an error of the database.
  package func checkMandatoryValues() throws {
    for pair in plan.flows.flatMap(\.pairs) {
      for slot in pair.new.slots.indices where _mayMissValues(slot, pair) {
        guard case .attribute(let column) = new.storage(of: slot, in: pair.new.entityNumber) else { continue }
        let table = new.table(of: pair.new.entityNumber)
        let isMissing = try database.finds(
          "SELECT 1 FROM \(table.name) WHERE \(entityColumn) = \(new.numbers.stored(for: pair.new.entityNumber)) "
            + "AND \(table.columns[column].name) IS NULL LIMIT 1")
        if isMissing {
          throw MissingValuesError(entity: pair.new.entityName, attribute: pair.new.slots[slot].name)
        }
      }
    }
  }

  private func _mayMissValues(_ slot: Int, _ pair: MigrationPlan.Pair) -> Bool {
    guard let attribute = pair.new.slots[slot].attribute, !attribute.isDerived,
      !attribute.toleratesMissingValues
    else { return false }
    guard let source = plan.attributeSource(of: slot, in: pair) else { return true }
    return pair.old.slots[source].isOptional || pair.old.slots[source].isTransient
  }
}

extension PropertyLayout {
  /// Returns the element of a composite attribute that a column stores.
  package func element(_ leaf: CompositeLeaf, in slot: Int) -> AttributeSchema? {
    var elements = slots[slot].attribute?.elements ?? []
    var element: AttributeSchema?
    for step in leaf.path {
      guard step < elements.count else { return nil }
      element = elements[step]
      elements = elements[step].elements
    }
    return element
  }
}
