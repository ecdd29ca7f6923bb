import CoreDataModelSchema
import Foundation

// Both ends of a link that two contexts have moved: the last move wins, and the other target loses the link.

extension NSManagedObjectContext {
  /// Prepares for a child's layer: where it moves a link that was moved here, or by another child, since the
  /// child read it, the target that this context had loses the link.
  final func reconcileInverses(before layer: Layer, knowing known: KnownRows) {
    let layers = overlay.layers
    layer.entries.forEachHeld { reconcileInverses(before: $0, over: layers, knowing: known) }
  }

  /// Prepares for one entry of a child's layer.
  ///
  /// - Parameter layers: What children have handed up before.
  final func reconcileInverses(before entry: Layer.Entry, over layers: [Layer], knowing known: KnownRows) {
    let movesLinks = entry.id.space.layout.toOneSlots.contains { entry.changed.contains($0) }
    guard movesLinks || entry.kind == .deleted || entry.kind == .annihilated else { return }
    let object = table.object(for: entry.id)
    let key = IdentityKey(entry.id)
    let pending = layers.isEmpty ? nil : layers.entry(for: key, withMembers: false)
    // Also of an object that this context does not have: the change is shown over what is known above.
    guard
      let current = _currentRow(object, pending, entry)
        ?? (movesLinks ? known.row(for: entry, object) : nil)
    else { return }
    // The child has changed what this context has now: it knew of every link.
    if let base = entry.base, current === base { return }
    if entry.kind == .deleted || entry.kind == .annihilated {
      // Its links as they are here are cut once it is marked as deleted; for that it has to be there.
      if pending != nil, let whole = layers.entry(for: key) { _ = materialize(whole) }
      return
    }
    guard let row = entry.row else { return }
    for slot in entry.id.space.layout.slots.indices where entry.changed.contains(slot) {
      guard let relationship = entry.id.space.layout.slots[slot].relationship, !relationship.isToMany,
        let inverse = relationship.inverseSlot, current[slot] != row[slot],
        current[slot] != entry.base?[slot] ?? .null
      else { continue }
      let mover = self.objectOrFault(entry.id)
      guard let loser = mover.target(in: current[slot]), !loser._flags.contains(.deleted) else { continue }
      loser.inverseWasCut(inverse, mover)
    }
  }

  /// Values as this context has them, its own before those of its other children, unsaved before saved; nil
  /// for an object that it does not have.
  private final func _currentRow(_ object: NSManagedObject?, _ pending: Layer.Entry?, _ entry: Layer.Entry)
    -> Row?
  {
    if let object, object._flags.contains(.listed), let row = object._current { return row }
    if let pending { return pending.row ?? pending.base }
    return object?._current
  }

  /// Adopts an object's newest row in memory. Called where the two ends of a link disagree: one of them was
  /// then read before another context moved the link.
  ///
  /// - Parameter chain: What to read through, where none of the ancestors is to be waited for.
  /// - Returns: Whether there was a newer row.
  @discardableResult
  final func adoptNewestRow(of object: NSManagedObject, through chain: ReadChain? = nil) -> Bool {
    guard let mine = object._row, !object._flags.contains(.deleted),
      let newer = (chain ?? ReadChain(above: self)).newestRow(for: object._objectID),
      isNews(newer, over: mine, object._layout), _parent != nil || newer.version > mine.version
    else { return false }
    show(newer, at: object)
    recordEvent(object, .eventRefreshed)
    return true
  }

  /// Gives an object newer values, under its unsaved ones, and has the other ends of its links follow: to-manys
  /// that were read with the older values are read again, and a link that was moved both here and there is cut
  /// where it lost.
  final func show(_ row: Row, at object: NSManagedObject) {
    let old = object._row
    rereadInverses(object._layout, from: old, to: row)
    object.cutOvertakenInverses(by: row)
    object.rebase(on: row)
    object.cutRemovedLinks(since: old)
  }

  /// Gives a fault that may have values newer ones; nil: they are read on demand.
  final func showUnseen(_ row: Row?, at object: NSManagedObject) {
    if let row, object._draft != nil {
      // Changed from the other end of a relationship and handed out since: the draft is of the values that it
      // had then.
      show(row, at: object)
    } else if object._draft == nil {
      if let row, let old = object._row { rereadInverses(object._layout, from: old, to: row) }
      object._row = row
    }
  }

  /// Makes to-manys read before a row changed elsewhere read again: those of the targets that its to-ones had
  /// and have.
  final func rereadInverses(_ layout: PropertyLayout, from old: Row?, to new: Row) {
    for slot in layout.slots.indices {
      guard let relationship = layout.slots[slot].relationship, !relationship.isToMany,
        let inverse = relationship.inverseSlot, old?[slot] ?? .null != new[slot]
      else { continue }
      for value in [old?[slot] ?? .null, new[slot]] {
        guard let target = registered(in: value),
          target._layout.slots[inverse].isToMany, let state = target._relations?.members(inverse),
          state.isRealised
        else { continue }
        state.unrealise()
      }
    }
  }
}

extension NSManagedObject {
  /// Cuts links that another context made and that this context has removed from the to-many without saving. The members
  /// were read with the link in them, this object without: its to-one was nil already and is no unsaved change.
  final func cutRemovedLinks(since old: Row?) {
    guard let context = _context, let row = _row, !_flags.contains(.deleted) else { return }
    for slot in _layout.toOneSlots where old?[slot] ?? .null != row[slot] {
      guard let inverse = _layout.slots[slot].relationship?.inverseSlot, _current?[slot] == row[slot],
        let target = context.registered(in: row[slot]), target._layout.slots[inverse].isToMany,
        target._relations?.members(inverse)?.removed.contains(self) ?? false
      else { continue }
      link(slot, to: nil)
    }
  }

  /// Where this object's unsaved to-one wins over one that was saved elsewhere, the other target loses the
  /// link. Where the same was saved elsewhere, it is no unsaved change any more.
  final func cutOvertakenInverses(by row: Row) {
    guard let draft = _draft, let base = _row else { return }
    _changed.forEach { slot in
      guard let relationship = _layout.slots[slot].relationship, !relationship.isToMany,
        let inverse = relationship.inverseSlot, draft[slot] != base[slot], row[slot] != base[slot]
      else { return }
      if row[slot] == draft[slot] {
        for value in [base[slot], row[slot]] {
          _context?.registered(in: value)?._relations?.members(inverse)?.clearChange(of: self)
        }
      } else if let loser = target(in: row[slot]), !loser._flags.contains(.deleted) {
        loser.inverseWasCut(inverse, self)
      }
    }
  }
}

/// The newest rows in memory of objects that a child has changed, for as long as its layer is taken over. Memoized,
/// since ancestors and stores go on meanwhile: a link is settled against the row that the change is shown over.
final class KnownRows {
  private unowned let _context: NSManagedObjectContext
  private lazy var _above = ReadChain(peekingAbove: _context)
  private var _rows: [IdentityKey: Row?] = [:]

  init(in context: NSManagedObjectContext) {
    _context = context
  }

  /// A row no older than the one that a child's update was made on: this context's, or what its ancestors show. Nil
  /// if none is in memory. Its to-manys say nothing.
  func row(for entry: Layer.Entry, _ object: NSManagedObject?) -> Row? {
    guard entry.kind == .updated, let base = entry.base else { return nil }
    if let row = object?._row { return row.version >= base.version ? row : nil }
    let key = IdentityKey(entry.id)
    if !_rows.isEmpty, let row = _rows[key] { return row }
    let row = _above.newestRow(for: entry.id).flatMap { $0.version >= base.version ? $0 : nil }
    _rows.updateValue(row, forKey: key)
    return row
  }
}
