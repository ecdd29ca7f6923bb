import CoreDataModelSchema

// Rereading what an ancestor has discarded.

extension MergePass {
  /// Rereads the objects whose changes an ancestor has discarded.
  consuming func reread(_ discards: [DiscardedChanges]) {
    let entries = discards.count == 1 ? discards[0].entries : discards.flatMap(\.entries)
    begin()
    defer { end() }
    let chain = ReadChain(above: context)
    // The members of to-manys that were read without the deleted objects are unknown.
    if entries.containsUnretained({ $0.kind == .deleted }) {
      context.table.forEach { $0._relations?.dropClean() }
    }
    var gone: [NSManagedObject] = []
    // Several discards may name an object.
    var known = IdentitySet()
    // Observers need the rows of unregistered objects too.
    let needsRows = !context.events.observers.isEmpty
    for entry in entries {
      let object = context.registry.heldObject(for: entry.id)
      guard object != nil || entry.kind == .deleted || needsRows else { continue }
      let isDeletedElsewhere = object?._flags.contains(.deletedElsewhere) ?? false
      object?._relations?.dropClean()
      if let object, !isDeletedElsewhere, object._flags.contains(.deleted) {
        _reread(deleted: object, through: chain)
        continue
      }
      let found: ReadChain.Found
      do {
        found = try chain.read(entry.id).found
      } catch {
        // The next access reads again, and reports why it cannot.
        if let object, !object.isDirty { object.turnIntoFault() }
        continue
      }
      switch found {
      case .row(let row):
        if isDeletedElsewhere
          || entry.kind == .deleted && (object == nil || context.revocableDeletions.contains(entry.id))
        {
          mergeInsertion(of: entry.id, row: row, changed: SlotSet())
        } else {
          mergeUpdate(of: entry.id, row: row, changed: entry.changed)
        }
      case .missing:
        if let object, object._flags.isDisjoint(with: [.inserted, .deleted]), known.insert(object._objectID) {
          gone.append(object)
        }
      case .deleted: break
      }
    }
    context.revocableDeletions.remove(entries)
    _drop(gone, through: chain)
    if context.unsaved.hasDeletions {
      for entry in entries { context.registry.heldObject(for: entry.id).map(context.links.cutLinksToDeleted) }
    }
    for object in gone { merged.deleted.insert(object._objectID) }
    finish()
    for object in gone { context.registry.forget(object) }
    for changes in discards { context.announce(changes) }
  }

  /// Rereads an object that is deleted here, for when the deletion is taken back.
  private func _reread(deleted object: NSManagedObject, through chain: ReadChain) {
    guard object._flags.isDisjoint(with: [.inserted, .deletedInStore]),
      let found = try? chain.read(object._objectID).found
    else { return }
    switch found {
    case .row(let row): if object._row != nil { object.attach(row) }
    // What an ancestor has deleted it may bring back.
    case .deleted: break
    case .missing: object._state.recordMissingRow()
    }
  }

  /// Drops objects that no longer exist anywhere, and the links to them. They are announced as deleted.
  private func _drop(_ gone: [NSManagedObject], through chain: ReadChain) {
    if gone.isEmpty { return }
    for object in gone { context.editing.markDeleted(object, as: .dropped) }
    context.links.forgetMembers(Set(gone))
    let dropped = IdentitySet(gone.lazy.map(\._objectID))
    func isGone(_ id: NSManagedObjectID) -> Bool { dropped.contains(id) }
    func isGone(_ value: Value) -> Bool {
      switch value {
      case .reference(let key): dropped.contains(key)
      case .pending(let id): isGone(id)
      default: false
      }
    }
    var linked: [(object: NSManagedObject, slot: Int)] = []
    context.table.forEach { object in
      guard let row = object._current, !object._flags.contains(.deleted) else { return }
      for slot in object._layout.toOneSlots where isGone(row[slot]) { linked.append((object, slot)) }
    }
    for (object, slot) in linked {
      // The ancestor has already cut links that were saved into it; adopting its row suffices for a clean
      // object.
      if object.isDirty || !context.links.adoptNewestRow(of: object, through: chain)
        || isGone(object._row?[slot] ?? .null)
      {
        object.link(slot, to: nil)
      }
    }
    let layers = context.overlay.layers
    if layers.isEmpty { return }
    context.overlay.replace(
      with: layers.map { layer in
        ChangeLayer(layer.entries.filter { !isGone($0.id) }.map { $0.dropping(isGone) ?? $0 })
      }.filter { !$0.entries.isEmpty })
  }
}
