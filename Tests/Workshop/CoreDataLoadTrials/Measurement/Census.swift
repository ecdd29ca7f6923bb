import CoreData
import Synchronization

/// Counts the contexts that are alive.
final class Census: Sendable {
  private struct Reference: @unchecked Sendable {
    // Unchecked: only asked whether the context is there.
    weak var context: AnyObject?
  }

  private struct State {
    var references: [Reference] = []
    var most = 0
  }

  private let _state = Mutex(State())

  /// Counts a context from now on.
  func add(_ context: AnyObject) {
    let reference = Reference(context: context)
    _state.withLock { $0.references.append(reference) }
  }

  /// The number of contexts that are alive.
  @discardableResult
  func count() -> Int {
    _state.withLock { state in
      // An array of its own size: one that keeps the place of thousands that are gone would count as growth.
      state.references = state.references.filter { $0.context != nil }
      state.most = max(state.most, state.references.count)
      return state.references.count
    }
  }

  /// Has the contexts unregister the objects that nothing else retains, which they do themselves whenever
  /// several hundred more are registered. Not to be called on the queue of one of them.
  func sweep() {
    let contexts = _state.withLock { $0.references.compactMap { $0.context as? NSManagedObjectContext } }
    for context in contexts { context.performAndWait { _ = context.registeredObjects.count } }
  }

  /// The highest number that was counted.
  var most: Int { _state.withLock { $0.most } }
}
