import Foundation
import Synchronization
import TestSupport

@testable import CoreData

/// Random edits of one library beneath what users see of it: screens with lists and mirrors in a main-queue
/// context that merges automatically, in a child of it and in a background context, while children, other
/// contexts of the coordinator and another coordinator on the same file change it.
///
/// All contexts work, each on a thread or in turn, with merges that run when the seed says. At the end of
/// each phase everything is saved and merged: then each context, controller, list and mirror shows what a new
/// context reads; no registered object is deleted; and no context that was let go is left.
final class LiveSoak: Soak, @unchecked Sendable {
  // Unchecked: unchanged after init, except for lock-guarded state; the contexts are used on their queues.
  let mode: SoakMode
  let stack: TestStack
  /// Another coordinator on the same file; the same one for a store in memory.
  let otherCoordinator: NSPersistentStoreCoordinator
  /// In the order of `Role`.
  let contexts: [SoakContext]
  let journal = SoakJournal()
  private let _screens: [LiveScreen]
  private let _dropped = Mutex<[WeakContext]>([])
  private var _tokens: [any NSObjectProtocol] = []

  /// The contexts of the soak.
  enum Role: Int, CaseIterable {
    /// The main-queue context at the root.
    case main
    /// A child of main that merges automatically and has a screen.
    case list
    /// A child of main that merges by hand.
    case form
    /// A child of the list's context.
    case detail
    /// A background context that merges by hand.
    case importer
    /// A background context that merges automatically and has a screen.
    case background
    /// A context of the other coordinator.
    case foreign

    /// Of a hundred steps, those of this context.
    var share: Int {
      switch self {
      case .main: 30
      case .list: 16
      case .form, .detail: 10
      case .importer: 14
      case .background, .foreign: 10
      }
    }
  }

  /// - Parameter seed: Determines merge policies and undo managers.
  init(_ setting: Setting, mode: SoakMode, seed: UInt64) throws {
    self.mode = mode
    stack = try TestStack(setting)
    otherCoordinator = setting.isSQLite ? try stack.otherCoordinator() : stack.coordinator
    var random = SeededRandom(seed: seed)
    var contexts: [SoakContext] = []
    for role in Role.allCases {
      let context = SoakContext(
        concurrencyType: role == .main ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
      context.name = "\(role)"
      switch role {
      case .main, .importer, .background: context.persistentStoreCoordinator = stack.coordinator
      case .list, .form: context.parent = contexts[Role.main.rawValue]
      case .detail: context.parent = contexts[Role.list.rawValue]
      case .foreign: context.persistentStoreCoordinator = otherCoordinator
      }
      context.automaticallyMergesChangesFromParent = role != .form && role != .importer && role != .foreign
      let policy: NSMergePolicyType = random.pick([
        .errorMergePolicyType, .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
        .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
      ])!
      context.mergePolicy = NSMergePolicy(merge: policy)
      if context.parent != nil || role == .main, random.chance(60) { context.undoManager = UndoManager() }
      contexts.append(context)
    }
    self.contexts = contexts
    for context in contexts {
      let type = (context.mergePolicy as! NSMergePolicy).mergeType.rawValue
      journal.note("\(context.name!): policy \(type)\(context.undoManager == nil ? "" : ", undo")")
    }
    _screens = try [
      LiveScreen(
        contexts[Role.main.rawValue], .init(authors: TableList.self, books: DifferenceList.self), journal),
      LiveScreen(
        contexts[Role.list.rawValue], .init(authors: SnapshotList.self, books: TableList.self), journal),
      LiveScreen(
        contexts[Role.background.rawValue], .init(authors: TableList.self, books: TableList.self), journal),
    ]
    _tokens = contexts.map(observeSaves)
  }

  deinit { _tokens.forEach(NotificationCenter.default.removeObserver) }

  // MARK: Running

  func run(_ plan: SoakPlan, progress: (Int) -> Void) throws {
    var told = 0
    for phase in plan.phases {
      journal.beginPhase()
      journal.note("-- phase")
      _run(mode == .inTurn ? [phase.steps] : _byContext(phase.steps), seed: phase.seed)
      if journal.failures.isEmpty { _settle(seed: phase.seed) }
      guard journal.failures.isEmpty else { return }
      if journal.step / 1000 > told {
        told = journal.step / 1000
        progress(told * 1000)
      }
    }
  }

  private func _byContext(_ steps: [SoakPlan.Step]) -> [[SoakPlan.Step]] {
    contexts.indices.map { index in steps.filter { $0.context == index } }.filter { !$0.isEmpty }
  }

  private func _run(_ threads: [[SoakPlan.Step]], seed: UInt64) {
    _schedule(
      threads.map { steps in
        { @Sendable [self] in for step in steps where journal.failures.isEmpty { carryOut(step) } }
      }, seed: seed)
  }

  /// Runs blocks, under a schedule also in turn: merges wait until the seed lets them run.
  private func _schedule(_ blocks: [@Sendable () -> Void], seed: UInt64) {
    let mode: SoakMode = mode == .free ? .free : .scheduled
    if let deadlock = mode.run(blocks, seed: seed) { journal.fail(deadlock) }
  }

  // MARK: Mail

  /// Sends the saves of a context to those that do not merge them automatically.
  func observeSaves(of context: NSManagedObjectContext) -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [unowned self] in _deliver($0) }
  }

  private func _deliver(_ notification: Notification) {
    let saver = notification.object as! NSManagedObjectContext
    for other in contexts where other !== saver {
      let isSibling =
        other.parent == nil && other.persistentStoreCoordinator === saver.persistentStoreCoordinator
      let reaches = other.parent === saver || saver.parent == nil
      let isAutomatic =
        other.automaticallyMergesChangesFromParent && (other.parent === saver || isSibling)
      if reaches, !isAutomatic { other.deliver(notification) }
    }
  }

  // MARK: Letting go

  /// Expects a context to be gone when the phase has ended.
  func expectGone(_ context: NSManagedObjectContext) {
    let reference = WeakContext(context: context)
    _dropped.withLock { $0.append(reference) }
  }

  // MARK: Settling

  /// Saves and merges until nothing is left to save or merge, and compares all with the store.
  private func _settle(seed: UInt64) {
    journal.note("-- settle")
    var random = SeededRandom(seed: seed)
    for round in 0..<12 {
      nonisolated(unsafe) var isDone = true
      let roundSeed = random.next()
      _schedule(
        [
          { [self] in
            var random = SeededRandom(seed: roundSeed)
            for role in [Role.detail, .list, .form, .main, .importer, .background, .foreign]
            where settle(role, round: round, &random) { isDone = false }
          }
        ], seed: roundSeed)
      guard journal.failures.isEmpty else { return }
      if isDone { break }
      if round == 11 { return journal.fail("does not settle") }
    }
    _schedule([{ [self] in _checkAll() }], seed: seed)
  }

  private func _checkAll() {
    do {
      let stored = try stack.fresh { try LiveView($0) }
      if !stored.flaws.isEmpty { journal.fail("store: \(stored.flaws.prefix(4).joined(separator: "; "))") }
      if stack.setting.isSQLite {
        _compare(try _reread(), stored, "a new coordinator")
      }
      for context in contexts { try context.performAndWait { try _check(context, stored) } }
      for screen in _screens {
        let differences = try screen.context.performAndWait { try screen.differences() }
        for difference in differences.prefix(4) { journal.fail("\(screen.context.name!): \(difference)") }
      }
    } catch {
      journal.fail("the comparison threw \(error)")
    }
    let kept = _dropped.withLock { dropped in
      defer { dropped = [] }
      return dropped.compactMap { $0.context?.name }
    }
    if !kept.isEmpty { journal.fail("contexts let go are still there: \(kept)") }
  }

  private func _compare(_ view: LiveView, _ stored: LiveView, _ place: String) {
    if !view.flaws.isEmpty { journal.fail("\(place): \(view.flaws.prefix(4).joined(separator: "; "))") }
    let differences = view.differences(from: stored)
    if !differences.isEmpty {
      journal.fail("\(place) shows \(differences.prefix(4).joined(separator: "\n  ")) (which the store has)")
    }
  }

  private func _check(_ context: SoakContext, _ stored: LiveView) throws {
    let name = context.name!
    if context.hasChanges { journal.fail("\(name) has changes after it was settled") }
    context.dangling = []
    _compare(try LiveView(context), stored, name)
    if !context.dangling.isEmpty {
      journal.fail("\(name) shows missing objects: \(context.dangling.prefix(3))")
    }
    let registered = context.registeredObjects
    let ghosts = registered.filter(\.isDeleted)
    if !ghosts.isEmpty { journal.fail("\(name) keeps deleted objects: \(ghosts.map(\.objectID))") }
    if Set(registered.map(\.objectID)).count < registered.count {
      journal.fail("\(name) has several objects of one ID")
    }
  }

  /// Returns what a new coordinator reads from the file.
  private func _reread() throws -> LiveView {
    let context = try stack.otherCoordinator().newContext()
    return try context.performAndWait { try LiveView(context) }
  }

  /// Returns the screen of a context; nil if it has none.
  func screen(of context: NSManagedObjectContext) -> LiveScreen? {
    _screens.first { $0.context === context }
  }
}
