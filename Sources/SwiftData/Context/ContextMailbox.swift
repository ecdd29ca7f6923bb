import CoreData
import Synchronization

/// The saves of other contexts since a context last processed them, and the observers that wait for them.
///
/// Holds a bounded number of saved objects: a context that is not used for a long time rereads its models instead.
final class ContextMailbox: @unchecked Sendable {
  // Unchecked: a lock guards the state.

  /// The required reaction to other saves.
  enum PendingSaves: Sendable {
    case none
    case saves([SavedNews])
    case everything
  }

  /// Maximum number of pending saves.
  private static let _mostSaves = 64
  /// Maximum number of objects in the pending saves.
  private static let _mostObjects = 2000

  private struct State {
    var saves: [SavedNews] = []
    var objectCount = 0
    /// Whether all models are reread, instead of merging each save.
    var isOverdue = false
    /// Called when saves arrive, by the observer that waits.
    var wakes: [ObjectIdentifier: @Sendable () -> Void] = [:]
    /// Whether the observers were notified since the saves were last removed.
    var hasWoken = false

    mutating func becomeOverdue() {
      isOverdue = true
      saves = []
    }
  }

  private let _state = Mutex(State())

  /// Registers a closure that is called on any thread when saves arrive: once until they are removed.
  func addWake(for observer: AnyObject, _ wake: @escaping @Sendable () -> Void) {
    _state.withLock { state in
      state.wakes[ObjectIdentifier(observer)] = wake
      state.hasWoken = false
    }
  }

  /// Removes the closure of an observer.
  func removeWake(for observer: AnyObject) {
    _state.withLock { $0.wakes[ObjectIdentifier(observer)] = nil }
  }

  func put(_ save: SavedNews) {
    _change { state in
      guard !state.isOverdue else { return }
      state.objectCount += save.objectCount
      if state.saves.count < Self._mostSaves, state.objectCount <= Self._mostObjects {
        state.saves.append(save)
      } else {
        state.becomeOverdue()
      }
    }
  }

  func putReset() { _change { $0.becomeOverdue() } }

  private func _change(_ change: (inout State) -> Void) {
    let wakes = _state.withLock { state -> [@Sendable () -> Void] in
      change(&state)
      guard !state.hasWoken else { return [] }
      state.hasWoken = true
      return Array(state.wakes.values)
    }
    for wake in wakes { wake() }
  }

  /// Removes and returns the saves since the last call.
  func drain() -> PendingSaves {
    _state.withLock { state in
      let pending: PendingSaves =
        state.isOverdue ? .everything : state.saves.isEmpty ? .none : .saves(state.saves)
      state.saves = []
      state.objectCount = 0
      state.isOverdue = false
      state.hasWoken = false
      return pending
    }
  }
}

/// The contents of a save notification.
struct SavedNews: @unchecked Sendable {
  // Unchecked: contains only IDs and rows, which are immutable.
  let userInfo: [AnyHashable: Any]
  /// Rows that were deleted by a predicate.
  let rows: [KeyRun]
  /// The number of inserted, updated and deleted objects.
  let objectCount: Int

  init(_ userInfo: [AnyHashable: Any]) {
    self.userInfo = userInfo
    rows = []
    objectCount = userInfo.values.reduce(0) { $0 + (($1 as? Set<NSManagedObjectID>)?.count ?? 0) }
  }

  init(deletionsOf rows: [KeyRun]) {
    userInfo = [:]
    self.rows = rows
    objectCount = rows.reduce(0) { $0 + $1.keys.count }
  }
}
