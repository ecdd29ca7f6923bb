import CoreDataModelSchema
import Foundation

/// A save as passes over plain values: hooks, validation, entries, and the write upstream.
struct SavePass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  func run() throws {
    guard !context.saving.isActive else {
      throw CocoaError.coreData(
        CoreDataErrorCode.recursiveSave,
        "\(context.label) was asked to save while it is saving. Do not save in willSave, didSave or a notification it posts.",
        ["message": "attempt to recursively call -save: on the context aborted"])
    }
    context.saving.isActive = true
    context.saving.hasResolved = false
    context.saving.showsNews = false
    context.saving.skipsVanished = false
    defer { context.saving.isActive = false }
    let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
    context.processPendingChanges()
    NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: context)
    let layer = try _checkedLayer()
    guard let recorder = TraceRecorder.current else { return try _saveLayer(layer) }
    let recorded = recorder.recordedChanges(of: layer, in: context)
    do {
      try _saveLayer(layer)
    } catch {
      recorder.record(recorded, of: layer, since: begin, error: error, in: context)
      throw error
    }
    recorder.record(recorded, of: layer, since: begin, error: nil, in: context)
  }

  /// Hands the changes to the parent, or writes them.
  private func _saveLayer(_ layer: ChangeLayer) throws {
    if let parent = context._parent {
      if !layer.entries.isEmpty { _handUp(layer, to: parent) }
      let locks = context.unsaved.locked.map { (id: $0._objectID, row: $0._row) }
      if !locks.isEmpty { parent.queue.sync { AcceptPass(parent).adopt(locks) } }
      _noteRevocableDeletions(layer)
      FinishPass(context).run(layer.entries, as: layer)
    } else {
      let saved = try CommitPass(context).run(layer.entries)
      Interleaving.reach(.commit)
      context.advanceGeneration()
      FinishPass(context).run(saved, as: nil)
      if context.saving.showsNews { context.processPendingChanges() }
    }
    context.assertConsistent()
  }

  /// Saves the layer into the parent. The layer was built and indexed on this queue; the parent's queue only
  /// accepts it.
  ///
  /// Waits for the parent, which has announced the changes when the save returns. The main queue never waits
  /// for a parent that may be writing to disk: an idle parent accepts the changes on the main thread. A busy
  /// parent gets a delivery, which readers see immediately and which the parent accepts first in its next
  /// turn.
  private func _handUp(_ layer: ChangeLayer, to parent: NSManagedObjectContext) {
    let accept = {
      AcceptPass(parent).run(layer) { parent.overlay.push($0) }
    }
    guard !parent.queue.isCurrent, ContextQueue.isOnMainQueue else { return parent.queue.sync(accept) }
    // Announcing creates an object per change; large saves spare the main queue that work.
    if layer.entries.count <= Self.mostAnnouncedOnMain, parent.queue.runIfIdle(accept) { return }
    Interleaving.reach(.deliver)
    parent.overlay.deliver(layer)
    Interleaving.reach(.deliver)
    parent.queue.async {}
  }

  /// Remembers the deletions that have been handed to the parent.
  private func _noteRevocableDeletions(_ layer: ChangeLayer) {
    guard context.unsaved.hasDeletions || !context.overlay.layers.isEmpty,
      layer.entries.containsUnretained({ $0.kind == .deleted })
    else { return }
    // What a discard brings back is looked up when the discard is merged.
    let isDiscarding = context.queue.changeMerges { $0.hasDiscards }
    let chain = ReadChain(above: context)
    for entry in layer.entries where entry.kind == .deleted {
      context.revocableDeletions.insert(entry.id) { isDiscarding || chain.deletes($0) }
    }
  }

  /// Largest number of changes that a parent announces on the main queue, when a child saves there.
  static let mostAnnouncedOnMain = 100

  /// Treats objects as deleted that children have changed although others had deleted their rows, if nothing is left
  /// to be written of the change: no store would say that the row is gone.
  private func _dropVanished() {
    if context.overlay.layers.isEmpty { return }
    let unwritten = context.unsaved.objects.filter { object in
      object._flags.isSuperset(of: [.adopted, .listed, .updated])
        && object._flags.isDisjoint(with: [.inserted, .deleted]) && object.differingSlots.isEmpty
    }
    if unwritten.isEmpty { return }
    let missing = PrefetchPass(context).missing(among: unwritten, ReadChain(peekingAbove: context))
    if missing.isEmpty { return }
    for object in unwritten where missing.contains(object._objectID) {
      // Also for an ancestor's deletion, which that may still roll back: this save must not delete it there.
      context.editing.markDeleted(object, as: .deletedInStore)
      context.links.cutReferences(to: object, cascading: false)
    }
    context.processPendingChanges()
  }

  /// Calls hooks, validates and collects the changes.
  private func _checkedLayer() throws -> ChangeLayer {
    try context.failedReads.checkChanges()
    do {
      try SaveHooks(context).run()
      _dropVanished()
      let layer = try CollectPass(context).run()
      try context.failedReads.checkChanges()
      return layer
    } catch {
      // An object that could not be read misses values that its rules require.
      try context.failedReads.checkChanges()
      throw error
    }
  }
}
