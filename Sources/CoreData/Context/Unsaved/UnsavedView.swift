import CoreDataModelSchema

/// What is unsaved in a context: its own changes and those that its children have saved into it, as one.
///
/// Runs on the context's queue.
struct UnsavedView {
  private let _context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { _context = context }

  /// Whether nothing is unsaved.
  var isEmpty: Bool {
    _context.overlay.layers.isEmpty && _context.unreadDeletions.isEmpty
      && !_context.unsaved.contains { $0.isDirty }
  }

  /// Returns the objects that the next save inserts, updates or deletes, as the flag says.
  func objects(_ flag: ObjectFlags) -> Set<NSManagedObject> {
    var result = Set<NSManagedObject>()
    _forEach { object in
      guard object._flags.contains(flag) else { return }
      if flag == .updated, !object._flags.isDisjoint(with: [.inserted, .deleted]) { return }
      if flag == .inserted, object._flags.contains(.deleted) { return }
      result.insert(object)
    }
    return result
  }

  /// The objects that the next save inserts, updates and deletes, in one pass.
  var sorted: (inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject]) {
    var found: (inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject]) = (
      [], [], []
    )
    _forEach { object in
      if object._flags.isDisjoint(with: [.inserted, .updated, .deleted]) { return }
      if object._flags.contains(.deleted) {
        found.deleted.append(object)
      } else if object._flags.contains(.inserted) {
        found.inserted.append(object)
      } else {
        found.updated.append(object)
      }
    }
    return found
  }

  /// Upper bound on the number of stored objects with unsaved changes or deletions: a fetch from the store alone may
  /// return that many too many.
  var storedCount: Int {
    guard _context.overlay.layers.isEmpty else { return objects(.updated).count + objects(.deleted).count }
    return _context.unsaved.objects.count { $0.isDirty && !$0._flags.contains(.inserted) }
  }

  /// The objects with state of children's saves that the context itself has not changed.
  var adopted: [NSManagedObject] {
    let layers = _context.overlay.layers
    if layers.isEmpty { return [] }
    return layers.composedEntries.compactMap { entry in
      guard entry.kind != .insertedThenDeleted else { return nil }
      let object = _context.links.materialize(entry)
      return object._flags.contains(.adopted) && !object._flags.contains(.listed) ? object : nil
    }
  }

  /// Calls a closure for each object with unsaved state.
  private func _forEach(_ body: (NSManagedObject) -> Void) {
    let adopted = adopted
    _context.unsaved.objects.forEach(body)
    adopted.forEach(body)
  }
}

extension NSManagedObjectContext {
  /// What is unsaved, of the context itself and of its children's saves.
  final var unsavedView: UnsavedView {
    checkQueue()
    return UnsavedView(self)
  }

  /// The objects that the next save inserts, updates and deletes, in one pass.
  package final var unsavedObjects:
    (
      inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject]
    )
  { unsavedView.sorted }

  /// Upper bound on the number of stored objects with unsaved changes or deletions: a fetch from the store alone may
  /// return that many too many. Use on the context's queue.
  package final var storedChangeCount: Int { unsavedView.storedCount }
}
