import CoreDataModelSchema

/// Delete rules for rows that somebody else has linked to the deleted ones since their members were read.
extension MemoryTables {
  /// Applies the rules to rows that still point at a deleted one after everything else is written. Deny cannot be
  /// checked any more and clears the link like nullify.
  ///
  /// - Returns: What changed beyond the save.
  mutating func followRules(
    of changes: ChangeSet, _ model: ModelLayout, _ spaces: [ObjectIDSpace]
  ) -> FollowedRules {
    let deleted = DeleteRules.reaching(changes, model)
    if deleted.isEmpty { return FollowedRules() }
    let (rules, cut) = _consequences(of: deleted, model, spaces)
    var followed = FollowedRules()
    followed.deleted = Array(rules.found.dropFirst(deleted.count))
    for key in followed.deleted { remove(key) }
    if cut.isEmpty { return followed }
    // The version of a row grows once with each save.
    let written = Set(changes.updated.compactMap(\.id.key) + changes.inserted.compactMap(\.id.key))
    for (key, slots) in cut {
      guard let old = record(root: key.space.layout.rootNumber, key.reference)?.row else { continue }
      var row = Row(copying: old, version: written.contains(key) ? old.version : old.version.next)
      slots.forEach { row.set(.null, at: $0) }
      put(row, key, isNew: false)
      followed.cut.append(FollowedRules.Cut(key: key, row: row, slots: slots))
    }
    return followed
  }

  /// Returns the rows to delete, and the to-ones to clear in rows that stay.
  private func _consequences(
    of deleted: [ObjectKey], _ model: ModelLayout, _ spaces: [ObjectIDSpace]
  ) -> (rules: DeleteRules, cut: [ObjectKey: SlotSet]) {
    var rules = DeleteRules(model)
    rules.follow(deleted) { keys, layout, slot in _members(of: keys, layout, slot, model, spaces) }
    var cut: [ObjectKey: SlotSet] = [:]
    for link in rules.links([.nullify, .deny]) where !link.entity.slots[link.inverse].isHidden {
      for key in _rows(pointingAt: link.keys, of: link.owner, through: link.inverse, of: link.entity, spaces)
      where !rules.deletes(key) { cut[key, default: SlotSet()].insert(link.inverse) }
    }
    return (rules, cut)
  }

  /// Returns the members of a relationship of some rows: those that point back, and of rows that are still there, what
  /// they point at themselves.
  private func _members(
    of keys: [Int64], _ layout: PropertyLayout, _ slot: Int, _ model: ModelLayout, _ spaces: [ObjectIDSpace]
  ) -> [ObjectKey] {
    guard let relationship = layout.slots[slot].relationship else { return [] }
    let destination = model.layout(numbered: relationship.destination)
    if let inverse = relationship.inverseSlot, destination.slots[inverse].isToOne {
      return _rows(pointingAt: keys, of: layout, through: inverse, of: destination, spaces)
    }
    return keys.flatMap { key -> [ObjectKey] in
      if relationship.isManyToMany {
        return members(
          of: ObjectKey(space: spaces[layout.entityNumber - 1], reference: key), slot: slot, spaces: spaces)
      }
      return record(root: layout.rootNumber, key)?.row[slot].key.map { [$0] } ?? []
    }
  }

  private func _rows(
    pointingAt keys: [Int64], of owner: PropertyLayout, through slot: Int, of entity: PropertyLayout,
    _ spaces: [ObjectIDSpace]
  ) -> [ObjectKey] {
    let targets = Set(keys.map { ObjectKey(space: spaces[owner.entityNumber - 1], reference: $0) })
    return records(root: entity.rootNumber).compactMap { key, record in
      guard entity.family.contains(record.entityNumber), slot < record.row.count,
        let target = record.row[slot].key, targets.contains(target)
      else { return nil }
      return ObjectKey(space: spaces[record.entityNumber - 1], reference: key)
    }
  }
}
