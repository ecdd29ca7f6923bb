import CoreDataModelSchema
import Foundation

// Adopting the rows that the stores' delete rules changed beyond a save, because others had linked them to
// deleted rows.

extension CommitPass {
  /// Updates the registered objects whose rows the delete rules have cut or deleted; the save reports them as
  /// updated and deleted.
  ///
  /// - Returns: The entries with the rules applied, followed by entries for rows outside the save.
  func mergeFollowed(_ followed: FollowedRules, into entries: [ChangeLayer.Entry]) -> [ChangeLayer
    .Entry]
  {
    context.undoRecorder?.suspensions += 1
    defer { context.undoRecorder?.suspensions -= 1 }
    var rest: [IdentityKey: ChangeLayer.Entry] = [:]
    for cut in followed.cut {
      rest[IdentityKey(cut.key)] = ChangeLayer.Entry(
        kind: .updated, id: NSManagedObjectID(cut.key), base: cut.row, row: cut.row, changed: cut.slots,
        isWhole: false)
    }
    for key in followed.deleted {
      rest[IdentityKey(key)] = ChangeLayer.Entry(
        kind: .deleted, id: NSManagedObjectID(key), base: nil, row: nil, changed: SlotSet(), isWhole: false)
    }
    var result = entries.map { entry -> ChangeLayer.Entry in
      guard let more = rest.removeValue(forKey: IdentityKey(entry.id)) else { return entry }
      return more.kind == .deleted ? _deleted(entry) : _cut(entry, more.changed)
    }
    for entry in rest.values {
      _show(entry)
      result.append(entry)
    }
    return result
  }

  /// Returns the entry of an object that was saved with a link to a deleted one.
  private func _cut(_ entry: ChangeLayer.Entry, _ slots: SlotSet) -> ChangeLayer.Entry {
    guard let row = entry.row else { return entry }
    var cut = Row(copying: row, version: row.version)
    slots.forEach { cut.set(.null, at: $0) }
    if let object = context.table.object(for: entry.id) {
      object.share(cut)
      object._relations?.dropTargets(slots)
    }
    return ChangeLayer.Entry(
      kind: entry.kind, id: entry.id, base: entry.base, row: cut, changed: entry.changed.union(slots),
      isWhole: entry.isWhole)
  }

  /// Returns the entry of an object that was saved and then deleted by a rule.
  private func _deleted(_ entry: ChangeLayer.Entry) -> ChangeLayer.Entry {
    let deletion = ChangeLayer.Entry(
      kind: .deleted, id: entry.id, base: entry.base, row: nil, changed: SlotSet(), isWhole: false)
    _show(deletion)
    return deletion
  }

  private func _show(_ entry: ChangeLayer.Entry) {
    guard let object = context.table.object(for: entry.id) else {
      if entry.kind == .updated { context.observers.noteUnseenMerge(entry.id, entry.row) }
      return
    }
    context.saving.followed.append(object)
    context.saving.showsNews = true
    guard let row = entry.row else {
      // The save has stored an insertion before the rule deletes the row.
      object._state.cancelInsertion()
      context.editing.markDeleted(object, as: .settled)
      context.links.forgetMembers([object])
      return
    }
    if object.isFault {
      context.links.attachRowToFault(object._row == nil ? nil : row, at: object)
    } else {
      context.links.show(row, at: object)
    }
    context.editing.recordEvent(object, .eventUpdated)
  }
}
