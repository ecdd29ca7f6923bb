import CoreDataModelSchema
import Foundation

// Routing reads to the stores.

extension NSPersistentStoreCoordinator {
  /// Returns the stores affected by a request: the given ones, or all.
  private final func _stores(_ affected: [NSPersistentStore]?) -> [NSPersistentStore] {
    let stores = persistentStores
    guard let affected else { return stores }
    return stores.filter { store in affected.contains { $0 === store } }
  }

  /// Returns the engines affected by a request.
  final func engines(for affected: [NSPersistentStore]?) -> [any StoreEngine] {
    _stores(affected).compactMap(\.engine)
  }

  /// Returns readers of the affected stores at a generation, without stores added since.
  private final func _readings(
    _ affected: [NSPersistentStore]?, _ generation: StoreGeneration?
  ) -> [any StoreReading] {
    let stores = _stores(affected)
    guard let generation else { return stores.map { $0.engine! } }
    return stores.compactMap { generation.view(of: $0.key) }
  }

  private final func _reading(of key: ObjectKey, _ generation: StoreGeneration?) -> (any StoreReading)? {
    for store in persistentStores where store.key === key.space.store {
      return generation.map { $0.view(of: store.key) } ?? store.engine
    }
    return nil
  }

  /// Returns the row cache for reads of this store.
  private final func _cache(of store: StoreKey?, _ generation: StoreGeneration?) -> RowCache {
    if let generation, generation.pins(store) { return generation.rowCache }
    return rowCache
  }

  /// Returns the cached row, if there is one.
  ///
  /// - Parameter earliest: The time, by `CoarseClock`, before which a row is too old. Rows of a pinned state
  ///   do not age.
  final func cachedRow(
    for key: ObjectKey, at generation: StoreGeneration?, readSince earliest: Int = .min
  ) -> Row? {
    guard let generation else { return rowCache.row(for: key, readSince: earliest) }
    let cache = _cache(of: key.space.store, generation)
    return cache.row(for: key, readSince: cache === rowCache ? earliest : .min)
  }

  /// Empties the row cache if another process or coordinator has committed to a store since rows were read
  /// from it.
  final func forgetOvertakenRows() {
    let stores = persistentStores
    rowCache.removeAll {
      var isOvertaken = false
      // Each store is asked: an answer is given once.
      for store in stores where store.engine?.checkForeignCommits() ?? false { isOvertaken = true }
      return isOvertaken
    }
  }

  /// Returns the key with this coordinator's description of the entity; nil if no store has it.
  final func localized(_ key: ObjectKey) -> ObjectKey? {
    for store in persistentStores where store.key === key.space.store {
      guard let spaces = store.engine?.spaces else { return nil }
      let number = key.space.layout.entityNumber
      guard number <= spaces.count else { return nil }
      let space = spaces[number - 1]
      return space === key.space ? key : ObjectKey(space: space, reference: key.reference)
    }
    return nil
  }

  /// Fetches from the stores and caches the rows for faults of other contexts.
  ///
  /// - Parameter generation: The state of the stores to read; nil for the latest.
  final func fetch(
    _ plan: FetchPlan, in affected: [NSPersistentStore]?, at generation: StoreGeneration? = nil
  ) throws -> [StoredObject] {
    if affected == nil, generation == nil, let engine = _onlyEngine, !engine.evaluatesPredicates {
      return try _fetch(plan, keepingIn: rowCache) { try engine.fetch(plan) }
    }
    let stores = _readings(affected, generation)
    if judgesByClosures(plan, stores) {
      return try fetchByClosures(plan) { try fetch($0, in: affected, at: generation) }
    }
    if stores.count == 1 {
      let cache = _cache(of: stores[0].spaces.first?.store, generation)
      return try _fetch(plan, keepingIn: cache) { try stores[0].fetch(plan) }
    }
    return try _fetch(plan, keepingIn: generation == nil ? rowCache : nil) {
      try _fetchAcross(stores, plan)
    }
  }

  /// The engine of the only store; nearly all coordinators have one store.
  @inline(__always)
  private final var _onlyEngine: (any StoreEngine)? {
    let stores = persistentStores
    return stores.count == 1 ? stores[0].engine : nil
  }

  private final func _fetch(
    _ plan: FetchPlan, keepingIn cache: RowCache?, _ fetch: () throws -> [StoredObject]
  ) throws -> [StoredObject] {
    let moment = cache?.moment
    let found = try StoreErrors.translating(fetch)
    // Bulk results are retained by their objects; the cache is for single look-ups.
    if let moment, !found.isEmpty, found.count <= 1024, plan.content == .values {
      cache?.keep(found, readAt: moment)
    }
    return found
  }

  private final func _fetchAcross(_ stores: [any StoreReading], _ plan: FetchPlan) throws -> [StoredObject] {
    var each = plan
    each.offset = 0
    if plan.limit > 0 { each.limit = plan.limit + plan.offset }
    if !plan.sort.isEmpty { each.content = .values }
    var found = try stores.flatMap { try $0.fetch(each) }
    if !plan.sort.isEmpty {
      // A custom store may return IDs only.
      found = try found.map { stored in
        stored.row == nil ? StoredObject(key: stored.key, row: try row(for: stored.key)) : stored
      }
      found = try _sorted(found, plan)
    }
    let rest = found.dropFirst(plan.offset)
    return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
  }

  /// Merges the results of several stores in the plan's order.
  private final func _sorted(_ found: [StoredObject], _ plan: FetchPlan) throws -> [StoredObject] {
    guard let order = RowOrdering(plan).bySlot else {
      return try StoredOrdering(terms: plan.sort, rows: { try self.row(for: $0) }).sorted(found)
    }
    return found.enumerated().sorted { left, right in
      let verdict = order(left.element.row, right.element.row)
      return verdict == 0 ? left.offset < right.offset : verdict < 0
    }.map(\.element)
  }

  /// Fetches dictionary values; across several stores the coordinator computes them.
  final func table(
    _ plan: DictionaryPlan, in affected: [NSPersistentStore]?, at generation: StoreGeneration? = nil
  ) throws -> [[Value]] {
    let stores = _readings(affected, generation)
    let layouts = frozen?.layout.layouts ?? []
    return try StoreErrors.translating {
      let isByClosures = judgesByClosures(plan.rows, stores)
      if stores.count == 1, !isByClosures { return try stores[0].table(plan) }
      let source = StoredObjectSource(
        fetch: { rows in
          try isByClosures
            ? self.fetch(rows, in: affected, at: generation) : stores.flatMap { try $0.fetch(rows) }
        },
        rows: { keys in try keys.map { try self._reading(of: $0, generation)?.rows(for: [$0])[0] } },
        related: { owner, slot in
          try self._reading(of: owner, generation)?.related(to: [owner], slot: slot)[0] ?? []
        })
      return try DictionaryEvaluation(source: source, layouts: layouts).table(plan)
    }
  }

  /// Iterates the rows that `table` would return. `body` must not query the stores.
  final func forEachRow(
    of plan: DictionaryPlan, in affected: [NSPersistentStore]?, at generation: StoreGeneration?,
    _ body: ([Value]) -> Void
  ) throws {
    let stores = _readings(affected, generation)
    if stores.count == 1, !judgesByClosures(plan.rows, stores) {
      return try StoreErrors.translating { try stores[0].forEachRow(of: plan, body) }
    }
    for row in try table(plan, in: affected, at: generation) { body(row) }
  }

  /// Iterates the keys of a fetch's results. `body` must not query the stores.
  final func forEachKey(
    of plan: FetchPlan, in affected: [NSPersistentStore]?, at generation: StoreGeneration?,
    _ body: (ObjectKey) -> Void
  ) throws {
    let stores = _readings(affected, generation)
    if stores.count == 1, !judgesByClosures(plan, stores) {
      return try StoreErrors.translating { try stores[0].forEachKey(of: plan, body) }
    }
    for stored in try fetch(plan, in: affected, at: generation) { body(stored.key) }
  }

  final func count(
    _ plan: FetchPlan, in affected: [NSPersistentStore]?, at generation: StoreGeneration? = nil
  ) throws -> Int {
    let stores = _readings(affected, generation)
    if judgesByClosures(plan, stores) { return try fetch(plan, in: affected, at: generation).count }
    if stores.count == 1 { return try StoreErrors.translating { try stores[0].count(plan) } }
    if plan.limit == 0, plan.offset == 0 { return try stores.reduce(0) { try $0 + $1.count(plan) } }
    var plan = plan
    plan.content = .identity
    return try _fetchAcross(stores, plan).count
  }

  /// Returns rows for keys of any store, in order, bypassing the row cache.
  final func rows(for keys: [ObjectKey], at generation: StoreGeneration? = nil) throws -> [Row?] {
    let cache = _cache(of: keys.first?.space.store, generation)
    let moment = cache.moment
    rowReads.wrappingAdd(1, ordering: .relaxed)
    let rows: [Row?]
    if let first = keys.first, keys.allSatisfy({ $0.space.store === first.space.store }) {
      rows = try StoreErrors.translating {
        try _reading(of: first, generation)?.rows(for: keys) ?? Array(repeating: nil, count: keys.count)
      }
    } else {
      rows = try keys.map { key in try _reading(of: key, generation)?.rows(for: [key])[0] }
      if generation != nil { return rows }
    }
    cache.keep(zip(keys, rows).map { StoredObject(key: $0, row: $1) }, readAt: moment)
    return rows
  }

  private static let _mostDamagedRead = 16

  /// Returns rows for keys as `rows(for:at:)` does, except that one damaged row does not keep the others from
  /// being read.
  ///
  /// - Returns: The rows, and the errors of those that are damaged, by position. After many of them, the rest
  ///   counts as damaged without being read: each attempt may take long.
  /// - Throws: Any other error.
  final func readableRows(
    for keys: [ObjectKey], at generation: StoreGeneration? = nil
  ) throws -> (rows: [Row?], damage: [Int: any Error]) {
    do {
      return (try rows(for: keys, at: generation), [:])
    } catch  where StoreErrors.isDamage(error) {
      var damage: [Int: any Error] = [:]
      let rows = try keys.indices.map { index -> Row? in
        if damage.count >= Self._mostDamagedRead {
          damage[index] = error
          return nil
        }
        do {
          return try row(for: keys[index], at: generation)
        } catch  where StoreErrors.isDamage(error) {
          damage[index] = error
          return nil
        }
      }
      return (rows, damage)
    }
  }

  /// Returns the row for a key of any store, bypassing the row cache.
  final func row(for key: ObjectKey, at generation: StoreGeneration? = nil) throws -> Row? {
    let cache = _cache(of: key.space.store, generation)
    let moment = cache.moment
    rowReads.wrappingAdd(1, ordering: .relaxed)
    guard let row = try StoreErrors.translating({ try _reading(of: key, generation)?.row(for: key) }) else {
      return nil
    }
    cache.keep(row, for: key, readAt: moment)
    return row
  }

  /// Returns the members of a to-many for owners of one entity.
  final func related(
    to owners: [ObjectKey], slot: Int, at generation: StoreGeneration? = nil
  ) throws -> [[ObjectKey]] {
    guard let first = owners.first else { return [] }
    return try StoreErrors.translating {
      try _reading(of: first, generation)?.related(to: owners, slot: slot) ?? owners.map { _ in [] }
    }
  }

  /// Returns the members of one owner's to-many, with the values read along unless one of them is damaged.
  final func members(
    of owner: ObjectKey, slot: Int, at generation: StoreGeneration? = nil
  ) throws -> [StoredObject] {
    countFault()
    do {
      return try StoreErrors.translating {
        try _reading(of: owner, generation)?.members(of: owner, slot: slot) ?? []
      }
    } catch  where StoreErrors.isDamage(error) {
      return try related(to: [owner], slot: slot, at: generation)[0].map { StoredObject(key: $0, row: nil) }
    }
  }

  // MARK: Identity

  final func objectID(forURI url: URL) -> NSManagedObjectID? {
    guard let parts = ObjectURI(url) else { return nil }
    for store in persistentStores where store.key.identifier == parts.store {
      guard let engine = store.engine,
        let space = engine.spaces.first(where: { $0.layout.entityName == parts.entity }),
        let reference = space.references?.key(for: String(parts.reference), in: space)
          ?? Int64(parts.reference)
      else { return nil }
      return NSManagedObjectID(ObjectKey(space: space, reference: reference))
    }
    return nil
  }

  /// Returns the ID for the text of a URI.
  ///
  /// ```swift
  /// guard let text = UserDefaults.standard.string(forKey: "selectedBook"),
  ///   let id = coordinator.managedObjectID(for: text)
  /// else { return }
  /// let book = try context.existingObject(with: id) as? Book
  /// ```
  public final func managedObjectID(for string: String) -> NSManagedObjectID? {
    URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
  }
}
