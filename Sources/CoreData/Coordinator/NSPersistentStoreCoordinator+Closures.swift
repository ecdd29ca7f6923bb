import CoreDataModelSchema
import CoreDataPredicateLanguage

// Predicates that contain Swift closures, on stores other than SQLite.

extension NSPersistentStoreCoordinator {
  /// Whether a fetch must evaluate closures: its predicate has one, and no store requires SQL.
  ///
  /// A SQLite store rejects closures, as Core Data's does.
  final func judgesByClosures(_ plan: FetchPlan, _ stores: [any StoreReading]) -> Bool {
    for store in stores where !store.evaluatesPredicates { return false }
    return plan.known == nil && plan.predicate?.hasClosure ?? false
  }

  /// Fetches with closures in the predicate, which are evaluated on managed objects with the saved values.
  ///
  /// The objects belong to a separate temporary context: closures must see the stores' values rather than
  /// another context's changes, and must not be called while a store is locked.
  ///
  /// - Parameters:
  ///   - fetch: Runs a plan without closures.
  /// - Throws: Errors of evaluating the predicate.
  final func fetchByClosures(_ plan: FetchPlan, _ fetch: (FetchPlan) throws -> [StoredObject]) throws
    -> [StoredObject]
  {
    let (plain, judging) = plan.predicate!._partedByClosures
    var each = plan
    each.predicate = plain
    each.limit = 0
    each.offset = 0
    each.content = .values
    let candidates = try fetch(each)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = self
    let found = try context.performAndWait {
      try candidates.filter { stored in
        var evaluator = PredicateEvaluator(ManagedObjectSubject(object: context.registry.object(for: stored)))
        return try evaluator.matches(judging)
      }
    }
    let rest = found.dropFirst(plan.offset)
    return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
  }
}

extension PredicateTree {
  /// Whether the predicate contains a closure.
  var hasClosure: Bool {
    var isFound = false
    forEachPredicate { if case .block = $0 { isFound = true } }
    if isFound { return true }
    forEachExpression { if case .block = $0 { isFound = true } }
    return isFound
  }

  /// The conditions that a store can evaluate, and the others; both must hold.
  fileprivate var _partedByClosures: (plain: PredicateTree?, judging: PredicateTree) {
    guard case .and(let members) = self else { return (nil, self) }
    let plain = members.filter { !$0.hasClosure }
    return (plain.isEmpty ? nil : .and(plain), .and(members.filter(\.hasClosure)))
  }
}
