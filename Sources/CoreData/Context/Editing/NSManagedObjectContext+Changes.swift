import CoreDataModelSchema
import Foundation

// Inserting, changing and deleting objects.

extension NSManagedObjectContext {
  // MARK: Inserting

  final func insertObject(_ object: NSManagedObject) {
    if object._context === self { return _insertAgain(object) }
    if let other = object._context {
      programmerError("an object of \(other.label) cannot be inserted into \(label).")
    }
    if !_owns(object._entity, object._layout) {
      programmerError(
        "entity '\(object._layout.entityName)' is not of the model that \(label) works with. Take the entity from "
          + "NSEntityDescription.entity(forEntityName:in:).")
    }
    undoRecorder?.willChange(object, isAlive: false)
    object.join(self)
    object.willChangeState()
    object.makeDraftOwn()
    object._state.insert(checked: isChecked, recordingReads: recordsReads)
    object._relations?.forEachToMany { slot, _ in
      readMembers.insert(kind: object._layout.slots[slot].relationship!.destination)
    }
    table.insert(object)
    unsaved.append(object)
    unsaved.hasInsertions = true
    events.changed.append(object)
    overlay.markStale()
    scheduleFlush()
    object.awakeFromInsert()
  }

  /// Reports a registered object as inserted, now and with the next save, as Core Data does.
  private final func _insertAgain(_ object: NSManagedObject) {
    if object._flags.contains(.deleted) { return }
    object._state.insertAgain()
    list(object)
  }

  /// Whether an entity belongs to the context's model, or the context has none.
  private final func _owns(_ entity: NSEntityDescription, _ layout: PropertyLayout) -> Bool {
    if memo.model == nil, frozen == nil { return true }
    let entities = memo.model.unsafelyUnwrapped.entities
    return layout.entityNumber <= entities.count && entities[layout.entityNumber - 1] === entity
  }

  // MARK: Changing

  /// Marks an object as changed. Cheap if it is marked already.
  @inline(__always)
  final func markChanged(_ object: NSManagedObject) {
    if object._flags.isRecordedAsChanged { return }
    object._state.change()
    list(object)
  }

  /// Adds an object to the lists of unsaved and unannounced objects.
  final func list(_ object: NSManagedObject) {
    if !object._flags.contains(.listed) { unsaved.append(object) }
    if !object._flags.contains(.eventListed) { events.changed.append(object) }
    object._state.list()
    overlay.markStale()
    scheduleFlush()
  }

  /// Lists an object for the next change notification only.
  final func recordEvent(_ object: NSManagedObject, _ flag: ObjectFlags) {
    if !object._flags.contains(.eventListed) { events.changed.append(object) }
    object._state.recordEvent(flag)
  }

  // MARK: Deleting

  final func deleteObject(_ object: NSManagedObject) {
    guard let context = object._context else { return }
    guard context === self else {
      programmerError(
        "an attempt to delete an object of \(context.label) in \(label). Delete this context's own object: "
          + "object(with: other.objectID).")
    }
    object.prepareForDeletion()
    guard !object._flags.contains(.deleted) else { return }
    markDeleted(object)
    events.deletions.append(object)
  }

  /// Removes an object from the list of unsaved objects.
  final func unlist(_ object: NSManagedObject) {
    guard object._flags.contains(.listed) else { return }
    object._state.unlist()
    unsaved.remove(object)
  }
}
