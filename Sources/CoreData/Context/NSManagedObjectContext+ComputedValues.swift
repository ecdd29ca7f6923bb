import CoreDataModelSchema
import Foundation

// Values that the store has computed: derived attributes show what a save made of them.

extension NSManagedObjectContext {
  /// Gives objects the rows in which the store has computed values, those of the save and others.
  ///
  /// - Returns: The entries as the store has them now, followed by entries for rows outside of the save.
  final func mergeComputed(_ computed: [StoredObject], into entries: [Layer.Entry]) -> [Layer.Entry] {
    var rows: [IdentityKey: (key: ObjectKey, row: Row)] = [:]
    for object in computed {
      if let row = object.row { rows[IdentityKey(object.key)] = (object.key, row) }
    }
    var result = entries.map { entry -> Layer.Entry in
      guard let (_, stored) = rows.removeValue(forKey: IdentityKey(entry.id)), let row = entry.row else {
        return entry
      }
      let layout = entry.id.space.layout
      let merged = Row(copying: row, version: row.version)
      var changed = entry.changed
      for slot in layout.derivedSlots {
        merged.set(stored[slot], at: slot)
        changed.insert(slot)
      }
      if let object = table.object(for: entry.id), object._draft != nil {
        object._draft = merged
        object._state.shareDraft()
      }
      return Layer.Entry(
        kind: entry.kind, id: entry.id, base: entry.base, row: merged, changed: changed,
        isWhole: entry.isWhole)
    }
    for (key, row) in rows.values {
      let id = NSManagedObjectID(key)
      if let object = table.object(for: id) {
        if object.isFault {
          if object._row != nil { showUnseen(row, at: object) }
        } else if !object.isDirty {
          show(row, at: object)
          recordEvent(object, .eventRefreshed)
        }
      }
      result.append(
        Layer.Entry(
          kind: .updated, id: id, base: row, row: row, changed: SlotSet(key.space.layout.derivedSlots),
          isWhole: false))
    }
    return result
  }
}
