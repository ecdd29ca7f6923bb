import CoreData
import Foundation

extension TestStore {
  /// Runs a block that saves, and returns once a context has merged what was saved.
  ///
  /// ```swift
  /// try await store.merged(into: store.viewContext) {
  ///   try await background.perform { try background.save() }
  /// }
  /// store.expect(book.title == "Orlando")
  /// ```
  ///
  /// The context merges automatically (`automaticallyMergesChangesFromParent`), or through an observer of yours that
  /// calls `mergeChanges(fromContextDidSave:)`. If it has not merged within the limit, the test fails.
  ///
  /// - Parameters:
  ///   - context: The context that merges.
  ///   - limit: How many seconds to wait.
  public func merged<Result>(
    into context: NSManagedObjectContext, within limit: TimeInterval = 10, fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let log = MergeLog(into: context, of: coordinator)
    defer { log.stop() }
    let result = try await body()
    let deadline = Date() + limit
    await context.turn()
    #if !canImport(Darwin)
    // The save has queued the merge before it returned; what it changes in no object is not announced.
    if context.automaticallyMergesChangesFromParent { log.finishMerges() }
    #endif
    while !log.isDone, Date() < deadline {
      try? await Task.sleep(nanoseconds: 1_000_000)
      await context.turn()
    }
    if let problem = log.problem(within: limit) {
      report.record(problem, at: TestPlace(fileID, filePath, line, column))
    }
    return result
  }
}

/// What other contexts save and one context merges.
private final class MergeLog: @unchecked Sendable {
  // Unchecked: the state is guarded; the observers are set once.
  private struct State {
    var saves = 0
    /// Saves that no merge has followed.
    var waiting = 0
  }

  private let _state = Guarded(State())
  private let _merges: Bool
  private let _observations: [NotificationObservation]

  init(into context: NSManagedObjectContext, of coordinator: NSPersistentStoreCoordinator) {
    _merges = context.automaticallyMergesChangesFromParent
    let state = _state
    let target = ObjectIdentifier(context)
    let saves = NotificationObservation(of: .NSManagedObjectContextDidSave) { [weak context] save in
      guard let saver = save.object as? NSManagedObjectContext, ObjectIdentifier(saver) != target,
        let context, saver.persistentStoreCoordinator === coordinator || saver === context.parent
      else { return }
      // A child's save is the parent's change, and no merge.
      guard saver.parent == nil || saver === context.parent else { return }
      state.withLock { state in
        state.saves += 1
        state.waiting += 1
      }
    }
    let merges = NotificationObservation(
      of: NSManagedObjectContext.didMergeChangesObjectIDsNotification, from: context
    ) { _ in
      state.withLock { $0.waiting = 0 }
    }
    _observations = [saves, merges]
  }

  func finishMerges() { _state.withLock { $0.waiting = 0 } }

  var isDone: Bool { _state.withLock { $0.saves > 0 && $0.waiting == 0 } }

  func problem(within limit: TimeInterval) -> String? {
    let state = _state.withLock { $0 }
    if state.saves == 0 { return "No other context of the store saved, so there was nothing to merge." }
    guard state.waiting > 0 else { return nil }
    return "The context has not merged \(state.waiting) of \(state.saves) saves within \(limit) s."
      + (_merges
        ? ""
        : " Its automaticallyMergesChangesFromParent is false, and no mergeChanges(fromContextDidSave:) was called.")
  }

  func stop() {
    for observation in _observations { observation.end() }
  }
}
