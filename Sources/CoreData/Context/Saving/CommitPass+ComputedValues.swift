import CoreDataModelSchema
import Foundation

// Merging values computed by the store: objects show the derived attributes that their save produced.

extension CommitPass {
  /// Merges rows with store-computed values, of saved objects and others, into the registered objects.
  ///
  /// - Returns: The entries with the stored rows, followed by entries for rows outside the save.
  func mergeComputed(_ computed: [StoredObject], into entries: [ChangeLayer.Entry]) -> [ChangeLayer
    .Entry]
  {
    var rows: [IdentityKey: (key: ObjectKey, row: Row)] = [:]
    for object in computed {
      if let row = object.row { rows[IdentityKey(object.key)] = (object.key, row) }
    }
    var result = entries.map { entry -> ChangeLayer.Entry in
      guard let (_, stored) = rows.removeValue(forKey: IdentityKey(entry.id)), let row = entry.row else {
        return entry
      }
      let layout = entry.id.space.layout
      var merged = Row(copying: row, version: stored.version)
      var changed = entry.changed
      var supersedes = false
      for slot in layout.derivedSlots {
        supersedes = supersedes || !row.hasSameCell(as: stored, at: slot)
        merged.set(slot, from: stored)
        changed.insert(slot)
      }
      if let object = context.table.object(for: entry.id), object._draft != nil {
        object.share(merged)
        if supersedes { context.recordNews(of: object) }
      }
      return ChangeLayer.Entry(
        kind: entry.kind, id: entry.id, base: entry.base, row: merged, changed: changed,
        isWhole: entry.isWhole)
    }
    for (key, row) in rows.values {
      let id = NSManagedObjectID(key)
      let object = context.table.object(for: id)
      if let object, !object.isFault {
        if !object.isDirty {
          context.links.show(row, at: object)
          context.recordNews(of: object)
        }
      } else {
        if let object, object._row != nil { context.links.attachRowToFault(row, at: object) }
        context.observers.noteUnseenMerge(id, row)
        if !context.events.unseenMerges.isEmpty { context.saving.showsNews = true }
      }
      result.append(
        ChangeLayer.Entry(
          kind: .updated, id: id, base: row, row: row, changed: SlotSet(key.space.layout.derivedSlots),
          isWhole: false))
    }
    return result
  }
}
