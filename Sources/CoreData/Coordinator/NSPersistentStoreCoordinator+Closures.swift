import CoreDataModelSchema
import CoreDataPredicateLanguage

// Predicates with Swift closures in them, on stores that are not SQLite.

extension NSPersistentStoreCoordinator {
  /// Whether a fetch has to go by closures: its predicate has one, and no store needs SQL for it.
  ///
  /// An SQLite store refuses closures, as Core Data's does.
  final func judgesByClosures(_ plan: FetchPlan, _ stores: [any StoreReading]) -> Bool {
    for store in stores where !store.evaluatesPredicates { return false }
    return plan.known == nil && plan.predicate?.hasClosure ?? false
  }

  /// What the stores find, where closures judge: they are shown managed objects with the saved values.
  ///
  /// The objects are those of a context of their own, which lasts as long as the fetch: the values to be
  /// judged are the stores', not what some context has made of them, and a closure must not be called while a
  /// store is locked.
  ///
  /// - Parameters:
  ///   - fetch: Runs a plan without closures.
  /// - Throws: What the evaluation of the predicate throws.
  final func fetchByClosures(_ plan: FetchPlan, _ fetch: (FetchPlan) throws -> [StoredObject]) throws
    -> [StoredObject]
  {
    let (plain, judging) = plan.predicate!.partedByClosures
    var each = plan
    each.predicate = plain
    each.limit = 0
    each.offset = 0
    each.content = .values
    let candidates = try fetch(each)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = self
    context.undoManager = nil
    let found = try context.performAndWait {
      try candidates.filter { stored in
        var evaluator = PredicateEvaluator(ManagedObjectSubject(object: context.object(for: stored)))
        return try evaluator.matches(judging)
      }
    }
    let rest = found.dropFirst(plan.offset)
    return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
  }
}

extension PredicateTree {
  /// Whether a closure decides anywhere in the predicate.
  var hasClosure: Bool {
    var isFound = false
    forEachPredicate { if case .block = $0 { isFound = true } }
    if isFound { return true }
    forEachExpression { if case .block = $0 { isFound = true } }
    return isFound
  }

  /// The conditions that a store can judge, and the others; both have to be met.
  fileprivate var partedByClosures: (plain: PredicateTree?, judging: PredicateTree) {
    guard case .and(let members) = self else { return (nil, self) }
    let plain = members.filter { !$0.hasClosure }
    return (plain.isEmpty ? nil : .and(plain), .and(members.filter(\.hasClosure)))
  }
}
