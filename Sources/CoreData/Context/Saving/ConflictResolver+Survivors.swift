import CoreDataModelSchema

// Objects whose deletion a merge policy has dropped.

extension ConflictResolver {
  /// Drops the removals of objects from many-to-manys that went with their deletion, and rereads what was
  /// read while they were away.
  ///
  /// The removals are changes of the other ends, which have no conflict of their own: saving them would take
  /// the links from objects that stay.
  func restoreLinks(of survivors: Set<NSManagedObject>) {
    let survivors = survivors.filter { object in
      object._layout.toManySlots.contains { object._layout.slots[$0].relationship!.isManyToMany }
    }
    guard !survivors.isEmpty, let layouts = context.frozen?.layout.layouts else { return }
    // Changes of children become this context's own, so that they can be changed.
    let ids = IdentitySet(survivors.lazy.map(\._objectID))
    let owners = context.overlay.layers.flatMap { layer in
      layer.entries.filter { $0._removes(anyOf: ids) }.map { context.registry.objectOrFault($0.id) }
    }
    for owner in owners where !owner._flags.contains(.deleted) { context.editing.markChanged(owner) }
    let kinds = Set(survivors.map(\._layout.entityNumber))
    context.table.forEach { object in
      object._relations?.forEachToMany { slot, state in
        let relationship = object._layout.slots[slot].relationship!
        guard relationship.isManyToMany, state.isRealised || state.hasChanges,
          layouts[relationship.destination - 1].family.contains(where: kinds.contains)
        else { return }
        state.forget(survivors)
        state.unrealise()
      }
    }
    withExtendedLifetime(owners) {}
  }
}

extension ChangeLayer.Entry {
  /// Whether the entry takes any of the objects out of a many-to-many.
  fileprivate func _removes(anyOf objects: IdentitySet) -> Bool {
    guard let row else { return false }
    let layout = id.space.layout
    return layout.recordedToManySlots.contains { slot in
      guard changed.contains(slot), layout.slots[slot].relationship!.isManyToMany,
        case .toMany(let delta) = row[slot]
      else { return false }
      return delta.removed.contains(where: objects.contains)
    }
  }
}
