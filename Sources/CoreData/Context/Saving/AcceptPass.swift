import CoreDataModelSchema
import Foundation

/// Accepts a child's save.
struct AcceptPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Accepts a child's changes; runs on this context's queue.
  ///
  /// Adopts the layer unchanged. Updates only objects that are registered already, and creates others only to
  /// announce them.
  ///
  /// - Parameter adopt: Adds the layer to this context's overlay.
  func run(_ delivered: ChangeLayer, adopting adopt: (ChangeLayer) -> Void) {
    let layer = context.links.withoutDangling(delivered)
    let known = KnownRows(in: context)
    context.links.reconcileInverses(before: layer, knowing: known)
    let before = context.overlay.layers
    let registered = _registeredObjects(of: layer)
    context.registry.makeRoom(for: layer.entries.count - registered.count - layer.temporaryCount)
    if layer.temporaryCount > 64, registered.isEmpty { context.table.reserve(unsaved: layer.temporaryCount) }
    adopt(layer)
    for (entry, object) in registered { _apply(entry, to: object, over: before, knowing: known) }
    _cutDeleted(registered)
    _recordEvents(of: layer, over: before, knowing: known, isUnknown: registered.isEmpty)
    for (entry, object) in registered { context.links.adoptOrders(from: entry, at: object) }
    // Children read the layer unchanged. Changes to this context's own objects mark the overlay stale and are
    // published again.
    context.processPendingChanges()
    context.registry.sweepSoonIfDue()
  }

  /// The registered objects that a layer changes. Objects created after the layer is adopted reflect it
  /// already.
  private func _registeredObjects(of layer: ChangeLayer) -> [(ChangeLayer.Entry, NSManagedObject)] {
    guard context.table.count > 0 else { return [] }
    var found: [(ChangeLayer.Entry, NSManagedObject)] = []
    layer.entries.forEachUnretained { entry in
      if let object = context.table.object(for: entry.id) { found.append((entry, object)) }
    }
    return found
  }

  /// Cuts the links to objects that a layer deletes, and drops those that were never saved.
  private func _cutDeleted(_ registered: [(ChangeLayer.Entry, NSManagedObject)]) {
    let gone = registered.filter { $0.0.kind == .deleted || $0.0.kind == .insertedThenDeleted }
    for (_, object) in gone { context.links.cutReferences(to: object) }
    context.links.forgetMembers(Set(gone.map(\.1)))
    for (entry, object) in gone {
      if entry.kind == .insertedThenDeleted { context.registry.forget(object) }
    }
  }

  /// Queues the changes of a layer for announcement, creating objects for all of them.
  ///
  /// - Parameter isUnknown: Whether none of the objects was registered.
  private func _recordEvents(
    of layer: ChangeLayer, over before: [ChangeLayer], knowing known: KnownRows, isUnknown: Bool
  ) {
    // As long as only objects of the layer are registered, those that follow are not. A class may do anything
    // when its object is made.
    var count = isUnknown ? context.table.count : -1
    layer.entries.forEachUnretained { entry in
      guard entry.kind != .insertedThenDeleted,
        let object = _announced(entry, over: before, knowing: known, isUnknown: count == context.table.count)
      else { return }
      if count >= 0 { count = object._shape.hasOwnClass ? -1 : count + 1 }
      switch entry.kind {
      case .inserted: context.editing.recordEvent(object, .eventInserted)
      case .updated: context.editing.recordEvent(object, .eventUpdated)
      case .deleted: context.editing.recordEvent(object, .eventDeleted)
      case .insertedThenDeleted: break
      }
    }
  }

  /// Returns the object of an announced entry, created on demand; nil for one that this context has dropped.
  private func _announced(
    _ entry: ChangeLayer.Entry, over before: [ChangeLayer], knowing known: KnownRows, isUnknown: Bool
  ) -> NSManagedObject? {
    if !isUnknown, let object = context.table.object(for: entry.id) { return object }
    let key = IdentityKey(entry.id)
    // An older layer may have changed the object as well; its values then come from all layers.
    let whole = before.isEmpty ? entry : context.overlay.layers.entry(for: key) ?? entry
    if whole.kind == .insertedThenDeleted { return nil }
    return context.links.materialize(whole, as: key, over: known.row(for: whole, nil))
  }

  /// Applies a child's change to a registered object.
  private func _apply(
    _ entry: ChangeLayer.Entry, to object: NSManagedObject, over layers: [ChangeLayer],
    knowing known: KnownRows
  ) {
    if entry.kind == .deleted || entry.kind == .insertedThenDeleted {
      // The child has applied the delete rules.
      return context.editing.markDeleted(object, as: .adopted)
    }
    guard let row = entry.row else { return }
    let isOwn = object._flags.contains(.listed)
    let isClean = !isOwn && !layers.contains(IdentityKey(entry.id))
    if let base = entry.base, let mine = object._row, base.version > mine.version,
      context._parent != nil || isClean
    {
      // The child has read a newer row than this context. Compared with the older row, a change back to one
      // of its values would not count as a change. Stored rows are adopted only by objects without unsaved
      // changes, so that conflicts are still detected. Links that arrive with the newer row are cut where the
      // child has moved them.
      if context.links.adoptNewestRow(of: object, through: ReadChain(peekingAbove: context)) {
        context.links.reconcileInverses(before: entry, over: layers, knowing: known)
      }
    }
    if object._row == nil, entry.kind == .updated, !object._flags.contains(.inserted) {
      object.attach(known.row(for: entry, nil) ?? entry.base)
    }
    let oldEnds = object._current.ends(setBy: entry)
    object.markAssigned(entry.changed)
    if isOwn {
      object.fireFault()
      if object.isUnreadable {
        object.refuseWrite()
      } else if entry.definesCells {
        object.take(entry.changed, from: row)
      }
    } else {
      object.adopt(entry)
    }
    object._relations?.dropTargets(entry.changed)
    for end in oldEnds { context.links.move(object, end.slot, from: end.value, to: row[end.slot]) }
    context.links.adoptMembers(of: object, from: row, changed: entry.changed)
    if isOwn { context.editing.markChanged(object) }
  }

  /// Adopts a child's locks. The context that writes to the stores checks them.
  func adopt(_ locks: [(id: NSManagedObjectID, row: Row?)]) {
    for (id, row) in locks {
      let object = context.table.object(for: id) ?? context.registry.make(id, row: row)
      object.attachIfUnread(row)
      context.lockVersion(of: object)
    }
  }
}
