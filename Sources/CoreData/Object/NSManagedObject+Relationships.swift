import CoreDataModelSchema
import Foundation

// Access to relationships by slot, and maintenance of inverses.

extension NSManagedObject {
  final var relations: Relations {
    if let _relations { return _relations }
    let relations = Relations()
    _relations = relations
    return relations
  }

  // MARK: To-one

  /// Returns the destination of a to-one, possibly a fault.
  final func toOne(_ slot: Int) -> NSManagedObject? {
    if !_flags.isDisjoint(with: .attention), !hasPartialValue(slot) { attend(reading: slot) }
    if let target = _relations?.target(slot) { return target }
    guard let context = _context else { return nil }
    let target: NSManagedObject
    switch read(slot) {
    case .reference(let key): target = context.registry.object(for: key)
    case .pending(let id): target = context.registry.objectOrFault(id)
    default: return nil
    }
    relations.setTarget(target, slot)
    return target
  }

  /// Sets the destination of a to-one and maintains the inverse.
  final func setToOne(_ slot: Int, _ target: NSManagedObject?) {
    let relationship = _layout.slots[slot].relationship!
    if let target { _checkRelatable(target, slot, relationship) }
    let old = toOne(slot)
    if isUnreadable { return refuseWrite() }
    link(slot, to: target)
    guard let inverse = relationship.inverseSlot, old !== target else { return }
    old?.inverseWasCut(inverse, self)
    target?.inverseWasMade(inverse, self, through: slot)
  }

  /// Writes one end of a to-one, without the inverse.
  final func link(_ slot: Int, to target: NSManagedObject?) {
    write(reference(to: target), at: slot)
    if isUnreadable { return }
    if target != nil || _relations != nil { relations.setTarget(target, slot) }
  }

  @inline(__always)
  final func reference(to target: NSManagedObject?) -> Value {
    guard let target else { return .null }
    if let key = target._key { return .reference(key) }
    return .pending(target._objectID)
  }

  // MARK: To-many

  /// Returns the state of a to-many, created on demand. The context records which entities its members may
  /// have.
  final func makeMembers(_ slot: Int) -> ToManyState {
    if let state = _relations?.members(slot) { return state }
    let relationship = _layout.slots[slot].relationship!
    _context?.readMembers.insert(kind: relationship.destination)
    return relations.makeMembers(slot, isOrdered: relationship.isOrdered)
  }

  /// Returns the members of a to-many, loaded on demand; not realised, and therefore empty, if they cannot be
  /// read.
  final func members(_ slot: Int) -> ToManyState {
    if _flags.contains(.checked) { checkQueue() }
    let state = makeMembers(slot)
    if !state.isRealised {
      if _flags.contains(.fault) { fireFault(reading: slot) }
      _read(state, slot)
    }
    // Last, because it records the members.
    recordRead(slot)
    return state
  }

  /// Returns the members of a to-many for a change that depends on them; nil if they cannot be read, which
  /// refuses the change.
  final func membersToChange(_ slot: Int) -> ToManyState? {
    let state = members(slot)
    if state.isRealised { return state }
    refuseWrite()
    return nil
  }

  private final func _read(_ state: ToManyState, _ slot: Int) {
    guard let _context else { return state.realise([]) }
    if let found = FaultPass(_context).relatedObjects(of: self, slot: slot) {
      _context.links.realise(state, found, slot, of: self)
    }
  }

  private final func _realise(_ state: ToManyState, _ read: [NSManagedObject], _ slot: Int) {
    if let _context { _context.links.realise(state, read, slot, of: self) } else { state.realise(read) }
  }

  /// Replaces the members and updates the inverses of those removed and added.
  final func setToMany(_ slot: Int, _ objects: [NSManagedObject]) {
    willChangeState()
    guard let state = membersToChange(slot) else { return }
    let known = state.list
    // Nearly always the same members but for one or a few.
    let (first, last) = known.commonEnds(with: objects)
    let replaced = known[first..<known.count - last]
    let replacing = objects[first..<objects.count - last]
    let wanted = replaced.isEmpty ? [] : Set(replacing)
    for object in replaced where !wanted.contains(object) { removeMember(object, slot) }
    for object in replacing { addMember(object, slot) }
    if state.isOrdered {
      // Members are added at the end.
      if !replaced.isEmpty || last > 0 && !replacing.isEmpty {
        var seen = Set<NSManagedObject>()
        members(slot).reorder(objects.filter { seen.insert($0).inserted })
      }
      markChanged(slot)
    }
  }

  /// Adds a member and sets its inverse.
  final func addMember(_ object: NSManagedObject, _ slot: Int, at index: Int? = nil) {
    let relationship = _layout.slots[slot].relationship!
    _checkRelatable(object, slot, relationship)
    let state = relationship.isOrdered ? members(slot) : memberState(slot)
    _set(object, isMember: true, of: relationship, slot, state, at: index)
  }

  /// Removes a member and clears its inverse.
  final func removeMember(_ object: NSManagedObject, _ slot: Int) {
    _set(object, isMember: false, of: _layout.slots[slot].relationship!, slot, members(slot))
  }

  /// Adds or removes a member and maintains the inverse.
  private final func _set(
    _ object: NSManagedObject, isMember: Bool, of relationship: PropertyLayout.Relationship, _ slot: Int,
    _ state: ToManyState, at index: Int? = nil
  ) {
    willChangeState()
    if relationship.isManyToMany {
      guard !(state.isRealised && state.contains(object) == isMember),
        let pair = ManyToManyPair(self, slot, state, with: object)
      else { return }
      return pair.change { $0.set(isLinked: isMember, at: index) }
    }
    guard state.set(object, isMember: isMember, at: index) else { return }
    markChanged(slot)
    guard let inverse = relationship.inverseSlot else { return }
    if !isMember { return object.inverseWasCut(inverse, self) }
    object.inverseWasMade(inverse, self, through: slot)
    // Not a change: the members read were older than the object's own end.
    if object.wasSaved(pointingAt: self, inverse) { state.changes[object] = nil }
  }

  /// Returns the changes of a to-many for a save or a child; only the order of a one-to-many.
  final func memberChanges(_ slot: Int, _ state: ToManyState) -> ToManyDelta {
    _layout.slots[slot].relationship!.isOneToMany ? state.orderDelta : state.delta
  }

  /// Returns the state of a to-many without loading it. A never-saved object has only the members that were
  /// moved to it.
  final func memberState(_ slot: Int) -> ToManyState {
    let state = makeMembers(slot)
    if !state.isRealised, _row == nil, _flags.contains(.inserted), !_flags.contains(.adopted) {
      _realise(state, [], slot)
    }
    return state
  }

  // MARK: The other end

  /// Returns the objects at the other end of a to-one or to-many, loaded on demand.
  final func targets(_ slot: Int) -> [NSManagedObject] {
    if _layout.slots[slot].isToMany { return members(slot).list }
    return toOne(slot).map { [$0] } ?? []
  }

  /// Returns the relationship at a slot; nil if a damaged file refers to an object whose entity has none
  /// there.
  @inline(__always)
  final func relationship(_ slot: Int) -> PropertyLayout.Relationship? {
    slot < _layout.slots.count ? _layout.slots[slot].relationship : nil
  }

  /// Updates this end after `other` was linked to this object through its slot `outward`: adds `other` to
  /// this to-many, or sets this to-one to it.
  final func inverseWasMade(_ slot: Int, _ other: NSManagedObject, through outward: Int) {
    willChangeState()
    guard let relationship = relationship(slot) else { return }
    if relationship.isToMany {
      let state = relationship.isOrdered ? members(slot) : memberState(slot)
      // The saved value of its own end determines whether a removed member was a member before.
      let wasMember =
        state.changes[other]?.isMember == false ? other.wasSaved(pointingAt: self, outward) : nil
      if state.follow(other, isMember: true, wasMember: wasMember) { markTouched(slot) }
      return
    }
    var previous = toOne(slot)
    if previous === other {
      // This end has the link already, unless its row is stale.
      guard _context?.links.adoptNewestRow(of: self) ?? false else { return }
      previous = toOne(slot)
      guard previous !== other else { return }
    }
    link(slot, to: other)
    // Clears the other end of the replaced link.
    previous?.inverseWasCut(outward, self)
  }

  /// Updates this end after `other` was unlinked from this object.
  final func inverseWasCut(_ slot: Int, _ other: NSManagedObject) {
    willChangeState()
    guard let relationship = relationship(slot) else { return }
    if relationship.isToMany {
      // The members read may be stale, so the object's own end decides.
      let wasThere = relationship.inverseSlot.map { other.wasSaved(pointingAt: self, $0) } ?? false
      if memberState(slot).follow(other, isMember: false, wasMember: wasThere ? true : nil) {
        markTouched(slot)
      }
      return
    }
    let target = toOne(slot)
    if isUnreadable {
      // Most stores apply the rules of a deletion to their own rows.
      if !other._flags.contains(.deleted) || _key?.space.persistentStore is NSIncrementalStore {
        refuseWrite()
      }
    } else if target === other || _context?.links.adoptNewestRow(of: self) ?? false && toOne(slot) === other {
      link(slot, to: nil)
    }
  }

  /// Marks a to-many dirty after a change at the other end. Does not fire the fault.
  @inline(__always)
  final func markTouched(_ slot: Int) {
    _values.mark(slot)
    _context?.editing.markChanged(self)
    notifyWrite(slot)
  }

  private final func _checkRelatable(
    _ target: NSManagedObject, _ slot: Int, _ relationship: PropertyLayout.Relationship
  ) {
    if !sharesContext(with: target), let mine = _context, let theirs = target._context {
      programmerError(
        "illegal attempt to relate '\(_entity.name ?? "?").\(_layout.slots[slot].name)' to an object of another context "
          + "(\(mine.label) and \(theirs.label)). Get this context's own object with object(with: other.objectID)."
      )
    }
    guard
      target._layout.entityNumber == relationship.destination
        || _entity.owner?.isKind(target._layout, ofEntityNumbered: relationship.destination) ?? true
    else {
      let destination =
        (_shape.properties[slot] as? NSRelationshipDescription)?.destinationEntity?.name ?? "?"
      programmerError(
        "'\(_entity.name ?? "?").\(_layout.slots[slot].name)' takes objects of entity '\(destination)', not "
          + "'\(target._layout.entityName)'.")
    }
  }
}
