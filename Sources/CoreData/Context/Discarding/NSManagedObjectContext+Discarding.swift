import CoreDataModelSchema

// Children may have read unsaved changes that a context discards; they reread the objects.

extension NSManagedObjectContext {
  /// Tells the children that published changes are discarded: by a rollback, a reset, a refresh, or a save
  /// that does not include them.
  final func discard(_ entries: [ChangeLayer.Entry]) {
    if !entries.isEmpty { announce(DiscardedChanges(entries)) }
  }

  /// Sends discarded changes on to the children.
  final func announce(_ changes: DiscardedChanges) {
    guard overlay.hasReaders else { return }
    // The thread of a confinement context is unknown.
    let children = overlay.readers.filter { $0._parent === self && !$0.isConfined }
    if children.isEmpty { return }
    discards.append(changes)
    let queue = queue
    for child in children { child.queue.enqueueMerge { $0.append(changes, by: queue) } }
  }
}
