import CoreData
import Foundation

/// A context of the soak: notes when something points at an object that is not there.
final class SoakContext: NSManagedObjectContext, @unchecked Sendable {
  // Unchecked: used inside its blocks only, by one thread.
  var dangling: [String] = []
  /// Saves of others that this context has not merged yet, oldest first.
  var inbox: [Notification] = []

  override func shouldHandleInaccessibleFault(
    _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
  ) -> Bool {
    dangling.append("\(oid)")
    return true
  }
}

/// Random edits of one library through three sibling and three nested contexts, checked step by step.
///
/// The steps come in phases. In a solo phase one context works alone, and it, its parents and the store are compared after
/// every step. In a crowd phase all contexts work and merge each other's saves late or not at all until the phase ends.
/// At the end of either, everything is saved and merged: then every context must show what a new one reads.
final class GraphSoak {
  let seed: UInt64
  var random: SeededRandom
  let stack: TestStack
  private let _model: NSManagedObjectModel
  /// Three on the coordinator, two children of the first, a child of the first child.
  let contexts: [SoakContext]
  private(set) var step = 0
  private(set) var log: [String] = []
  /// What was found wrong; the soak stops at the first.
  private(set) var failures: [String] = []
  private var _serial = 0

  init(_ setting: Setting, seed: UInt64) throws {
    self.seed = seed
    random = SeededRandom(seed: seed)
    _model = LibraryModel.make()
    stack = try TestStack(setting, model: _model)
    var contexts: [SoakContext] = []
    for index in 0..<6 {
      let context = SoakContext(concurrencyType: .privateQueueConcurrencyType)
      context.name = ["A", "B", "C", "A1", "A2", "A11"][index]
      switch index {
      case 0...2: context.persistentStoreCoordinator = stack.coordinator
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
      if random.chance(50) { try _solo(random.pick(contexts)!) } else { try _crowd() }
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
      + log.suffix(40).joined(separator: "\n  ")
  }

  // MARK: Phases

  private func _solo(_ context: SoakContext) throws {
    log.append("-- solo \(context.name!)")
    for _ in 0..<(3 + random.below(12)) where failures.isEmpty {
      try _edit(context, isAlone: true)
      try _checkChain(from: context)
    }
    while failures.isEmpty, context.parent != nil, random.chance(40) {
      try _save(context)
      try _checkChain(from: context)
    }
  }

  private func _crowd() throws {
    log.append("-- crowd")
    for _ in 0..<(5 + random.below(30)) where failures.isEmpty {
      let context = random.pick(contexts)!
      switch random.below(100) {
      case 0..<12: try _save(context)
      case 12..<17: try _rollback(context)
      case 17..<30: try _mergeInbox(context)
      default: try _edit(context, isAlone: false)
      }
      _noteDangling(context)
    }
  }

  /// Saves everything from the leaves up, has everybody merge, and compares all with the store.
  private func _settle() throws {
    log.append("-- settle")
    for context in [5, 3, 4, 0, 1, 2].map({ contexts[$0] }) {
      if context.parent == nil || random.chance(80) {
        if random.chance(70) { try _mergeInbox(context) }
        try _save(context)
      } else {
        try _rollback(context)
      }
      guard failures.isEmpty else { return }
    }
    // A merge may delete what others deleted, which is a change of its own; then it is saved and told once more.
    for _ in 0..<3 {
      for context in [5, 3, 4, 0, 1, 2].map({ contexts[$0] }) {
        try _mergeInbox(context)
        if context.performAndWait({ context.hasChanges }) { try _save(context) }
      }
    }
    try _checkAll()
  }

  // MARK: Checks

  private func fail(_ message: String) { failures.append(message) }

  private func _noteDangling(_ context: SoakContext) {
    guard !context.dangling.isEmpty else { return }
    fail("\(context.name!) shows objects that are not there: \(context.dangling.prefix(3))")
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

  /// What a coordinator that has seen nothing reads from the file.
  private func _reread() throws -> GraphView {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: _model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try GraphView(context) }
  }

  // MARK: Steps

  private func _edit(_ context: SoakContext, isAlone: Bool) throws {
    step += 1
    try context.performAndWait {
      let editor = GraphEditor(context, isAlone: isAlone)
      let label = try editor.edit(&random, serial: &_serial)
      log.append("\(step) \(context.name!) \(label)")
      failures += editor.failures
    }
  }

  private func _save(_ context: SoakContext) throws {
    step += 1
    nonisolated(unsafe) var saved: Notification?
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { saved = $0 }
    defer { NotificationCenter.default.removeObserver(token) }
    do {
      try context.performAndWait { try context.save() }
      log.append("\(step) \(context.name!) save")
    } catch let error as CocoaError
      where error.errorCode == NSManagedObjectMergeError
      || error.errorCode == NSPersistentStoreSaveConflictsError
    {
      log.append("\(step) \(context.name!) save: conflict, rolled back")
      try _rollback(context)
      try _mergeInbox(context)
      return
    }
    guard let saved else { return fail("\(context.name!) posted no DidSave") }
    for other in contexts where other !== context && !_isAncestor(other, of: context) {
      // A child's save is nobody's business but its parent's and, through it, its siblings'.
      if context.parent == nil || other.parent === context { other.inbox.append(saved) }
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
    step += 1
    log.append("\(step) \(context.name!) rollback")
    context.performAndWait {
      context.rollback()
      if context.hasChanges { fail("\(context.name!) has changes after rollback") }
    }
    // What children had saved up is gone; they start over.
    for child in contexts where _isAncestor(context, of: child) {
      child.performAndWait { child.reset() }
      log.append("  \(child.name!) reset")
    }
  }

  private func _mergeInbox(_ context: SoakContext) throws {
    guard !context.inbox.isEmpty else { return }
    step += 1
    log.append("\(step) \(context.name!) merges \(context.inbox.count)")
    let inbox = context.inbox
    context.inbox = []
    context.performAndWait {
      for notification in inbox { context.mergeChanges(fromContextDidSave: notification) }
    }
  }
}
