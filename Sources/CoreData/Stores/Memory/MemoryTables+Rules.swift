import CoreDataModelSchema

/// Delete rules for rows that other writers have linked to the deleted ones since their members were read.
extension MemoryTables {
  /// Applies the rules to rows that still point at a deleted one after everything else is written. Deny can
  /// no longer be checked and clears the link, as Nullify does.
  ///
  /// - Returns: The changes beyond the save.
  mutating func followRules(
    of changes: ChangeSet, _ model: ModelLayout, _ spaces: [ObjectIDSpace]
  ) -> FollowedRules {
    let deleted = DeleteRules.reaching(changes, model)
    if deleted.isEmpty { return FollowedRules() }
    let (rules, cut) = _consequences(of: deleted, model, spaces)
    var followed = FollowedRules()
    followed.deleted = rules.cascaded
    for key in followed.deleted { remove(key) }
    if cut.isEmpty { return followed }
    // A save increments the version of a row only once.
    let written = Set(changes.updated.compactMap(\.id.key) + changes.inserted.compactMap(\.id.key))
    for (key, slots) in cut {
      guard let old = record(root: key.space.layout.rootNumber, key.reference)?.row else { continue }
      var row = Row(copying: old, version: written.contains(key) ? old.version : old.version.next)
      slots.forEach { row.set(.null, at: $0) }
      put(row, key)
      followed.cut.append(FollowedRules.Cut(key: key, row: row, slots: slots))
    }
    return followed
  }

  /// Returns the rows to delete, and the to-ones to clear in remaining rows.
  private mutating func _consequences(
    of deleted: [ObjectKey], _ model: ModelLayout, _ spaces: [ObjectIDSpace]
  ) -> (rules: DeleteRules, cut: [ObjectKey: SlotSet]) {
    var rules = DeleteRules(model, deleting: deleted)
    rules.follow { keys, layout, slot in _members(of: keys, layout, slot, model, spaces) }
    var cut: [ObjectKey: SlotSet] = [:]
    for link in rules.links([.nullify, .deny]) where !link.entity.slots[link.inverse].isHidden {
      let targets = link.keys.map { ObjectKey(space: spaces[link.owner.entityNumber - 1], reference: $0) }
      index(link.inverse, of: link.entity)
      for key in rows(pointingAt: Set(targets), through: link.inverse, of: link.entity, spaces: spaces)
      where !rules.deletes(key) { cut[key, default: SlotSet()].insert(link.inverse) }
    }
    return (rules, cut)
  }

  /// Returns the members of a relationship of some rows. If the other end is a to-one, these are the rows
  /// that point back through it: the owners' own rows may be deleted already.
  private mutating func _members(
    of keys: [Int64], _ layout: PropertyLayout, _ slot: Int, _ model: ModelLayout, _ spaces: [ObjectIDSpace]
  ) -> [ObjectKey] {
    guard let relationship = layout.slots[slot].relationship else { return [] }
    let owners = keys.map { ObjectKey(space: spaces[layout.entityNumber - 1], reference: $0) }
    let destination = model.layout(numbered: relationship.destination)
    if let inverse = relationship.inverseSlot, destination.slots[inverse].isToOne {
      index(inverse, of: destination)
      return rows(pointingAt: Set(owners), through: inverse, of: destination, spaces: spaces)
    }
    if relationship.isManyToMany { return owners.flatMap { members(of: $0, slot: slot, spaces: spaces) } }
    return keys.compactMap { record(root: layout.rootNumber, $0)?.row[slot].key }
  }
}
