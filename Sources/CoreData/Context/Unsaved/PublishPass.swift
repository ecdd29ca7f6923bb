import CoreDataModelSchema

/// Publishes what is unsaved in a context to its children.
///
/// Runs on the context's queue.
struct PublishPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Publishes pending changes. Called on this context's queue by a child that is about to read.
  func flush() {
    context.processPendingChanges()
    run()
  }

  /// Publishes the changes made since the last call, if the context has children.
  func run() {
    guard context.overlay.isStale else { return }
    let noted = context.overlay.noted
    var entries: [ChangeLayer.Entry] = []
    for object in context.unsaved.objects where object._flags.contains(.unpublished) {
      object._state.publish()
      // Transient values stay in the context that set them.
      if let entry = _entry(for: object) { entries.append(entry.persistent) }
    }
    Interleaving.reach(.publish)
    context.overlay.push(ChangeLayer(entries))
    context.overlay.markFresh(upTo: noted)
  }

  /// Returns the unsaved state of one of this context's own objects.
  private func _entry(for object: NSManagedObject) -> ChangeLayer.Entry? {
    let flags = object._flags
    if flags.contains(.deleted) {
      return ChangeLayer.Entry(
        kind: flags.contains(.inserted) ? .insertedThenDeleted : .deleted, id: object._objectID,
        base: object._row,
        row: nil,
        changed: SlotSet(), isWhole: true)
    }
    guard flags.contains(.inserted) || flags.contains(.updated) else { return nil }
    if object.isFault, object._row == nil, !flags.contains(.inserted) {
      do {
        guard try FaultPass(context).load(object) else { return nil }
      } catch {
        context.failedReads.fail(
          object, "publish '\(object.objectID.uriRepresentation().absoluteString)' to children", error)
        return nil
      }
    }
    // A value that cannot be encoded fails the save.
    try? object.encodeTransformables()
    let isInserted = flags.contains(.inserted)
    return ChangeLayer.Entry(
      kind: isInserted ? .inserted : .updated, id: object._objectID, base: object._row,
      row: object.handOutDraft(), changed: isInserted ? object._changed : object.differingSlots, isWhole: true
    )
  }

  /// Removes the entry of an object whose unsaved changes were discarded.
  func withdraw(_ object: NSManagedObject) {
    if let entry = context.overlay.withdraw(object._objectID) { context.discard([entry]) }
  }
}
