import CoreDataModelSchema

// The members of a one-to-many are the objects whose to-ones point to its owner. A to-many in memory caches
// them: a read combines the members in the stores and the ancestors with the moves made in this context and
// its children.

extension LinkPass {
  /// Sets the members of a to-many as read from the ancestors and the stores, with the moves made here since.
  func realise(
    _ state: ToManyState, _ read: [NSManagedObject], _ slot: Int, of owner: NSManagedObject
  ) {
    let layers = context.overlay.layers
    if context.unsaved.isEmpty, layers.isEmpty { return state.realise(read) }
    var read = read
    if context.unsaved.hasDeletions || layers.contains(where: \.hasDeletions) {
      read.removeAll { $0._flags.isSuperset(of: [.deleted, .deletePropagated]) }
    }
    guard let ends = LinkEnds(toMany: slot, of: owner._layout) else {
      state.realise(read)
      if owner._layout.slots[slot].relationship!.isManyToMany {
        // Passes the membership just read to the other ends of the pairs.
        for (member, _) in state.changes.all {
          ManyToManyPair(known: owner, slot, state, with: member).shareWhatWasRead()
        }
      }
      return
    }
    var lost: [NSManagedObject] = []
    let members = read.filter { member in
      // A removed member was a member when read, and a rollback restores it.
      if state.changes[member]?.isMember == false || !member.wasPointed(elsewhereThan: owner, ends.toOne) {
        return true
      }
      guard member._flags.contains(.adopted) else { return false }
      lost.append(member)
      return true
    }
    let gained = movedMembers(slot, of: owner)
    if members.count < read.count || !lost.isEmpty || !gained.isEmpty { context.readMembers.hasMoved = true }
    state.realise(members, lost: lost, gained: gained)
  }

  /// Returns the objects that children have moved to an owner and that are still its members.
  func movedMembers(_ slot: Int, of owner: NSManagedObject) -> [NSManagedObject] {
    let layers = context.overlay.layers
    guard !layers.isEmpty, let ends = LinkEnds(toMany: slot, of: owner._layout) else { return [] }
    return layers.members(ends, of: owner._objectID).compactMap { id in
      let member = context.table.object(for: id) ?? context.registry.makeFault(id)
      guard !member._flags.contains(.deleted), member.refers(to: owner, through: ends.toOne) else {
        return nil
      }
      return member
    }
  }

  /// Moves an object in the to-manys in memory, after a child has moved its to-one.
  func move(_ member: NSManagedObject, _ slot: Int, from old: Value, to new: Value) {
    guard let relationship = member._layout.slots[slot].relationship, let inverse = relationship.inverseSlot,
      old != new
    else { return }
    if let state = memo(inverse, in: old, where: \.isOneToMany), state.loseMoved(member) {
      context.readMembers.hasMoved = true
    }
    guard !member._flags.contains(.deleted) else { return }
    if let state = memo(inverse, in: new, where: \.isOneToMany), state.gainMoved(member) {
      context.readMembers.hasMoved = true
    }
  }

  /// Adopts the orders of one-to-manys from a child's entry. Their members must have been moved already.
  func adoptOrders(from entry: ChangeLayer.Entry, at object: NSManagedObject) {
    guard let row = entry.row else { return }
    for slot in object._layout.recordedToManySlots where entry.sets(slot) {
      guard object._layout.slots[slot].relationship!.isOneToMany, case .toMany(let delta) = row[slot],
        let order = delta.order
      else { continue }
      object.makeMembers(slot).adopt(
        order: order.filter(mayExist).map { context.table.object(for: $0) ?? context.registry.makeFault($0) })
    }
  }

  /// Whether an object may exist. A temporary ID may be known to this context or an ancestor, or be gone.
  func mayExist(_ id: NSManagedObjectID) -> Bool {
    if id.isPermanent || context.table.object(for: id) != nil { return true }
    let key = IdentityKey(id)
    let entry =
      context.overlay.layers.entry(for: key, withMembers: false)
      ?? ReadChain(peekingAbove: context).entry(for: key)
    return entry.map { $0.kind != .insertedThenDeleted } ?? false
  }

  /// Returns the to-many in memory whose owner a to-one value refers to.
  ///
  /// - Parameter fits: Whether a relationship is meant.
  @inline(__always)
  func memo(
    _ slot: Int, in value: Value, where fits: (PropertyLayout.Relationship) -> Bool = \.isToMany
  ) -> ToManyState? {
    guard let owner = context.registry.registered(in: value), slot < owner._layout.slots.count,
      let relationship = owner._layout.slots[slot].relationship, fits(relationship)
    else { return nil }
    return owner._relations?.members(slot)
  }
}
