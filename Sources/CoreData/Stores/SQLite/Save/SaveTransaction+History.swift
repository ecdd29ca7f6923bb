import CoreDataModelSchema

/// What a save adds to the store's history.
extension SaveTransaction {
  /// Keeps what history keeps of objects that are about to be deleted.
  func keepTombstones(in entry: HistoryEntry?) throws {
    guard let entry else { return }
    for deletion in changes.deleted {
      let number = try layout(of: deletion.id).entityNumber
      try entry.willDelete(key(of: deletion.id, entity: number, slot: 0), entity: number)
    }
  }

  /// Records insertions, updates and deletions, in this order. Called once all are carried out.
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
