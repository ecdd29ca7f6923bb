import CoreDataModelSchema

/// Records a save in the store's history.
extension SaveTransaction {
  /// Preserves values of objects about to be deleted, as history requires.
  func keepTombstones(in entry: HistoryEntry?) throws {
    guard let entry else { return }
    for deletion in changes.deleted {
      let number = try layout(of: deletion.id).entityNumber
      try entry.willDelete(key(of: deletion.id, entity: number, slot: 0), entity: number)
    }
  }

  /// Records insertions, updates and deletions, in this order. Call once all have been executed.
  func recordHistory(in entry: HistoryEntry?) throws {
    guard let entry else { return }
    for (index, insertion) in changes.inserted.enumerated() {
      try entry.recordInsertion(of: insertedKeys[index], entity: insertion.id.space.layout.entityNumber)
    }
    for update in changes.updated {
      let number = try layout(of: update.id).entityNumber
      let key = try key(of: update.id, entity: number, slot: 0)
      try entry.recordUpdate(of: key, entity: number, changed: update.changed)
    }
    for deletion in changes.deleted {
      let number = try layout(of: deletion.id).entityNumber
      try entry.recordDeletion(of: key(of: deletion.id, entity: number, slot: 0), entity: number)
    }
    try entry.finish()
  }
}
