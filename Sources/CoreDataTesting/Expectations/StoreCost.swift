import CoreData
import Foundation

/// What a block has asked of the store, through all contexts of the container.
public struct StoreCost: Sendable, Hashable, CustomStringConvertible {
  /// Fetch and count requests.
  public var fetches = 0
  /// Times that faults made the store be read: for the values of an object, or for the members of a to-many.
  /// Faults whose values the coordinator still has cost nothing. Several faults that one statement fills are one
  /// here; on Apple's platforms each object that is no fault any more counts, wherever its values came from.
  public var faults = 0
  #if !canImport(Darwin)
  /// SQL statements without those that frame others, such as BEGIN; on a server, round trips. Not on Apple's
  /// platforms, whose Core Data does not tell; zero for a store in memory that is no database.
  public var statements = 0
  #endif

  /// The numbers in words.
  public var description: String {
    var words = [
      "\(fetches) \(fetches == 1 ? "fetch" : "fetches")", "\(faults) \(faults == 1 ? "fault" : "faults")",
    ]
    #if !canImport(Darwin)
    words.append("\(statements) SQL \(statements == 1 ? "statement" : "statements")")
    #endif
    return words.joined(separator: ", ")
  }

  static func - (left: StoreCost, right: StoreCost) -> StoreCost {
    var cost = StoreCost()
    cost.fetches = left.fetches - right.fetches
    cost.faults = left.faults - right.faults
    #if !canImport(Darwin)
    cost.statements = left.statements - right.statements
    #endif
    return cost
  }
}

extension TestStore {
  /// Measures what a block asks of the store.
  ///
  /// Other threads that use the container meanwhile are counted as well.
  public func cost(of body: () throws -> Void) rethrows -> StoreCost {
    let meter = StoreMeter(self)
    try body()
    return meter.cost()
  }

  /// Measures what a block that waits asks of the store.
  public func cost(
    isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Void
  ) async rethrows -> StoreCost {
    let meter = StoreMeter(self)
    try await body()
    return meter.cost()
  }

  /// Whether costs are counted, which needs a coordinator that counts.
  var countsCosts: Bool {
    #if canImport(Darwin)
    coordinator is CountingCoordinator
    #else
    true
    #endif
  }
}

/// Counts from its creation on.
struct StoreMeter {
  private let _store: TestStore
  private let _before: StoreCost
  #if canImport(Darwin)
  private let _realised: Set<ObjectIdentifier>
  #endif

  init(_ store: TestStore) {
    _store = store
    #if canImport(Darwin)
    _realised = Set(Self._realisedObjects(store).map(ObjectIdentifier.init))
    #endif
    _before = Self._now(store)
  }

  func cost() -> StoreCost {
    #if canImport(Darwin)
    var cost = Self._now(_store) - _before
    cost.faults = Self._realisedObjects(_store).count { !_realised.contains(ObjectIdentifier($0)) }
    return cost
    #else
    Self._now(_store) - _before
    #endif
  }

  #if canImport(Darwin)
  private static func _now(_ store: TestStore) -> StoreCost {
    var cost = StoreCost()
    cost.fetches = (store.coordinator as? CountingCoordinator)?.fetches.withLock { $0 } ?? 0
    return cost
  }

  /// Objects of the view context that are no faults.
  private static func _realisedObjects(_ store: TestStore) -> [NSManagedObject] {
    guard MainQueue.isCurrent else { return [] }
    return store.viewContext.registeredObjects.filter { !$0.isFault && !$0.objectID.isTemporaryID }
  }
  #else
  private static func _now(_ store: TestStore) -> StoreCost {
    var cost = StoreCost()
    let coordinator = store.coordinator
    cost.fetches = coordinator.fetchRequests.load(ordering: .relaxed)
    cost.faults = coordinator.faultReads.load(ordering: .relaxed)
    cost.statements = store.statements.count
    return cost
  }
  #endif
}
