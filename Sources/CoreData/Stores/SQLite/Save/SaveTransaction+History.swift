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
    try _recordInsertions(in: entry)
    var cuts = cutSlots
    for update in changes.updated {
      let number = try layout(of: update.id).entityNumber
      let key = try key(of: update.id, entity: number, slot: 0)
      var changed = update.changed
      if !cuts.isEmpty, let cut = update.id.key.flatMap({ cuts.removeValue(forKey: $0) }) {
        changed.formUnion(cut)
      }
      try entry.recordUpdate(of: key, entity: number, changed: changed)
    }
    if !cuts.isEmpty { try _recordCuts(cuts, in: entry) }
    for deletion in changes.deleted {
      let number = try layout(of: deletion.id).entityNumber
      try entry.recordDeletion(of: key(of: deletion.id, entity: number, slot: 0), entity: number)
    }
    for key in cascaded { try entry.recordDeletion(of: key.reference, entity: key.space.layout.entityNumber) }
    try entry.finish()
  }

  /// Records the cleared to-ones of rows that the save does not write otherwise.
  private func _recordCuts(_ cuts: [ObjectKey: SlotSet], in entry: HistoryEntry) throws {
    let inserted = insertedObjectKeys
    for (key, slots) in cuts.ordered(by: { $0.key.reference < $1.key.reference })
    where !inserted.contains(key) {
      try entry.recordUpdate(of: key.reference, entity: key.space.layout.entityNumber, changed: slots)
    }
  }

  /// Records the insertions; neighbouring rows of one entity together.
  private func _recordInsertions(in entry: HistoryEntry) throws {
    var first = 0
    while first < changes.inserted.count {
      let space = changes.inserted[first].id.space
      var next = first + 1
      while next < changes.inserted.count, changes.inserted[next].id.space === space,
        insertedKeys[next] == insertedKeys[next - 1] + 1
      {
        next += 1
      }
      try entry.recordInsertions(
        of: insertedKeys[first]...insertedKeys[next - 1], entity: space.layout.entityNumber)
      first = next
    }
  }
}
