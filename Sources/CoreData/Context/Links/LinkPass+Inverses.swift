import CoreDataModelSchema
import Foundation

// Conflicting moves of one link in two contexts: the last move wins, and the other target loses the link.

extension LinkPass {
  /// Prepares for a child's layer: where the child moves a link that this context or another child has moved
  /// since the child read it, the current target loses the link.
  func reconcileInverses(before layer: ChangeLayer, knowing known: KnownRows) {
    let layers = context.overlay.layers
    layer.entries.forEachUnretained { reconcileInverses(before: $0, over: layers, knowing: known) }
  }

  /// Prepares for one entry of a child's layer.
  ///
  /// - Parameter layers: The layers that children saved up before.
  func reconcileInverses(
    before entry: ChangeLayer.Entry, over layers: [ChangeLayer], knowing known: KnownRows
  ) {
    let movesLinks = entry.id.space.layout.toOneSlots.contains { entry.changed.contains($0) }
    guard movesLinks || entry.kind == .deleted || entry.kind == .insertedThenDeleted else { return }
    let object = context.table.object(for: entry.id)
    let key = IdentityKey(entry.id)
    let pending = layers.isEmpty ? nil : layers.entry(for: key, withMembers: false)
    // Applies to unregistered objects as well: their change is based on the newest known row.
    guard
      let current = _currentRow(object, pending, entry)
        ?? (movesLinks ? known.row(for: entry, object) : nil)
    else { return }
    // The child has read this context's current row, and with it every link.
    if let base = entry.base, current === base { return }
    if entry.kind == .deleted || entry.kind == .insertedThenDeleted {
      // Marking the object as deleted cuts its links, which requires the object to exist.
      if pending != nil, let whole = layers.entry(for: key) { _ = materialize(whole) }
      return
    }
    guard let row = entry.row else { return }
    for slot in entry.id.space.layout.slots.indices where entry.changed.contains(slot) {
      guard let relationship = entry.id.space.layout.slots[slot].relationship, !relationship.isToMany,
        let inverse = relationship.inverseSlot, current[slot] != row[slot],
        current[slot] != entry.base?[slot] ?? .null
      else { continue }
      let mover = context.registry.objectOrFault(entry.id)
      guard let loser = mover.target(in: current[slot]), !loser._flags.contains(.deleted) else { continue }
      loser.inverseWasCut(inverse, mover)
    }
  }

  /// Returns the object's values in this context: its own unsaved ones, then those of other children, then
  /// saved ones; nil for an object that it does not have.
  private func _currentRow(
    _ object: NSManagedObject?, _ pending: ChangeLayer.Entry?, _ entry: ChangeLayer.Entry
  )
    -> Row?
  {
    if let object, object._flags.contains(.listed), let row = object._current { return row }
    if let pending { return pending.row ?? pending.base }
    return object?._current
  }

  /// Adopts an object's newest row in memory. Called where the two ends of a link disagree, because one of
  /// them was read before another context moved the link.
  ///
  /// - Parameter chain: The read chain, which must not wait for ancestors.
  /// - Returns: Whether a newer row was adopted.
  @discardableResult
  func adoptNewestRow(of object: NSManagedObject, through chain: ReadChain? = nil) -> Bool {
    guard let mine = object._row, !object._flags.contains(.deleted),
      let newer = (chain ?? ReadChain(above: context)).newestRow(for: object._objectID),
      context.freshness.supersedes(newer, over: mine, object._layout),
      context._parent != nil || newer.version > mine.version
    else { return false }
    show(newer, at: object)
    context.editing.recordEvent(object, .eventRefreshed)
    return true
  }

  /// Rebases an object on newer values and updates the other ends of its links: to-manys loaded with the
  /// older values are reread, and where both contexts moved a link, its losing end is cut.
  func show(_ row: Row, at object: NSManagedObject) {
    let old = object._row
    rereadInverses(object._layout, from: old, to: row)
    object.cutOvertakenInverses(by: row)
    // The children's saves still say what rebasing drops; a listed object says it for them.
    if object.hasTakenBackChange { context.editing.markChanged(object) }
    object.rebase(on: row)
    object.cutRemovedLinks(since: old)
  }

  /// Attaches newer values to a fault in place of any earlier ones; nil drops them, so that firing the fault
  /// reads the values.
  func attachRowToFault(_ row: Row?, at object: NSManagedObject) {
    if let row, object._draft != nil {
      // Changed from the other end of a relationship and shared since: the draft is based on older values.
      show(row, at: object)
    } else if object._draft == nil {
      if let row { rereadInverses(object._layout, from: object._row, to: row) }
      object.attach(row)
    }
  }

  /// Invalidates the to-manys loaded before a row changed elsewhere: those of the old and new targets of its
  /// to-ones.
  func rereadInverses(_ layout: PropertyLayout, from old: Row?, to new: Row) {
    for slot in layout.toOneSlots {
      guard let inverse = layout.slots[slot].relationship?.inverseSlot, old?[slot] ?? .null != new[slot]
      else { continue }
      for value in [old?[slot] ?? .null, new[slot]] { memo(inverse, in: value)?.unrealise() }
    }
  }

  /// Invalidates the to-manys that lack an object although its saved to-ones point to their owners: this context read
  /// them before the save, and met the object after it. The save need not have written the owners.
  ///
  /// - Parameters:
  ///   - object: The object, if it is registered.
  ///   - changed: The slots that the save changed; empty if they are not known.
  func rereadOwners(
    lacking object: NSManagedObject?, _ layout: PropertyLayout, _ row: Row, _ changed: SlotSet
  ) {
    for slot in layout.toOneSlots where changed.isEmpty || changed.contains(slot) {
      guard let inverse = layout.slots[slot].relationship?.inverseSlot,
        let state = memo(inverse, in: row[slot]), !(object.map(state.contains) ?? false)
      else { continue }
      state.unrealise()
    }
  }
}

extension NSManagedObject {
  /// Cuts links that another context made and that this context has removed from the to-many without saving.
  /// The to-many was read with the link and this object without it, so its nil to-one is not an unsaved
  /// change.
  final func cutRemovedLinks(since old: Row?) {
    guard let context = _context, let row = _row, !_flags.contains(.deleted) else { return }
    for slot in _layout.toOneSlots where old?[slot] ?? .null != row[slot] {
      guard let inverse = _layout.slots[slot].relationship?.inverseSlot, _current?[slot] == row[slot],
        let target = context.registry.registered(in: row[slot]), target._layout.slots[inverse].isToMany,
        target._relations?.members(inverse)?.changes[self]?.isMember == false
      else { continue }
      link(slot, to: nil)
    }
  }

  /// Whether children's saves assigned the value that the object has in its own row, which is no change.
  final var hasTakenBackChange: Bool {
    guard _flags.contains(.adopted), _flags.isDisjoint(with: [.listed, .inserted, .deleted]),
      let draft = _draft, let row = _row
    else { return false }
    var isFound = false
    _changed.forEach { slot in
      if !_layout.slots[slot].isToMany, row.hasSameCell(as: draft, at: slot) { isFound = true }
    }
    return isFound
  }

  /// Where this object's unsaved to-one wins over one saved elsewhere, the other target loses the link. Where
  /// both have the same value, it no longer counts as an unsaved change.
  final func cutOvertakenInverses(by row: Row) {
    guard let draft = _draft, let base = _row else { return }
    _changed.forEach { slot in
      guard let relationship = _layout.slots[slot].relationship, !relationship.isToMany,
        let inverse = relationship.inverseSlot, draft[slot] != base[slot], row[slot] != base[slot]
      else { return }
      if row[slot] == draft[slot] {
        for value in [base[slot], row[slot]] {
          _context?.registry.registered(in: value)?._relations?.members(inverse)?.changes[self] = nil
        }
      } else if let loser = target(in: row[slot]), !loser._flags.contains(.deleted) {
        loser.inverseWasCut(inverse, self)
      }
    }
  }
}
