import CoreDataModelSchema

/// What a context reads through: the unsaved state of its ancestors, nearest first, then the store.
///
/// Made for one read. The overlays are taken before the store is asked, so that a row on its way into the
/// store is seen at least once; seen twice, identity tells. Nobody's queue is visited but that of an ancestor
/// with unpublished changes.
struct ReadChain {
  /// Layers of each ancestor, nearest first; ancestors without any are left out.
  let overlays: [[Layer]]
  let coordinator: NSPersistentStoreCoordinator?
  /// State of the stores that is read; nil for the latest.
  let generation: StoreGeneration?

  /// The chain above `context`.
  init(above context: NSManagedObjectContext) {
    var overlays: [[Layer]] = []
    var root = context
    while let ancestor = root.parent {
      if ancestor.overlay.isStale { ancestor.queue.sync { ancestor.flushForReaders() } }
      let layers = ancestor.overlay.visibleLayers
      if !layers.isEmpty { overlays.append(layers) }
      root = ancestor
    }
    self.overlays = overlays
    generation = root.generationPin.generation
    coordinator = context.persistentStoreCoordinator
    Interleaving.reach(.read)
  }

  /// What the ancestors have published, whatever they are about to: for those who must not wait.
  init(peekingAbove context: NSManagedObjectContext) {
    var overlays: [[Layer]] = []
    var next = context.parent
    while let ancestor = next {
      let layers = ancestor.overlay.visibleLayers
      if !layers.isEmpty { overlays.append(layers) }
      next = ancestor.parent
    }
    self.overlays = overlays
    generation = context.readGeneration
    coordinator = context.persistentStoreCoordinator
  }

  var hasOverlays: Bool { !overlays.isEmpty }

  /// Whether any ancestor has deleted anything.
  var hasDeletions: Bool { overlays.contains { $0.contains(where: \.hasDeletions) } }

  /// What the nearest ancestor that changed the object says of it. The to-manys of its row say nothing:
  /// `related` reads them.
  func entry(for key: ObjectTable.Key) -> Layer.Entry? {
    for layers in overlays {
      if let entry = layers.entry(for: key, withMembers: false) { return entry }
    }
    return nil
  }

  /// Whether any ancestor has changed the object.
  func contains(_ key: ObjectTable.Key) -> Bool { overlays.contains { $0.contains(key) } }

  enum Found {
    case row(Row)
    case deleted
    case missing
  }

  /// The values of one object: an ancestor's, the row cache's, the store's.
  func row(for id: NSManagedObjectID, neighbours: () -> [ObjectKey]) throws -> (Found, [(ObjectKey, Row)]) {
    if let entry = entry(for: ObjectTable.Key(id)) {
      if let row = entry.row { return (.row(row), []) }
      return (.deleted, [])
    }
    guard let key = id.key, let coordinator else { return (.missing, []) }
    if let row = coordinator.cachedRow(for: key, at: generation) { return (.row(row), []) }
    let others = neighbours().filter { $0 != key }
    let rows = try coordinator.rows(for: [key] + others, at: generation)
    var brought: [(ObjectKey, Row)] = []
    for (other, row) in zip(others, rows.dropFirst()) {
      if let row { brought.append((other, row)) }
    }
    return (rows[0].map(Found.row) ?? .missing, brought)
  }

  /// The values that one object has once every ancestor has taken over what was stored: their unsaved changes
  /// over the newest stored row. Reads nothing.
  ///
  /// - Parameter saved: A row that the store has got lately; an older one than the cache's does not count.
  /// - Returns: Nil if an ancestor has deleted the object or none of this is in memory.
  func rowOnceMerged(for id: NSManagedObjectID, saved: Row?) -> Row? {
    let key = ObjectTable.Key(id)
    let cached = id.key.flatMap { coordinator?.rowCache.row(for: $0) }
    var row = saved
    if let cached, cached.version >= saved?.version ?? 0 { row = cached }
    for layers in overlays.reversed() {
      guard let entry = layers.entry(for: key, withMembers: false) else { continue }
      guard let own = entry.row else { return nil }
      // What is on its way into the store may be there already; and what was made on top of a row that is not
      // there yet stands.
      if let base = entry.base, let below = row, !(base === below), !(own === below),
        base.version <= below.version
      {
        row = own.rebased(from: base, onto: below, changed: entry.changed, layout: id.space.layout)
      } else {
        row = own
      }
    }
    return row
  }

  /// Members of a to-many as the ancestors and the store have it.
  func related(to owner: NSManagedObjectID, slot: Int) throws -> [NSManagedObjectID] {
    var members: [NSManagedObjectID] = []
    if let key = owner.key, let coordinator {
      members = try coordinator.related(to: [key], slot: slot, at: generation)[0].map {
        NSManagedObjectID($0)
      }
    }
    let ownerKey = ObjectTable.Key(owner)
    for layers in overlays.reversed() {
      guard let entry = layers.entry(for: ownerKey), entry.changed.contains(slot) || entry.kind == .inserted,
        case .toMany(let delta)? = entry.row?[slot]
      else { continue }
      members = Self.apply(delta, to: members)
    }
    guard hasOverlays else { return members }
    return members.filter { member in
      switch entry(for: ObjectTable.Key(member))?.kind {
      case .deleted?, .annihilated?: false
      default: true
      }
    }
  }

  private static func apply(_ delta: ToManyDelta, to members: [NSManagedObjectID]) -> [NSManagedObjectID] {
    let removed = Set(delta.removed.map { ObjectTable.Key($0) })
    var result = members.filter { !removed.contains(ObjectTable.Key($0)) }
    let present = Set(result.map { ObjectTable.Key($0) })
    result += delta.added.filter { !present.contains(ObjectTable.Key($0)) }
    guard let order = delta.order else { return result }
    // Members that came from elsewhere since stand at the end.
    let all = Set(result.map { ObjectTable.Key($0) })
    let named = Set(order.map { ObjectTable.Key($0) })
    return order.filter { all.contains(ObjectTable.Key($0)) }
      + result.filter { !named.contains(ObjectTable.Key($0)) }
  }
}

extension Row {
  /// The changes that this row makes to `base`, made to a newer row instead.
  func rebased(from base: Row, onto newer: Row, changed: SlotSet, layout: PropertyLayout) -> Row {
    // On an equal version it will be stored as it is, several saves ahead maybe; else it goes on top.
    let row = Row(copying: newer, version: newer.version == base.version ? version : newer.version.next)
    for slot in layout.slots.indices where !layout.slots[slot].isToMany {
      if layout.slots[slot].isTransient || changed.contains(slot) && self[slot] != base[slot] {
        row.set(self[slot], at: slot)
      }
    }
    return row
  }
}
