import CoreDataModelSchema

/// The sources that a context reads through: the unsaved state of its ancestors, nearest first, then the
/// store.
///
/// Created for one read. Takes the overlays before querying the store, so that a row being saved is seen at
/// least once; a row seen twice has the same identity. Enters no queue except that of an ancestor with
/// unpublished changes.
struct ReadChain {
  /// Layers of each ancestor, nearest first; empty ones are omitted.
  let overlays: [[ChangeLayer]]
  let coordinator: NSPersistentStoreCoordinator?
  /// The state of the stores to read; nil for the latest.
  let generation: StoreGeneration?
  /// The time, by `CoarseClock`, before which a cached row is too old for the context.
  let earliestRow: Int

  /// Creates the chain above `context`, for a read that begins now.
  ///
  /// - Parameter isFetch: Whether the context fetches.
  init(above context: NSManagedObjectContext, isFetch: Bool = false) {
    if context.ages.isCheckDue { context.freshness.check() }
    var overlays: [[ChangeLayer]] = []
    var root = context
    while let ancestor = root._parent {
      if ancestor.overlay.isStale { ancestor.queue.sync { PublishPass(ancestor).flush() } }
      let layers = ancestor.overlay.visibleLayers
      if !layers.isEmpty { overlays.append(layers) }
      root = ancestor
    }
    self.overlays = overlays
    generation = root.generationPin.generation
    coordinator = root.rootCoordinator
    earliestRow = context.freshness.earliestRow
    context.freshness.beginRead(coordinator, isFetch: isFetch)
    Interleaving.reach(.read)
  }

  /// Reads only what the ancestors have published. Never blocks; may miss unpublished changes.
  init(peekingAbove context: NSManagedObjectContext) {
    var overlays: [[ChangeLayer]] = []
    var next = context._parent
    while let ancestor = next {
      let layers = ancestor.overlay.visibleLayers
      if !layers.isEmpty { overlays.append(layers) }
      next = ancestor._parent
    }
    self.overlays = overlays
    generation = context.readGeneration
    coordinator = context.rootCoordinator
    earliestRow = .min
  }

  var hasOverlays: Bool { !overlays.isEmpty }

  /// Whether any ancestor has unsaved deletions.
  var hasDeletions: Bool { overlays.contains { $0.contains(where: \.hasDeletions) } }

  /// Returns the object's entry from the nearest ancestor that changed it. Ignore the to-manys of its row;
  /// read them through `related`. Its transient values are the ancestor's own: see `ChangeLayer.Entry.persistent`.
  func entry(for key: IdentityKey) -> ChangeLayer.Entry? {
    for layers in overlays {
      if let entry = layers.entry(for: key, withMembers: false) { return entry }
    }
    return nil
  }

  /// Whether the nearest ancestor that changed the object deletes it.
  func deletes(_ id: NSManagedObjectID) -> Bool { entry(for: IdentityKey(id)).map { $0.row == nil } ?? false }

  /// Whether any ancestor has changed the object.
  func contains(_ key: IdentityKey) -> Bool { overlays.contains { $0.contains(key) } }

  enum Found {
    case row(Row)
    case deleted
    case missing
  }

  /// The result of reading one object.
  struct Reading {
    let found: Found
    /// Rows of neighbours that were read along with the object.
    var neighbours: [(key: ObjectKey, row: Row)] = []
  }

  /// Reads the values of one object: an ancestor's, the row cache's, the store's.
  ///
  /// - Parameter neighbours: Called if the store is read: keys of other objects whose rows are read along
  ///   with it.
  func read(_ id: NSManagedObjectID, with neighbours: () -> [ObjectKey] = { [] }) throws -> Reading {
    let cached = id.key.flatMap { coordinator?.cachedRow(for: $0, at: generation) }
    if let nearest = entry(for: IdentityKey(id)) {
      guard nearest.row != nil else { return Reading(found: .deleted) }
      return Reading(found: _row(for: id, over: cached).map(Found.row) ?? .deleted)
    }
    guard let key = id.key, let coordinator else { return Reading(found: .missing) }
    let recent =
      earliestRow == .min ? cached : coordinator.cachedRow(for: key, at: generation, readSince: earliestRow)
    if let recent { return Reading(found: .row(recent)) }
    let others = neighbours().filter { $0 != key }
    let read = try coordinator.readableRows(for: [key] + others, at: generation)
    if let error = read.damage[0] { throw error }
    var reading = Reading(found: read.rows[0].map(Found.row) ?? .missing)
    for (other, row) in zip(others, read.rows.dropFirst()) {
      if let row { reading.neighbours.append((other, row)) }
    }
    return reading
  }

  /// Returns the newest in-memory values of an object: the ancestors' unsaved changes over the cached row.
  ///
  /// - Parameter saved: A recently stored row; ignored if older than the cached one.
  /// - Returns: Nil if an ancestor has deleted the object or no values are in memory.
  func newestRow(for id: NSManagedObjectID, saved: Row? = nil) -> Row? {
    let cached = id.key.flatMap { coordinator?.rowCache.row(for: $0) }
    guard let saved else { return _row(for: id, over: cached) }
    return _row(for: id, over: cached.map { $0.version >= saved.version ? $0 : saved } ?? saved)
  }

  /// Applies the ancestors' changes, farthest ancestor first, to a stored row.
  private func _row(for id: NSManagedObjectID, over stored: Row?) -> Row? {
    if overlays.isEmpty { return stored }
    let key = IdentityKey(id)
    var row = stored
    for layers in overlays.reversed() {
      guard let entry = layers.entry(for: key, withMembers: false) else { continue }
      // Transient values that children have saved into an ancestor stay there.
      guard let own = entry.persistent.row(over: row) else { return nil }
      row = own
    }
    return row
  }

  /// Returns the members of a to-many as read from the ancestors and the store.
  func related(to owner: NSManagedObjectID, slot: Int) throws -> [NSManagedObjectID] {
    var members: [NSManagedObjectID] = []
    if let key = owner.key, let coordinator {
      coordinator.countFault()
      members = try coordinator.related(to: [key], slot: slot, at: generation)[0].map {
        NSManagedObjectID($0)
      }
    }
    let layout = owner.space.layout
    if let ends = LinkEnds(toMany: slot, of: layout) {
      for layers in overlays.reversed() {
        members.removeAll { !layers.change(of: ends, of: IdentityKey($0)).keeps(owner) }
        let gained = layers.members(ends, of: owner)
        if !gained.isEmpty {
          let present = IdentitySet(members)
          members += gained.filter { !present.contains($0) }
        }
        if layout.slots[slot].relationship!.isOrdered {
          members = _ordered(members, of: owner, slot, layers)
        }
      }
      return members
    }
    for layers in overlays.reversed() {
      guard let entry = layers.entry(for: IdentityKey(owner)),
        entry.changed.contains(slot) || entry.kind == .inserted,
        case .toMany(let delta)? = entry.row?[slot]
      else { continue }
      members = Self._apply(delta, to: members)
    }
    guard hasOverlays else { return members }
    return members.filter { member in
      switch entry(for: IdentityKey(member))?.kind {
      case .deleted?, .insertedThenDeleted?: false
      default: true
      }
    }
  }

  private static func _apply(_ delta: ToManyDelta, to members: [NSManagedObjectID]) -> [NSManagedObjectID] {
    let removed = IdentitySet(delta.removed)
    var result = members.filter { !removed.contains($0) }
    let present = IdentitySet(result)
    result += delta.added.filter { !present.contains($0) }
    return delta.order.map { _order(result, by: $0) } ?? result
  }

  /// Sorts the members of an ordered one-to-many as the newest of the layers orders them.
  private func _ordered(
    _ members: [NSManagedObjectID], of owner: NSManagedObjectID, _ slot: Int, _ layers: [ChangeLayer]
  ) -> [NSManagedObjectID] {
    guard let entry = layers.entry(for: IdentityKey(owner)), entry.sets(slot),
      case .toMany(let delta)? = entry.row?[slot], let order = delta.order
    else { return members }
    return Self._order(members, by: order)
  }

  /// Sorts members by an order. Members that it lacks were added elsewhere since and go to the end.
  private static func _order(_ members: [NSManagedObjectID], by order: [NSManagedObjectID])
    -> [NSManagedObjectID]
  {
    let all = IdentitySet(members)
    let named = IdentitySet(order)
    return order.filter(all.contains) + members.filter { !named.contains($0) }
  }
}
