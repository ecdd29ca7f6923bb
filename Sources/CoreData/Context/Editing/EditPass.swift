import CoreDataModelSchema
import Foundation

/// Inserts, changes and deletes objects: lists them for the next save and for the next change notification.
///
/// Runs on the context's queue.
struct EditPass {
  let context: NSManagedObjectContext

  @inline(__always) init(_ context: NSManagedObjectContext) { self.context = context }

  // MARK: Inserting

  func insert(_ object: NSManagedObject) {
    if object._context === context { return _insertAgain(object) }
    if let other = object._context {
      programmerError("an object of \(other.label) cannot be inserted into \(context.label).")
    }
    if !_owns(object._entity, object._layout) {
      programmerError(
        "entity '\(object._layout.entityName)' is not of the model that \(context.label) works with. Take the entity from "
          + "NSEntityDescription.entity(forEntityName:in:).")
    }
    context.undoRecorder?.willChange(object, isAlive: false)
    object.join(context)
    object.willChangeState()
    object.makeDraftOwn()
    object._state.insert(checked: context.isChecked, recordingReads: context.recordsReads)
    object._relations?.forEachToMany { slot, _ in
      context.readMembers.insert(kind: object._layout.slots[slot].relationship!.destination)
    }
    context.table.insert(object)
    context.unsaved.append(object)
    context.unsaved.hasInsertions = true
    context.events.changed.append(object)
    context.overlay.markStale()
    context.scheduleFlush()
    object.awakeFromInsert()
  }

  /// Reports a registered object as inserted, now and with the next save, as Core Data does.
  private func _insertAgain(_ object: NSManagedObject) {
    if object._flags.contains(.deleted) { return }
    object._state.insertAgain()
    list(object)
  }

  /// Whether an entity belongs to the context's model, or the context has none.
  private func _owns(_ entity: NSEntityDescription, _ layout: PropertyLayout) -> Bool {
    if context.memo.model == nil, context.frozen == nil { return true }
    let entities = context.memo.model.unsafelyUnwrapped.entities
    return layout.entityNumber <= entities.count && entities[layout.entityNumber - 1] === entity
  }

  // MARK: Changing

  /// Marks an object as changed. Cheap if it is marked already.
  @inline(__always)
  func markChanged(_ object: NSManagedObject) {
    if object._flags.isRecordedAsChanged { return }
    object._state.change()
    list(object)
  }

  /// Adds an object to the lists of unsaved and unannounced objects.
  func list(_ object: NSManagedObject) {
    if !object._flags.contains(.listed) { context.unsaved.append(object) }
    if !object._flags.contains(.eventListed) { context.events.changed.append(object) }
    object._state.list()
    context.overlay.markStale()
    context.scheduleFlush()
  }

  /// Lists an object for the next change notification only.
  func recordEvent(_ object: NSManagedObject, _ flag: ObjectFlags) {
    if !object._flags.contains(.eventListed) { context.events.changed.append(object) }
    object._state.recordEvent(flag)
  }

  // MARK: Deleting

  func delete(_ object: NSManagedObject) {
    guard let owner = object._context else { return }
    guard owner === context else {
      programmerError(
        "an attempt to delete an object of \(owner.label) in \(context.label). Delete this context's own object: "
          + "object(with: other.objectID).")
    }
    object.prepareForDeletion()
    guard !object._flags.contains(.deleted) else { return }
    markDeleted(object)
    context.events.deletions.append(object)
  }

  /// Removes an object from the list of unsaved objects.
  func unlist(_ object: NSManagedObject) {
    guard object._flags.contains(.listed) else { return }
    object._state.unlist()
    context.unsaved.remove(object)
  }
}

extension NSManagedObjectContext {
  /// What inserts, changes and deletes objects.
  @inline(__always) final var editing: EditPass { EditPass(self) }
}
