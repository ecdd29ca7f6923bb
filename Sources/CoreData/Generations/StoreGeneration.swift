import Foundation
import Synchronization

/// The stores of a coordinator as they were at one moment, with the rows read of that state. May be used from
/// any thread.
final class StoreGeneration: Sendable {
  /// Tells generations apart, in archives of their tokens.
  let name = UUID().uuidString
  /// Rows of this state; the coordinator's own cache has the latest.
  let rowCache = RowCache()
  private let _views: [(store: StoreKey, view: any StoreReading)]
  /// Stores that cannot keep an older state; of them the latest is read.
  private let _followed: [(store: StoreKey, view: any StoreReading)]

  private static let _live = Mutex<[String: WeakGeneration]>([:])
  private struct WeakGeneration { weak var generation: StoreGeneration? }

  /// The present state of these stores; nil if none of them can keep it.
  ///
  /// Exactly which moment it is, is settled by the first read.
  ///
  /// - Throws: A Cocoa error when a store cannot be read from a further connection.
  init?(of stores: [NSPersistentStore]) throws {
    var views: [(StoreKey, any StoreReading)] = []
    var followed: [(StoreKey, any StoreReading)] = []
    for store in stores {
      let view = try StoreErrors.translating(url: store.url) {
        try (store.engine as? any GenerationKeeping)?.openGeneration()
      }
      if let view {
        views.append((store.key, view))
      } else if let engine = store.engine {
        followed.append((store.key, engine))
      }
    }
    guard !views.isEmpty else { return nil }
    _views = views
    _followed = followed
    let entry = WeakGeneration(generation: self)
    Self._live.withLock { live in
      live = live.filter { $0.value.generation != nil }
      live[name] = entry
    }
  }

  /// The generation of this name, if it is still referenced.
  static func named(_ name: String) -> StoreGeneration? { _live.withLock { $0[name]?.generation } }

  /// The store in this state; nil for one that was added later.
  func view(of store: StoreKey) -> (any StoreReading)? {
    (_views.first { $0.store === store } ?? _followed.first { $0.store === store })?.view
  }

  /// Whether the store is read in an older state.
  func pins(_ store: StoreKey?) -> Bool { _views.contains { $0.store === store } }
}

/// Which state of the stores a context reads. Children read their root's; may be asked from any thread.
final class GenerationPin: Sendable {
  private let _generation = Mutex<StoreGeneration?>(nil)
  /// So that a context that is not pinned, which is nearly every one, costs its readers one load.
  private let _isPinned = Atomic<Bool>(false)

  /// The state that is read; nil for the latest.
  var generation: StoreGeneration? {
    _isPinned.load(ordering: .acquiring) ? _generation.withLock { $0 } : nil
  }

  func pin(to generation: StoreGeneration?) {
    _generation.withLock { $0 = generation }
    _isPinned.store(generation != nil, ordering: .releasing)
  }
}
