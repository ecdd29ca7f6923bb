import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

// What a recording sees of a context. On the context's queue.

extension TraceRecorder {
  /// Records a fetch that has ended, with the identities of what it has found.
  func record(
    _ found: Int, _ ids: [TraceEvent.Identity], of request: AnyFetchRequest, since begin: UInt64,
    in context: NSManagedObjectContext
  ) {
    guard let model = context.frozen, let layout = (try? request.resolvedEntity(in: model))?.layout else {
      return
    }
    add(
      .fetch(
        shape: shape(of: request, layout), found: found, ids: ids,
        predicate: recordsValues ? request.predicate?.textOfFormat : nil), since: begin, in: context)
  }

  /// Records a count.
  func record(
    _ count: Int, of request: AnyFetchRequest, since begin: UInt64, in context: NSManagedObjectContext
  ) {
    guard let model = context.frozen, let layout = (try? request.resolvedEntity(in: model))?.layout else {
      return
    }
    add(
      .count(
        shape: shape(of: request, layout), found: count,
        predicate: recordsValues ? request.predicate?.textOfFormat : nil), since: begin, in: context)
  }

  /// Records a merge that has ended.
  func recordMerge(of notification: Notification, since begin: UInt64, in context: NSManagedObjectContext) {
    let keys = [
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSInsertedObjectIDsKey,
      NSUpdatedObjectIDsKey,
      NSDeletedObjectIDsKey,
    ]
    // The sets of a notification are made when somebody asks for them.
    if let changes = notification.userInfo?[SavedChanges.key] as? SavedChanges {
      return add(.merge(objects: changes.entries.count), since: begin, in: context)
    }
    let objects = keys.reduce(0) { $0 + ((notification.userInfo?[$1] as? NSSet)?.count ?? 0) }
    add(.merge(objects: objects), since: begin, in: context)
  }

  /// Records the objects that have changed in an event, with all that is unsaved of them.
  func recordChanges(of objects: [NSManagedObject], in context: NSManagedObjectContext) {
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
      if isUndone, context._undo == nil { continue }
      changes.append(
        TraceEvent.Change(
          kind: isUndone ? .revert : kind, id: identity(object._objectID),
          slots: slots,
          row: recordsValues && !isDeleted ? object.handOutDraft() : nil))
    }
    guard !changes.isEmpty else { return }
    add(.changes(changes), in: context)
  }

  /// Records that an object's changes have been discarded.
  func recordReversal(of object: NSManagedObject, in context: NSManagedObjectContext) {
    let change = TraceEvent.Change(
      kind: .revert, id: identity(object._objectID), slots: SlotSet(), row: nil)
    add(.changes([change]), in: context)
  }

  /// The changes of a save that no event has recorded, and the number of all, without those that children have saved before.
  func recordedChanges(
    of layer: ChangeLayer, in context: NSManagedObjectContext
  ) -> (unseen: [TraceEvent.Change], objects: Int) {
    // The save has announced all changes but those that hooks have made since.
    guard !context.events.changed.isEmpty else { return ([], context.unsaved.changed.count) }
    var late: Set<IdentityKey> = []
    for object in context.events.changed where object.isDirty { late.insert(IdentityKey(object._objectID)) }
    let unseen = layer.entries.filter { late.contains(IdentityKey($0.id)) }.map { entry in
      TraceEvent.Change(
        kind: TraceEvent.Change.Kind(entry.kind), id: identity(entry.id), slots: entry.changed,
        row: recordsValues ? entry.row : nil)
    }
    return (unseen, context.unsaved.changed.count)
  }

  /// Records a save that has ended.
  func record(
    _ changes: (unseen: [TraceEvent.Change], objects: Int), of layer: ChangeLayer, since begin: UInt64,
    error: (any Error)?, in context: NSManagedObjectContext
  ) {
    var named: [(TraceEvent.Identity, TraceEvent.Identity)] = []
    for entry in layer.entries where entry.kind == .inserted && entry.id.isTemporary && context._parent == nil
    {
      guard let permanent = entry.id.permanent else { continue }
      named.append((temporaryIdentity(entry.id), identity(permanent)))
    }
    let save = TraceEvent.Save(
      changes.unseen, objects: changes.objects, isToStore: context._parent == nil, named: named,
      error: error.map { ($0 as NSError).code })
    add(.save(save), since: begin, in: context)
  }
}

extension NSPredicate {
  /// The predicate as a tree; nil for one that has none.
  final var treeOfFormat: PredicateTree? { try? PredicateTree(self) }

  final var textOfFormat: String? { treeOfFormat.map { PredicatePrinter.text(of: $0) } }
}
