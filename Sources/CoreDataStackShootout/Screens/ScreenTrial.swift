import CoreData
import CoreDataModelSchema
import Foundation
import MainThreadWatch

/// Tries changes of the screens that are known to help, and tells those that do.
struct ScreenTrial {
  let run: ScreenRun
  let store: ImportStore
  let place: any StorePlace

  /// The openings of each screen that are compared.
  private static let _rounds = 7
  /// What a change must save, as a share and in milliseconds.
  private static let _least = (share: 0.15, milliseconds: 0.2)

  /// The changes that help, each on top of those before it for the same screen.
  func advice() throws -> [ScreenAdvice] {
    var advice: [ScreenAdvice] = []
    for screen in run.screens where screen.kind != .badge {
      var best = Screened(screen, store)
      if let found = try _batch(best) { (best, advice) = (found.0, advice + [found.1]) }
      if let found = try _prefetch(best) { (best, advice) = (found.0, advice + [found.1]) }
      if let found = try _index(best) { advice.append(found) }
    }
    return advice
  }

  /// A screen on a store.
  private struct Screened {
    var screen: Screen
    var store: ImportStore

    init(_ screen: Screen, _ store: ImportStore) { (self.screen, self.store) = (screen, store) }
  }

  // MARK: Changes

  private func _batch(_ now: Screened) throws -> (Screened, ScreenAdvice)? {
    guard now.screen.kind == .list, now.screen.batch == 0 else { return nil }
    var changed = now
    changed.screen.batch = now.screen.rows
    return try _tried(now, changed, "a fetch batch size of \(now.screen.rows)", firstRows: true).map {
      (changed, $0)
    }
  }

  /// The relationships that a list shows and does not prefetch.
  func unprefetched(_ screen: Screen) -> [String] {
    guard screen.kind == .list, let entity = run.layout.layoutsByName[screen.entity] else { return [] }
    let paths = screen.shows.compactMap { path -> String? in
      let name = String(path.prefix { $0 != "." })
      guard let slot = entity.slot(named: name), !entity.slots[slot].isAttribute else { return nil }
      return name
    }
    return Set(paths).subtracting(screen.prefetch).sorted()
  }

  private func _prefetch(_ now: Screened) throws -> (Screened, ScreenAdvice)? {
    let missing = unprefetched(now.screen)
    guard !missing.isEmpty else { return nil }
    var changed = now
    changed.screen.prefetch += missing
    let names = missing.map { "'\($0)'" }.joined(separator: ", ")
    return try _tried(now, changed, "prefetching \(names)", firstRows: false).map { (changed, $0) }
  }

  private func _index(_ now: Screened) throws -> ScreenAdvice? {
    let query = try ScreenQuery(now.screen, run.layout)
    guard now.screen.kind == .list, let keys = try unindexed(query), let table = try _table(query) else {
      return nil
    }
    let columns = keys.compactMap { key in table.attributes.first { $0.property == key }?.column }
    guard columns.count == keys.count else { return nil }
    let copy = try place.scratch(of: store)
    defer { try? place.remove(copy) }
    try PlainSQLite(path: copy.url.path).execute(
      "CREATE INDEX Z_SHOOTOUT_ADVICE ON \(table.name) (\(columns.joined(separator: ", "))); ANALYZE;")
    var changed = now
    changed.store = copy
    let names = keys.map { "'\($0)'" }.joined(separator: ", ")
    return try _tried(now, changed, "a fetch index on \(names)", firstRows: true)
  }

  /// The attributes that an index would need: those compared for equality, then the first one compared otherwise or
  /// those of the sort; nil if the plan searches already.
  func unindexed(_ query: ScreenQuery) throws -> [String]? {
    let request: NSFetchRequest<NSManagedObject> = query.request()
    request.fetchLimit = query.screen.rows
    let plan = try _withContext(store) { try $0.sqlStatements(for: request).first?.queryPlan ?? [] }
    let isRead = plan.contains { $0.contains("SCAN t0") && !$0.contains(" USING ") }
    let isSorted = plan.contains { $0.contains("USE TEMP B-TREE") }
    guard isRead || isSorted else { return nil }
    var keys: [String] = []
    var ranges: [String] = []
    func walk(_ predicate: NSPredicate?) {
      if let all = predicate as? CoreData.NSCompoundPredicate, all.compoundPredicateType == .and {
        for part in all.subpredicates { walk(part) }
      } else if let one = predicate as? CoreData.NSComparisonPredicate,
        one.leftExpression.expressionType == .keyPath,
        one.options.isEmpty
      {
        let key = one.leftExpression.keyPath
        switch one.predicateOperatorType {
        case .equalTo: keys.append(key)
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between, .beginsWith:
          ranges.append(key)
        default: break
        }
      }
    }
    walk(request.predicate)
    let sorted = query.screen.sort.map { String($0.drop { $0 == "-" }) }
    keys += sorted.isEmpty ? Array(ranges.prefix(1)) : sorted
    var seen: Set<String> = []
    keys = keys.filter { seen.insert($0).inserted }
    return keys.isEmpty ? nil : keys
  }

  private func _table(_ query: ScreenQuery) throws -> StoreTableLayout.Table? {
    let coordinator = try NSPersistentStoreCoordinator.make(run.work.makeModel(), on: store)
    defer { try? coordinator.removeStores() }
    return coordinator.persistentStores.first?.anatomy?.table(of: query.entity.entityNumber)
  }

  // MARK: Trying

  /// Opens a screen before and after a change in turn, each time in a new stack.
  ///
  /// - Returns: Nil if it does not help.
  private func _tried(
    _ before: Screened, _ after: Screened, _ change: String, firstRows: Bool
  ) throws -> ScreenAdvice? {
    var figures: (before: [ScreenFigures], after: [ScreenFigures]) = ([], [])
    for _ in 0..<Self._rounds {
      figures.before.append(try _opened(before))
      figures.after.append(try _opened(after))
    }
    func median(_ figures: [ScreenFigures]) -> Double {
      Statistics.median(figures.map { firstRows ? $0.firstMilliseconds : $0.totalMilliseconds })
    }
    let (old, new) = (median(figures.before), median(figures.after))
    guard old - new > max(Self._least.milliseconds, old * Self._least.share) else { return nil }
    return ScreenAdvice(
      screen: before.screen.name, change: change, before: old, after: new,
      statementsBefore: figures.before[0].statements, statementsAfter: figures.after[0].statements,
      isOfFirstRows: firstRows)
  }

  private func _opened(_ screened: Screened) throws -> ScreenFigures {
    let counter = StatementCounter()
    return try _withContext(screened.store, counter) { context in
      try run.visit(ScreenQuery(screened.screen, run.layout), context, counter)
    }
  }

  private func _withContext<Result>(
    _ store: ImportStore, _ counter: StatementCounter? = nil,
    _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = try NSPersistentStoreCoordinator.make(run.work.makeModel(), on: store, counter: counter)
    defer { try? coordinator.removeStores() }
    return try body(coordinator.makeContext())
  }
}
