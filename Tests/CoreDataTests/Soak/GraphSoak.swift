import Foundation
import Synchronization
import TestSupport

@testable import CoreData

/// A context of the soak: records references to missing objects.
final class SoakContext: NSManagedObjectContext, @unchecked Sendable {
  // Unchecked: `dangling` is used only in its blocks; the inbox is guarded by its lock.
  var dangling: [String] = []
  private let _inbox = Mutex(Mail())

  private struct Mail: @unchecked Sendable {
    // Unchecked: notifications are passed on unchanged.
    var notifications: [Notification] = []
  }

  /// Enqueues a save of another context for merging.
  func deliver(_ notification: Notification) {
    let mail = Mail(notifications: [notification])
    _inbox.withLock { $0.notifications += mail.notifications }
  }

  /// Whether saves of other contexts wait to be merged.
  var hasInbox: Bool { _inbox.withLock { !$0.notifications.isEmpty } }

  /// Removes and returns the saves to merge, oldest first.
  func takeInbox() -> [Notification] {
    _inbox.withLock { inbox -> Mail in
      defer { inbox = Mail() }
      return inbox
    }.notifications
  }

  override func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    dangling.append("\(oid)")
    return true
  }
}

/// Random edits of one library through three sibling and three nested contexts, checked step by step.
///
/// The steps are grouped in phases. In a solo phase one context works alone, and it is compared with its
/// parents and the store after every step. In a crowd phase all contexts work, and merge each other's saves
/// late or not until the phase ends. At the end of each phase everything is saved and merged: then every
/// context must show what a new one reads.
///
/// A crowd may work concurrently, each context on a separate thread. A link may then lead to an object that
/// another context has just deleted; the final state is the same. Parents are rolled back meanwhile: their
/// children reread what they had read from them, and keep their own changes.
final class GraphSoak: Soak {
  let mode: SoakMode
  let stack: TestStack
  /// Three on the coordinator, two children of the first, and a child of the first child.
  let contexts: [SoakContext]
  /// Whether several threads are running.
  private var _isAtOnce = false
  let journal = SoakJournal()
  let assignments: Mutex<SoakAssignments>

  init(_ setting: Setting, mode: SoakMode = .inTurn) throws {
    self.mode = mode
    stack = try TestStack(setting)
    var contexts: [SoakContext] = []
    for index in 0..<6 {
      let context = SoakContext(concurrencyType: .privateQueueConcurrencyType)
      context.name = ["A", "B", "C", "A1", "A2", "A11"][index]
      switch index {
      case 0...2:
        context.persistentStoreCoordinator = stack.coordinator
      case 3, 4: context.parent = contexts[0]
      default: context.parent = contexts[3]
      }
      context.undoManager = index % 2 == 0 ? UndoManager() : nil
      context.undoManager?.groupsByEvent = true
      contexts.append(context)
    }
    self.contexts = contexts
    assignments = Mutex(SoakAssignments(contextCount: contexts.count))
  }

  func index(of context: NSManagedObjectContext) -> Int { contexts.firstIndex { $0 === context }! }

  /// Runs the plan, up to the first failure.
  ///
  /// - Parameter progress: Called every thousand steps.
  func run(_ plan: SoakPlan, progress: (Int) -> Void) throws {
    var told = 0
    for phase in plan.phases {
      journal.beginPhase()
      if phase.isSolo {
        try _solo(phase.steps)
      } else if mode == .inTurn {
        journal.note("-- crowd")
        try _crowd(phase.steps)
      } else {
        _crowdAtOnce(phase)
      }
      var random = SeededRandom(seed: phase.seed)
      if journal.failures.isEmpty { try _settle(&random) }
      guard journal.failures.isEmpty else { return }
      if journal.step / 1000 > told {
        told = journal.step / 1000
        progress(told * 1000)
      }
    }
  }

  /// Records a failure, after which the soak stops.
  func fail(_ message: String) { journal.fail(message) }

  // MARK: Phases

  private func _solo(_ steps: [SoakPlan.Step]) throws {
    guard let first = steps.first else { return }
    let context = contexts[first.context]
    journal.note("-- solo \(context.name!)")
    for step in steps where journal.failures.isEmpty {
      try _do(step, isAlone: true)
      try checkChain(from: context)
    }
  }

  private func _crowd(_ steps: [SoakPlan.Step]) throws {
    for step in steps where journal.failures.isEmpty {
      try _do(step, isAlone: false)
      if mode == .inTurn { noteDangling(contexts[step.context]) }
    }
  }

  /// Runs a crowd with one thread per context.
  private func _crowdAtOnce(_ phase: SoakPlan.Phase) {
    journal.note("-- crowd at once")
    _isAtOnce = true
    defer { _isAtOnce = false }
    // The threads use only their own contexts and lock-guarded state; nothing else runs meanwhile.
    nonisolated(unsafe) let soak = self
    let blocks = contexts.indices.map { index in
      let steps = phase.steps.filter { $0.context == index }
      return { @Sendable in
        do {
          try soak._crowd(steps)
        } catch {
          soak.fail("\(soak.contexts[index].name!) threw \(error)")
        }
      }
    }
    if let deadlock = mode.run(blocks, seed: phase.seed) { fail(deadlock) }
    guard journal.failures.isEmpty else { return }
    for context in contexts { context.performAndWait { context.dangling = [] } }
  }

  /// Saves everything from the leaves up, lets every context merge, and compares all with the store.
  private func _settle(_ random: inout SeededRandom) throws {
    journal.note("-- settle")
    for context in [5, 3, 4, 0, 1, 2].map({ contexts[$0] }) {
      if context.parent == nil || random.chance(80) {
        if random.chance(70) {
          try _mergeInbox(context)
          if context.parent == nil { try checkMerged(context) }
        }
        try _save(context)
      } else {
        try _rollback(context)
      }
      guard journal.failures.isEmpty else { return }
    }
    // A merge may delete objects that others deleted, which is another change to save and post.
    for _ in 0..<3 {
      for context in [5, 3, 4, 0, 1, 2].map({ contexts[$0] }) {
        try _mergeInbox(context)
        if context.performAndWait({ context.hasChanges }) { try _save(context) }
      }
    }
    try checkAll()
  }

  // MARK: Steps

  private func _do(_ step: SoakPlan.Step, isAlone: Bool) throws {
    let context = contexts[step.context]
    switch step.action {
    case .edit: try _edit(context, step, isAlone: isAlone)
    case .save: try _save(context)
    case .merge: try _mergeInbox(context)
    case .rollback: try _rollback(context)
    }
    let flaws = context.performAndWait { context.inconsistencies }
    if !flaws.isEmpty { fail("\(context.name!): \(flaws.prefix(4).joined(separator: "; "))") }
  }

  private func _edit(_ context: SoakContext, _ step: SoakPlan.Step, isAlone: Bool) throws {
    var random = SeededRandom(seed: step.seed)
    var serial = step.serial
    try journal.noteStep {
      try context.performAndWait {
        let editor = GraphEditor(context, isAlone: isAlone)
        let label = try editor.edit(&random, serial: &serial)
        editor.failures.forEach(fail)
        assignments.withLock { $0.insert(editor.assigned, of: step.context) }
        return "\(context.name!) \(label)"
      }
    }
  }

  private func _save(_ context: SoakContext) throws {
    nonisolated(unsafe) var saved: Notification?
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { saved = $0 }
    defer { NotificationCenter.default.removeObserver(token) }
    do {
      // With threads, a parent may save its child's changes before the child's save returns.
      assignments.withLock { $0.copy(index(of: context), to: context.parent.map(index)) }
      if context.parent == nil, !_isAtOnce {
        try checkingAssignments(of: context) { try context.performAndWait { try context.save() } }
      } else {
        try context.performAndWait { try context.save() }
      }
      if !_isAtOnce { assignments.withLock { $0.discard(index(of: context)) } }
      journal.noteStep { "\(context.name!) save" }
    } catch let error as CocoaError
      where error.errorCode == NSManagedObjectMergeError
      || error.errorCode == NSPersistentStoreSaveConflictsError
    {
      journal.noteStep { "\(context.name!) save: conflict" }
      // Changes are merged below the unsaved ones, so that the next save has no conflict.
      try _rollback(context)
      try _mergeInbox(context)
      return
    }
    guard let saved else { return fail("\(context.name!) posted no DidSave") }
    for other in contexts where other !== context && !_isAncestor(other, of: context) {
      // A child's save affects its parent and, through it, its siblings.
      if context.parent == nil || other.parent === context { other.deliver(saved) }
    }
  }

  private func _isAncestor(_ ancestor: NSManagedObjectContext, of context: NSManagedObjectContext) -> Bool {
    var next = context.parent
    while let level = next {
      if level === ancestor { return true }
      next = level.parent
    }
    return false
  }

  private func _rollback(_ context: SoakContext) throws {
    journal.noteStep { "\(context.name!) rollback" }
    context.performAndWait {
      context.rollback()
      if context.hasChanges { fail("\(context.name!) has changes after rollback") }
    }
    // With threads, a child may save just after the rollback.
    if _isAtOnce { return }
    assignments.withLock { $0.discard(index(of: context)) }
    // The children reread what they have saved; merges are enqueued.
    for child in contexts where _isAncestor(context, of: child) { child.performAndWait {} }
  }

  private func _mergeInbox(_ context: SoakContext) throws {
    let inbox = context.takeInbox()
    guard !inbox.isEmpty else { return }
    journal.noteStep { "\(context.name!) merges \(inbox.count)" }
    context.performAndWait {
      for notification in inbox { context.mergeChanges(fromContextDidSave: notification) }
    }
  }
}
