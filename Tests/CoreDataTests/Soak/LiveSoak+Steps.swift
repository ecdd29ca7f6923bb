import Foundation
import TestSupport

@testable import CoreData

// The steps of a live soak.

extension SoakPlan {
  /// Plans about this many steps of a live soak.
  static func live(seed: UInt64, steps: Int) -> SoakPlan {
    var random = SeededRandom(seed: seed)
    let roles = LiveSoak.Role.allCases.flatMap { Array(repeating: $0.rawValue, count: $0.share) }
    var plan = SoakPlan(phases: [])
    var planned = 0
    while planned < steps {
      var phase = Phase(isSolo: false, seed: random.next(), steps: [])
      for _ in 0..<min(5 + random.below(40), steps - planned) {
        let action: Action =
          switch random.below(100) {
          case 0..<20: .save
          case 20..<23: .rollback
          case 23..<33: .merge
          default: .edit
          }
        phase.steps.append(
          Step(context: random.pick(roles)!, action: action, seed: random.next(), serial: planned * 8))
        planned += 1
      }
      plan.phases.append(phase)
    }
    return plan
  }
}

extension LiveSoak {
  /// Carries out a step, on the thread of its context.
  func carryOut(_ step: SoakPlan.Step) {
    let context = contexts[step.context]
    var random = SeededRandom(seed: step.seed)
    let isLater = random.chance(10), isDrop = random.chance(5)
    do {
      if step.action == .edit, isDrop { return try _useAndDrop(step, &random) }
      guard isLater else { return try context.performAndWait { try _act(context, step, random) } }
      journal.noteStep { "\(context.name!) enqueues" }
      context.perform { [self, unowned context, random] in
        do { try _act(context, step, random) } catch { _failed(context, error) }
      }
    } catch {
      _failed(context, error)
    }
  }

  private func _failed(_ context: NSManagedObjectContext, _ error: any Error) {
    journal.fail("\(context.name ?? "?") threw \(error)")
  }

  /// Acts in the context's block.
  private func _act(_ context: SoakContext, _ step: SoakPlan.Step, _ random: SeededRandom) throws {
    var random = random
    var serial = step.serial
    switch step.action {
    case .edit where random.chance(8): try _saveMeanwhile(in: context, &random, &serial)
    case .edit: try _edit(context, &random, &serial)
    case .save:
      if random.chance(40) {
        try _edit(context, &random, &serial)
        // Others may save before this context does, which merges their saves later.
        Interleaving.reach(.queue)
      }
      save(context)
    case .merge: mergeInbox(context)
    case .rollback:
      journal.noteStep { "\(context.name!) rollback" }
      context.rollback()
      if context.hasChanges { journal.fail("\(context.name!) has changes after rollback") }
    }
  }

  private func _edit(
    _ context: NSManagedObjectContext, _ random: inout SeededRandom, _ serial: inout Int
  ) throws {
    try journal.noteStep { "\(context.name!) \(try LiveEditor(context).edit(&random, &serial))" }
    if random.chance(30) {
      context.processPendingChanges()
      _checkScreen(context)
    }
  }

  /// Saves in another context, which is let go, while the block of this one goes on; then saves this one
  /// before it merges.
  private func _saveMeanwhile(
    in context: SoakContext, _ random: inout SeededRandom, _ serial: inout Int
  ) throws {
    let other = (random.chance(30) ? otherCoordinator : stack.coordinator).newContext()
    other.name = "other (in \(context.name!))"
    expectGone(other)
    let token = observeSaves(of: other)
    defer { NotificationCenter.default.removeObserver(token) }
    try other.performAndWait {
      for _ in 0..<(1 + random.below(3)) { try _edit(other, &random, &serial) }
      save(other)
    }
    if random.chance(40) { try _edit(context, &random, &serial) }
    if random.chance(70) { save(context) }
  }

  /// Uses a context and lets it go, mostly without saving it.
  private func _useAndDrop(_ step: SoakPlan.Step, _ random: inout SeededRandom) throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    if random.chance(50) {
      context.parent = contexts[Role.main.rawValue]
    } else {
      context.persistentStoreCoordinator = random.chance(30) ? otherCoordinator : stack.coordinator
    }
    context.name = "dropped (by \(contexts[step.context].name!))"
    context.automaticallyMergesChangesFromParent = random.chance(60)
    if random.chance(30) { context.undoManager = UndoManager() }
    expectGone(context)
    let token = observeSaves(of: context)
    defer { NotificationCenter.default.removeObserver(token) }
    var serial = step.serial
    try context.performAndWait {
      for _ in 0..<(1 + random.below(3)) { try _edit(context, &random, &serial) }
      if random.chance(20) { save(context) }
    }
  }

  // MARK: Saving and merging

  /// Saves; after a conflict, the context's changes are discarded.
  private func save(_ context: NSManagedObjectContext) {
    let changes = [context.insertedObjects, context.updatedObjects, context.deletedObjects].map { objects in
      objects.map(LiveView.name).sorted().joined(separator: " ")
    }
    do {
      try context.save()
      journal.noteStep { "\(context.name!) save +(\(changes[0])) ~(\(changes[1])) -(\(changes[2]))" }
      _checkScreen(context)
    } catch let error as CocoaError
      where error.errorCode == NSManagedObjectMergeError
      || error.errorCode == NSPersistentStoreSaveConflictsError
    {
      journal.noteStep { "\(context.name!) save: conflict" }
      context.rollback()
      if let context = context as? SoakContext { mergeInbox(context) }
    } catch {
      _failed(context, error)
    }
  }

  private func mergeInbox(_ context: SoakContext) {
    let inbox = context.takeInbox()
    guard !inbox.isEmpty else { return }
    journal.noteStep { "\(context.name!) merges \(inbox.count)" }
    for notification in inbox { context.mergeChanges(fromContextDidSave: notification) }
    _checkScreen(context)
  }

  private func _checkScreen(_ context: NSManagedObjectContext) {
    for flaw in screen(of: context)?.flaws().prefix(3) ?? [] { journal.fail("\(context.name!): \(flaw)") }
  }

  /// Merges and saves what is left in a context; sometimes discards it in the first round.
  ///
  /// - Returns: Whether there was anything to merge or save.
  func settle(_ role: Role, round: Int, _ random: inout SeededRandom) -> Bool {
    let context = contexts[role.rawValue]
    let isDiscarded = round == 0 && context.parent != nil && random.chance(15)
    let mergesFirst = random.chance(70) || round > 3
    return context.performAndWait {
      var isBusy = context.hasInbox
      if mergesFirst { mergeInbox(context) }
      if isDiscarded {
        journal.noteStep { "\(context.name!) rollback" }
        context.rollback()
      } else if context.hasChanges {
        isBusy = true
        save(context)
      }
      if context.hasChanges {
        let (inserted, updated, deleted) = (
          context.insertedObjects, context.updatedObjects, context.deletedObjects
        )
        journal.note("\(context.name!) keeps \(inserted.count), \(updated.count), \(deleted.count) changes")
        isBusy = true
      }
      return isBusy
    }
  }
}
