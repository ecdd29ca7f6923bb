import Foundation
import Synchronization

/// A coordinator's stores at one moment, with the rows read from that state. May be used from any thread.
final class StoreGeneration: Sendable {
  /// Identifies the generation in archived tokens.
  let name = UUID().uuidString
  /// Rows of this state; the coordinator's own cache holds the latest.
  let rowCache = RowCache()
  private let _views: [(store: StoreKey, view: any StoreReading)]
  /// Stores that cannot keep an older state; reads from them return the latest.
  private let _followed: [(store: StoreKey, view: any StoreReading)]

  private static let _live = Mutex<[String: WeakGeneration]>([:])
  private struct WeakGeneration { weak var generation: StoreGeneration? }

  /// Opens the current state of these stores; nil if none of them can keep it.
  ///
  /// The first read determines the exact moment.
  ///
  /// - Throws: A Cocoa error if a store cannot open a further connection.
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

  /// Returns the generation of this name, if it is still referenced.
  static func named(_ name: String) -> StoreGeneration? { _live.withLock { $0[name]?.generation } }

  /// Returns the store in this state; nil for one that was added later.
  func view(of store: StoreKey) -> (any StoreReading)? {
    (_views.first { $0.store === store } ?? _followed.first { $0.store === store })?.view
  }

  /// Whether reads from the store see an older state.
  func pins(_ store: StoreKey?) -> Bool { _views.contains { $0.store === store } }
}

/// The state from which a context reads. Children read from their root's; may be used from any thread.
final class GenerationPin: Sendable {
  private let _generation = Mutex<StoreGeneration?>(nil)
  /// Lets readers of an unpinned context, the usual case, skip the lock.
  private let _isPinned = Atomic<Bool>(false)

  /// The pinned state; nil for the latest.
  var generation: StoreGeneration? {
    _isPinned.load(ordering: .acquiring) ? _generation.withLock { $0 } : nil
  }

  func pin(to generation: StoreGeneration?) {
    _generation.withLock { $0 = generation }
    _isPinned.store(generation != nil, ordering: .releasing)
  }
}
