import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

// What a recording sees of a context. On the context's queue.

extension NSManagedObjectContext {
  /// Records a fetch that has ended, with the identities of what it has found.
  final func record(
    _ found: Int, _ ids: [TraceEvent.Identity], of request: AnyFetchRequest, since begin: UInt64,
    by recorder: TraceRecorder
  ) {
    guard let model = frozen, let layout = (try? request.resolvedEntity(in: model))?.layout else { return }
    recorder.add(
      .fetch(
        shape: recorder.shape(of: request, layout), found: found, ids: ids,
        predicate: recorder.recordsValues ? request.predicate?.textOfFormat : nil), since: begin, in: self)
  }

  /// Records a count.
  final func record(
    _ count: Int, of request: AnyFetchRequest, since begin: UInt64, by recorder: TraceRecorder
  ) {
    guard let model = frozen, let layout = (try? request.resolvedEntity(in: model))?.layout else { return }
    recorder.add(
      .count(
        shape: recorder.shape(of: request, layout), found: count,
        predicate: recorder.recordsValues ? request.predicate?.textOfFormat : nil), since: begin, in: self)
  }

  /// Records a merge that has ended.
  final func recordMerge(of notification: Notification, since begin: UInt64) {
    guard let recorder = TraceRecorder.current else { return }
    let keys = [
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSInsertedObjectIDsKey,
      NSUpdatedObjectIDsKey,
      NSDeletedObjectIDsKey,
    ]
    // The sets of a notification are made when somebody asks for them.
    if let changes = notification.userInfo?[SavedChanges.key] as? SavedChanges {
      return recorder.add(.merge(objects: changes.entries.count), since: begin, in: self)
    }
    let objects = keys.reduce(0) { $0 + ((notification.userInfo?[$1] as? NSSet)?.count ?? 0) }
    recorder.add(.merge(objects: objects), since: begin, in: self)
  }

  /// Records the objects that have changed in an event, with all that is unsaved of them.
  final func recordChanges(of objects: [NSManagedObject], by recorder: TraceRecorder) {
    var changes: [TraceEvent.Change] = []
    for object in objects where object._flags.contains(.listed) {
      let flags = object._flags
      let isDeleted = flags.contains(.deleted)
      if isDeleted, flags.contains(.deletedInStore) { continue }
      let kind: TraceEvent.Change.Kind =
        isDeleted ? .delete : flags.contains(.inserted) ? .insert : .update
      let slots = isDeleted ? SlotSet() : kind == .insert ? object._changed : object.differingSlots
      // An undo leaves an object among the updated ones that has no change, as does an attribute that is set to what it is.
      let isUndone = kind == .update && slots.isEmpty
      if isUndone, _undo == nil { continue }
      changes.append(
        TraceEvent.Change(
          kind: isUndone ? .revert : kind, id: recorder.identity(object._objectID),
          slots: slots,
          row: recorder.recordsValues && !isDeleted ? object.handOutDraft() : nil))
    }
    guard !changes.isEmpty else { return }
    recorder.add(.changes(changes), in: self)
  }

  /// Records that an object's changes have been discarded.
  final func recordReversal(of object: NSManagedObject, by recorder: TraceRecorder) {
    let change = TraceEvent.Change(
      kind: .revert, id: recorder.identity(object._objectID), slots: SlotSet(), row: nil)
    recorder.add(.changes([change]), in: self)
  }

  /// The changes of a save that no event has recorded, and the number of all, without those that children have saved before.
  final func recordedChanges(
    of layer: ChangeLayer, by recorder: TraceRecorder
  ) -> (unseen: [TraceEvent.Change], objects: Int) {
    // The save has announced all changes but those that hooks have made since.
    guard !events.changed.isEmpty else { return ([], unsaved.changed.count) }
    var late: Set<IdentityKey> = []
    for object in events.changed where object.isDirty { late.insert(IdentityKey(object._objectID)) }
    let unseen = layer.entries.filter { late.contains(IdentityKey($0.id)) }.map { entry in
      TraceEvent.Change(
        kind: TraceEvent.Change.Kind(entry.kind), id: recorder.identity(entry.id), slots: entry.changed,
        row: recorder.recordsValues ? entry.row : nil)
    }
    return (unseen, unsaved.changed.count)
  }

  /// Records a save that has ended.
  final func record(
    _ changes: (unseen: [TraceEvent.Change], objects: Int), of layer: ChangeLayer, since begin: UInt64,
    error: (any Error)?, by recorder: TraceRecorder
  ) {
    var named: [(TraceEvent.Identity, TraceEvent.Identity)] = []
    for entry in layer.entries where entry.kind == .inserted && entry.id.isTemporary && _parent == nil {
      guard let permanent = entry.id.permanent else { continue }
      named.append((recorder.temporaryIdentity(entry.id), recorder.identity(permanent)))
    }
    let save = TraceEvent.Save(
      changes.unseen, objects: changes.objects, isToStore: _parent == nil, named: named,
      error: error.map { ($0 as NSError).code })
    recorder.add(.save(save), since: begin, in: self)
  }
}

extension NSPredicate {
  /// The predicate as a tree; nil for one that has none.
  final var treeOfFormat: PredicateTree? { try? PredicateTree(self) }

  final var textOfFormat: String? { treeOfFormat.map { PredicatePrinter.text(of: $0) } }
}
