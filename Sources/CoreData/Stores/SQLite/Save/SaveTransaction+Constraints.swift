import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Uniqueness constraints.
extension SaveTransaction {
  /// Clears the old constraint values of all rows that get new ones, so that rows may exchange them.
  func clearExchangedValues() throws {
    for update in changes.updated {
      let layout = try layout(of: update.id)
      let constrained = SlotSet(layout.uniquenessConstraints.joined().filter { update.changed.contains($0) })
      guard !constrained.isEmpty else { continue }
      let plan = plans.update(constrained, of: layout.entityNumber)
      let empty = Row(count: update.row.count, version: update.base.version)
      try connection.withStatement(plan.sql) { statement in
        let index = try bind(empty, plan.cells, entity: layout.entityNumber, to: statement, from: 1)
        statement.bind(update.base.version, at: index)
        statement.bind(try key(of: update.id, entity: layout.entityNumber, slot: 0), at: index + 1)
        statement.bind(update.base.version, at: index + 2)
        try statement.run()
      }
    }
  }

  /// A violation under construction.
  private struct Draft {
    let entityNumber: Int
    let slots: [Int]
    var objects: [NSManagedObjectID]
    var existing: StoredObject?
  }

  /// A constraint, and the row that has its values already.
  private struct Occupied: Hashable {
    let slots: [Int]
    let row: ObjectKey
  }

  /// Translates violations of unique indexes for the caller: constraint, objects of the save, stored object.
  func constraintError() throws -> any Error {
    var drafts: [Draft] = []
    var places: [Occupied: Int] = [:]
    let owners = try _idsByKey()
    for broken in violations {
      let layout = mapping.layout.layout(numbered: broken.entityNumber)
      var isExplained = false
      for slots in layout.uniquenessConstraints {
        let values = slots.map { broken.row[$0] }
        guard !values.contains(where: \.isNull), let found = try _row(with: values, slots, broken) else {
          continue
        }
        isExplained = true
        let occupied = Occupied(
          slots: slots,
          row: ObjectKey(space: engine.spaces[layout.rootNumber - 1], reference: found.key.reference))
        if let place = places[occupied] {
          drafts[place].objects.append(broken.id)
          continue
        }
        places[occupied] = drafts.count
        let other = owners[occupied.row]
        drafts.append(
          Draft(
            entityNumber: layout.entityNumber, slots: slots,
            objects: [other, broken.id].compactMap(\.self), existing: other == nil ? found : nil))
      }
      // The index is not in the model, so there is no constraint to name.
      if !isExplained { return SQLiteStoreError.sqlite(broken.error) }
    }
    return StoreConstraintError(
      violations: drafts.map { draft in
        let layout = mapping.layout.layout(numbered: draft.entityNumber)
        return StoreConstraintError.Violation(
          constraint: draft.slots.map { layout.slots[$0].name }, objects: draft.objects,
          existing: draft.existing)
      })
  }

  /// Returns the objects of the save by key, to distinguish them from stored ones.
  private func _idsByKey() throws -> [ObjectKey: NSManagedObjectID] {
    var result: [ObjectKey: NSManagedObjectID] = [:]
    for (index, insertion) in changes.inserted.enumerated() {
      let space = engine.spaces[insertion.id.space.layout.rootNumber - 1]
      result[ObjectKey(space: space, reference: insertedKeys[index])] = insertion.id
    }
    for update in changes.updated {
      let layout = try layout(of: update.id)
      let reference = try key(of: update.id, entity: layout.entityNumber, slot: 0)
      result[ObjectKey(space: engine.spaces[layout.rootNumber - 1], reference: reference)] = update.id
    }
    return result
  }

  /// Returns another row with these values.
  private func _row(with values: [Value], _ slots: [Int], _ broken: BrokenRow) throws -> StoredObject? {
    let number = broken.entityNumber
    let root = mapping.layout.layout(numbered: number).rootNumber
    let table = mapping.table(of: number)
    var conditions: [String] = []
    var cells: [WriteCell] = []
    for slot in slots {
      switch mapping.storage(of: slot, in: number) {
      case .attribute(let column):
        conditions.append("t0.\(table.columns[column].name) = ?")
        cells.append(.attribute(slot: slot, table.columns[column].content))
      case .toOne(let column, _, _, _):
        conditions.append("t0.\(table.columns[column].name) = ?")
        cells.append(.toOne(slot: slot, hasEntity: false))
      case .none, .oneToMany, .manyToMany, .composite: return nil
      }
    }
    conditions.append("t0.Z_PK <> ?")
    let reader = engine.familyReaders[root - 1]
    let statement = try connection.prepare(
      """
      SELECT \(reader.selectList) FROM \(table.name) t0 \
      WHERE \(conditions.joined(separator: " AND ")) LIMIT 1
      """
    )
    let index = try bind(broken.row, cells, entity: number, to: statement, from: 1)
    statement.bind(broken.key, at: index)
    return try statement.step() ? try reader.object(statement) : nil
  }
}
