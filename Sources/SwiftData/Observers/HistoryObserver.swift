import CoreData
import Synchronization

/// Counts relevant changes of a container's stores: those of some classes, by some authors.
///
/// May be used on any thread.
public final class HistoryObserver: Observable, Sendable {
  /// The container.
  public let modelContainer: ModelContainer
  /// Classes to observe; empty for all.
  public let observedModels: [any PersistentModel.Type]
  /// Authors to observe; empty for all.
  public let authors: Set<String>
  private let _registrar = ObservationRegistrar()
  private let _state: Mutex<State>
  private let _queue = DispatchQueue(label: "SwiftData.HistoryObserver")

  private struct State {
    var counter = 0
    /// Numbers of the last transactions processed, by store.
    var seen: [String: Int64]
    var observation: NotificationObservation?
  }

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - historyTokens: Start positions, by store identifier; nil for the current ones.
  ///   - observedModels: Classes to observe; empty for all.
  ///   - authors: Authors to observe; empty for all.
  ///   - modelContainer: The container.
  ///   - isolation: The caller's.
  /// - Throws: Nothing; Apple's throws for tokens that have expired.
  public init(
    historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
    authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    self.modelContainer = modelContainer
    self.observedModels = observedModels
    self.authors = authors
    let seen =
      historyTokens?.compactMapValues { ($0 as? DefaultHistoryToken)?.number }
      ?? HistoryReader(context: ModelContext(modelContainer)).newest()
    _state = Mutex(State(seen: seen))
    let observation = NotificationObservation(
      of: ModelContainer.remoteChange, from: modelContainer.core.coordinator
    ) { [weak self] _ in
      guard let self else { return }
      self._queue.async { self._look() }
    }
    _state.withLock { $0.observation = observation }
    if historyTokens != nil { _queue.async { self._look() } }
  }

  /// The number of changes that counted so far.
  public var eventCounter: Int {
    _registrar.access(self, keyPath: \.eventCounter)
    return _state.withLock { $0.counter }
  }

  /// Processes the transactions since the last call.
  private func _look() {
    do {
      let seen = _state.withLock { $0.seen }
      let new = try HistoryReader(context: ModelContext(modelContainer)).fetch(after: seen)
      guard !new.isEmpty else { return }
      let count = new.reduce(0) { $0 + _count($1) }
      _state.withLock { state in
        for transaction in new { state.seen[transaction.storeIdentifier] = transaction.transactionIdentifier }
      }
      guard count > 0 else { return }
      _registrar.withMutation(of: self, keyPath: \.eventCounter) { _state.withLock { $0.counter += count } }
    } catch {
      Console.warn("a HistoryObserver can't read the history; its counter stays: \(error)")
    }
  }

  private func _count(_ transaction: DefaultHistoryTransaction) -> Int {
    guard authors.isEmpty || transaction.author.map(authors.contains) ?? false else { return 0 }
    guard !observedModels.isEmpty else { return transaction.changes.count }
    let names = Set(observedModels.map { ModelClass.name(of: $0) })
    return transaction.changes.count { names.contains($0.changedPersistentIdentifier.entityName) }
  }
}
