import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

// Delete rules for rows that other writers have linked to the deleted ones since their members were read.

extension PostgreSQLSave {
  private var _links: PostgreSQLRowLinks { PostgreSQLRowLinks(engine: engine, connection: connection) }

  /// Applies the rules to rows that still point at a deleted one after everything else is written. One
  /// statement checks whether there are any. Deny can no longer be checked and clears the link, as Nullify
  /// does.
  func followRules(recordingIn entry: PostgreSQLHistoryEntry?) throws {
    let deleted = DeleteRules.reaching(changes, mapping.layout)
    if deleted.isEmpty { return }
    var rules = DeleteRules(mapping.layout, deleting: deleted)
    guard try _arePointedAt(rules.links([.nullify, .cascade, .deny])) else { return }
    try rules.follow(members: _links.members)
    cascaded = rules.cascaded
    for link in rules.links([.nullify, .deny]) where !link.entity.slots[link.inverse].isHidden {
      let written = _writtenKeys(ofRoot: link.entity.rootNumber)
      for key in try _links.clear(link, sparing: rules, written: written) {
        cutSlots[key, default: SlotSet()].insert(link.inverse)
      }
    }
    guard !cascaded.isEmpty else { return }
    try entry?.recordDeletions(of: cascaded)
    _ = try _links.delete(rules.cascadedKeys.map { ($0.space.layout, $0.keys) })
  }

  /// Whether any row points at deleted ones.
  private func _arePointedAt(_ links: [DeleteRules.Link]) throws -> Bool {
    var parameters = PostgreSQLParameters()
    var conditions: [String] = []
    for link in links {
      guard
        case .toOne(let column, _, _, _) = mapping.storage(of: link.inverse, in: link.entity.entityNumber)
      else { continue }
      let table = mapping.table(of: link.entity.entityNumber)
      parameters.add(PostgreSQLArray(link.keys))
      conditions.append(
        "EXISTS (SELECT 1 FROM \(table.name) WHERE \(table.columns[column].name) = ANY($\(conditions.count + 1)::int8[]))"
      )
    }
    if conditions.isEmpty { return false }
    let found = try connection.run("SELECT \(conditions.joined(separator: " OR "))", parameters)
    return found.rowCount > 0 && found.int64(0, 0) != 0
  }

  /// Keys of the rows of a table that the save itself updates or inserts, or whose to-one it has cleared.
  private func _writtenKeys(ofRoot root: Int) -> [Int64] {
    var keys = changes.updated.compactMap(\.id.key) + cutSlots.keys
    keys.removeAll { $0.space.layout.rootNumber != root }
    return keys.map(\.reference)
      + zip(changes.inserted, insertedKeys).compactMap { insertion, key in
        insertion.id.space.layout.rootNumber == root ? key : nil
      }
  }

  /// Records the updates of the save, and the to-ones that rules have cleared.
  func recordUpdates(in entry: PostgreSQLHistoryEntry) {
    var cuts = cutSlots
    for update in changes.updated {
      let cut = cuts.removeValue(forKey: update.id.key!) ?? SlotSet()
      entry.recordUpdate(
        of: update.id.key!.reference, entity: update.id.space.layout.entityNumber,
        changed: update.changed.union(cut))
    }
    for (index, insertion) in changes.inserted.enumerated() where !cuts.isEmpty {
      let space = engine.spaces[insertion.id.space.layout.entityNumber - 1]
      cuts[ObjectKey(space: space, reference: insertedKeys[index])] = nil
    }
    for (key, slots) in cuts.sorted(by: { $0.key.reference < $1.key.reference }) {
      entry.recordUpdate(of: key.reference, entity: key.space.layout.entityNumber, changed: slots)
    }
  }

  /// The effects of the rules, with the rows as they are stored now.
  func followedRules() throws -> FollowedRules {
    try FollowedRules(cutting: cutSlots, deleting: cascaded) { try engine.rows(for: $0, on: connection) }
  }
}
