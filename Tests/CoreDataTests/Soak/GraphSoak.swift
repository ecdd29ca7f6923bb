import Foundation
import Synchronization

@testable import CoreData

/// A context of the soak: notes when something points at an object that is not there.
final class SoakContext: NSManagedObjectContext, @unchecked Sendable {
  // Unchecked: `dangling` is used inside its blocks only, the inbox is guarded by its lock.
  var dangling: [String] = []
  private let _inbox = Mutex(Mail())

  private struct Mail: @unchecked Sendable {
    // Unchecked: notifications are passed on, never changed.
    var notifications: [Notification] = []
  }

  /// A save of somebody else that this context has not merged yet.
  func deliver(_ notification: Notification) {
    let mail = Mail(notifications: [notification])
    _inbox.withLock { $0.notifications += mail.notifications }
  }

  /// Takes out the saves that are yet to be merged, oldest first.
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
/// The steps come in phases. In a solo phase one context works alone, and it, its parents and the store are
/// compared after every step. In a crowd phase all contexts work and merge each other's saves late or not at
/// all until the phase ends. At the end of either, everything is saved and merged: then every context must
/// show what a new one reads.
///
/// A crowd may work at the same time, a thread for each context. Then the same seed no longer makes the same
/// edits, and a link may lead to what somebody else has just deleted; what must hold at the end is the same.
/// Parents are not rolled back meanwhile: a child that saves before it has started over would save what it
/// had read of them.
final class GraphSoak {
  let seed: UInt64
  let isConcurrent: Bool
  var random: SeededRandom
  let stack: TestStack
  private let _model: NSManagedObjectModel
  /// Three on the coordinator, two children of the first, a child of the first child.
  let contexts: [SoakContext]
  private var _serial = 0
  /// Whether several threads are at work.
  private var _isAtOnce = false
  private let _journal = Mutex(Journal())

  private struct Journal {
    var step = 0
    var log: [String] = []
    var failures: [String] = []
  }

  var step: Int { _journal.withLock { $0.step } }
  /// What was found wrong; the soak stops at the first.
  var failures: [String] { _journal.withLock { $0.failures } }

  init(_ setting: Setting, seed: UInt64, isConcurrent: Bool = false) throws {
    self.seed = seed
    self.isConcurrent = isConcurrent
    random = SeededRandom(seed: seed)
    _model = LibraryModel.make()
    stack = try TestStack(setting, model: _model)
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
  }

  /// Takes about so many steps.
  ///
  /// - Parameter progress: Told of every thousand steps.
  func run(steps: Int, progress: (Int) -> Void = { _ in }) throws {
    var told = 0
    while step < steps, failures.isEmpty {
      if random.chance(50) {
        try _solo(random.pick(contexts)!)
      } else if isConcurrent {
        try _crowdAtOnce()
      } else {
        _note("-- crowd")
        try _crowd(contexts, steps: 5 + random.below(30), &random, &_serial)
      }
      if failures.isEmpty { try _settle() }
      if step / 1000 > told {
        told = step / 1000
        progress(told * 1000)
      }
    }
  }

  /// What a failure needs to be understood: the seed and the last steps.
  var report: String {
    "seed \(seed), step \(step): \(failures.prefix(6).joined(separator: "\n  "))\nlast steps:\n  "
      + _journal.withLock { $0.log.suffix(40).joined(separator: "\n  ") }
  }

  // MARK: Phases

  private func _solo(_ context: SoakContext) throws {
    _note("-- solo \(context.name!)")
    for _ in 0..<(3 + random.below(12)) where failures.isEmpty {
      try _edit(context, isAlone: true, &random, &_serial)
      try _checkChain(from: context)
    }
    while failures.isEmpty, context.parent != nil, random.chance(40) {
      try _save(context)
      try _checkChain(from: context)
    }
  }

  private func _crowd(
    _ contexts: [SoakContext], steps: Int, _ random: inout SeededRandom, _ serial: inout Int
  ) throws {
    for _ in 0..<steps where failures.isEmpty {
      let context = random.pick(contexts)!
      switch random.below(100) {
      case 0..<12: try _save(context)
      case 12..<17 where !_isWatched(context): try _rollback(context)
      case 17..<30: try _mergeInbox(context)
      default: try _edit(context, isAlone: false, &random, &serial)
      }
      if !isConcurrent { _noteDangling(context) }
    }
  }

  /// A crowd with a thread for each context.
  private func _crowdAtOnce() throws {
    _note("-- crowd at once")
    _isAtOnce = true
    defer { _isAtOnce = false }
    let group = DispatchGroup()
    for context in contexts {
      // The threads use their own contexts, and what is guarded by locks; nobody else works meanwhile.
      nonisolated(unsafe) let soak = self
      let seed = random.next()
      let steps = 2 + random.below(12)
      let start = _serial
      // An edit inserts three objects at most.
      _serial += 3 * steps
      group.enter()
      let thread = Thread {
        var random = SeededRandom(seed: seed)
        var serial = start
        do {
          try soak._crowd([context], steps: steps, &random, &serial)
        } catch {
          soak.fail("\(context.name!) threw \(error)")
        }
        group.leave()
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
    group.wait()
    for context in contexts { context.performAndWait { context.dangling = [] } }
  }

  /// Saves everything from the leaves up, has everybody merge, and compares all with the store.
  private func _settle() throws {
    _note("-- settle")
    for context in [5, 3, 4, 0, 1, 2].map({ contexts[$0] }) {
      if context.parent == nil || random.chance(80) {
        if random.chance(70) { try _mergeInbox(context) }
        try _save(context)
      } else {
        try _rollback(context)
      }
      guard failures.isEmpty else { return }
    }
    // A merge may delete what others deleted, which is a change of its own; then it is saved and told once
    // more.
    for _ in 0..<3 {
      for context in [5, 3, 4, 0, 1, 2].map({ contexts[$0] }) {
        try _mergeInbox(context)
        if context.performAndWait({ context.hasChanges }) { try _save(context) }
      }
    }
    try _checkAll()
  }

  // MARK: Checks

  private func fail(_ message: String) { _journal.withLock { $0.failures.append(message) } }

  private func _note(_ line: String) { _journal.withLock { $0.log.append(line) } }

  /// Notes a step; what is to be said of it may be known only when it is done.
  private func _noteStep(_ line: () throws -> String) rethrows {
    let number = _journal.withLock { journal in
      journal.step += 1
      return journal.step
    }
    _note("\(number) \(try line())")
  }

  private func _noteDangling(_ context: SoakContext) {
    let dangling = context.performAndWait { context.dangling }
    guard !dangling.isEmpty else { return }
    fail("\(context.name!) shows objects that are not there: \(dangling.prefix(3))")
  }

  private func _view(_ context: NSManagedObjectContext) throws -> GraphView {
    try context.performAndWait { try GraphView(context) }
  }

  /// In a context that works alone both ends of every link agree, at every level.
  private func _checkChain(from context: SoakContext) throws {
    var next: NSManagedObjectContext? = context
    while let level = next as? SoakContext {
      let view = try _view(level)
      if !view.flaws.isEmpty { fail("\(level.name!): \(view.flaws.prefix(4).joined(separator: "; "))") }
      _noteDangling(level)
      next = level.parent
    }
  }

  /// Every context, clean and merged, shows what is in the store.
  private func _checkAll() throws {
    let fresh = try stack.fresh { try GraphView($0) }
    if !fresh.flaws.isEmpty { fail("store: \(fresh.flaws.prefix(4).joined(separator: "; "))") }
    if stack.setting.isSQLite {
      let reread = try _reread()
      let differences = reread.differences(from: fresh)
      if !differences.isEmpty { fail("the file has \(differences.prefix(4).joined(separator: "\n  "))") }
    }
    for context in contexts {
      if context.performAndWait({ context.hasChanges }) {
        fail("\(context.name!) has changes after it was settled")
      }
      let view = try _view(context)
      if !view.flaws.isEmpty { fail("\(context.name!): \(view.flaws.prefix(4).joined(separator: "; "))") }
      let differences = view.differences(from: fresh)
      if !differences.isEmpty {
        fail(
          "\(context.name!) shows \(differences.prefix(4).joined(separator: "\n  ")) (which is what the store has)"
        )
      }
      _noteDangling(context)
      _checkRegistry(context)
      try _checkVersions(context)
    }
  }

  /// No two registered objects are the same one.
  private func _checkRegistry(_ context: SoakContext) {
    context.performAndWait {
      var seen = Set<URL>()
      for object in context.registeredObjects where !object.objectID.isTemporaryID {
        if !seen.insert(object.objectID.uriRepresentation()).inserted {
          fail("\(context.name!) has \(object.objectID) twice")
        }
      }
    }
  }

  /// Every object is of the version that the store has: with another its next save would be a conflict with
  /// nobody.
  private func _checkVersions(_ context: SoakContext) throws {
    try context.performAndWait {
      for object in context.registeredObjects {
        guard let key = object._key, let version = object._row?.version,
          let stored = try stack.coordinator.row(for: key)?.version
        else { continue }
        if version != stored {
          fail("\(context.name!) has version \(version) of \(object.objectID), the store \(stored)")
        }
      }
    }
  }

  /// What a coordinator that has seen nothing reads from the file.
  private func _reread() throws -> GraphView {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: _model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try GraphView(context) }
  }

  // MARK: Steps

  private func _edit(
    _ context: SoakContext, isAlone: Bool, _ random: inout SeededRandom, _ serial: inout Int
  ) throws {
    try _noteStep {
      try context.performAndWait {
        let editor = GraphEditor(context, isAlone: isAlone)
        let label = try editor.edit(&random, serial: &serial)
        editor.failures.forEach(fail)
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
      try context.performAndWait { try context.save() }
      _noteStep { "\(context.name!) save" }
    } catch let error as CocoaError
      where error.errorCode == NSManagedObjectMergeError
      || error.errorCode == NSPersistentStoreSaveConflictsError
    {
      _noteStep { "\(context.name!) save: conflict" }
      // What is merged goes under the unsaved changes, so that the next save fits.
      if !_isWatched(context) { try _rollback(context) }
      try _mergeInbox(context)
      return
    }
    guard let saved else { return fail("\(context.name!) posted no DidSave") }
    for other in contexts where other !== context && !_isAncestor(other, of: context) {
      // A child's save is nobody's business but its parent's and, through it, its siblings'.
      if context.parent == nil || other.parent === context { other.deliver(saved) }
    }
  }

  /// Whether the context has children that are at work.
  private func _isWatched(_ context: NSManagedObjectContext) -> Bool {
    _isAtOnce && contexts.contains { $0.parent === context }
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
    _noteStep { "\(context.name!) rollback" }
    context.performAndWait {
      context.rollback()
      if context.hasChanges { fail("\(context.name!) has changes after rollback") }
    }
    // What children had saved up is gone; they start over.
    for child in contexts where _isAncestor(context, of: child) {
      child.performAndWait { child.reset() }
      _note("  \(child.name!) reset")
    }
  }

  private func _mergeInbox(_ context: SoakContext) throws {
    let inbox = context.takeInbox()
    guard !inbox.isEmpty else { return }
    _noteStep { "\(context.name!) merges \(inbox.count)" }
    context.performAndWait {
      for notification in inbox { context.mergeChanges(fromContextDidSave: notification) }
    }
  }
}
