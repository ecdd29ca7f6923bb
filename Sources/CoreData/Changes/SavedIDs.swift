/// The IDs of the objects of a save, by kind of change: what a did-save notification carries.
struct SavedIDs: @unchecked Sendable {
  // Unchecked: the sets do not change, and IDs may be read on any thread.
  private(set) var inserted = Set<NSManagedObjectID>()
  private(set) var updated = Set<NSManagedObjectID>()
  private(set) var deleted = Set<NSManagedObjectID>()
  /// Whether the objects have these IDs in every context. One that was inserted earlier may have its permanent ID in
  /// some contexts already.
  private(set) var areShared = true

  /// Collects the IDs of a layer's changes.
  init(_ entries: [ChangeLayer.Entry]) {
    inserted.reserveCapacity(entries.count { $0.kind == .inserted })
    updated.reserveCapacity(entries.count { $0.kind == .updated })
    deleted.reserveCapacity(entries.count { $0.kind == .deleted })
    entries.forEachUnretained { entry in
      if entry.kind != .inserted, entry.id.isTemporary { areShared = false }
      switch entry.kind {
      case .inserted: inserted.insert(entry.id)
      case .updated: updated.insert(entry.id)
      case .deleted: deleted.insert(entry.id)
      case .insertedThenDeleted: break
      }
    }
  }

  init(inserted: Set<NSManagedObjectID>, updated: Set<NSManagedObjectID>, deleted: Set<NSManagedObjectID>) {
    (self.inserted, self.updated, self.deleted) = (inserted, updated, deleted)
  }
}
