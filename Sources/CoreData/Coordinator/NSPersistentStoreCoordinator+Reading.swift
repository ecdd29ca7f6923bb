import Foundation
import ModelSchema

// Routing reads to the stores.

extension NSPersistentStoreCoordinator {
  /// Stores that a request goes to: those it names, or all.
  private final func _stores(_ affected: [NSPersistentStore]?) -> [NSPersistentStore] {
    let stores = persistentStores
    guard let affected else { return stores }
    return stores.filter { store in affected.contains { $0 === store } }
  }

  /// Engines that a request goes to.
  final func engines(for affected: [NSPersistentStore]?) -> [any StoreEngine] { _stores(affected).compactMap(\.engine) }

  private final func _engine(of key: ObjectKey) -> (any StoreEngine)? {
    for store in persistentStores where store.key === key.space.store { return store.engine }
    return nil
  }

  /// The key with this coordinator's own description of the entity; nil if no store here has it.
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

  /// What the stores find, cached for faults of other contexts.
  final func fetch(_ plan: FetchPlan, in affected: [NSPersistentStore]?) throws -> [StoredObject] {
    let stores = _stores(affected)
    let epoch = rowCache.epoch
    let found: [StoredObject]
    if stores.count == 1 {
      found = try StoreErrors.translating { try stores[0].engine!.fetch(plan) }
    } else {
      found = try StoreErrors.translating { try _fetchAcross(stores, plan) }
    }
    // What is fetched in bulk is held by its objects; the cache is for looking up one by one.
    if plan.content == .values, found.count <= 1024, !found.isEmpty { rowCache.keep(found, readAt: epoch) }
    return found
  }

  private final func _fetchAcross(_ stores: [NSPersistentStore], _ plan: FetchPlan) throws -> [StoredObject] {
    var each = plan
    each.offset = 0
    if plan.limit > 0 { each.limit = plan.limit + plan.offset }
    if !plan.sort.isEmpty { each.content = .values }
    var found = try stores.flatMap { try $0.engine!.fetch(each) }
    if !plan.sort.isEmpty {
      guard let order = RowOrdering(plan).bySlot else {
        throw CocoaError.coreData(
          NSCoreDataError, "A fetch from several stores can be sorted by the entity's own attributes only; "
            + "name one store in affectedStores.")
      }
      found = found.enumerated().sorted { left, right in
        let verdict = order(left.element.row, right.element.row)
        return verdict == 0 ? left.offset < right.offset : verdict < 0
      }.map(\.element)
    }
    let rest = found.dropFirst(plan.offset)
    return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
  }

  /// The values of a dictionary fetch; across several stores they are computed here.
  final func table(_ plan: DictionaryPlan, in affected: [NSPersistentStore]?) throws -> [[Value]] {
    let stores = _stores(affected)
    let layouts = frozen?.layout.layouts ?? []
    return try StoreErrors.translating {
      if stores.count == 1 { return try stores[0].engine!.table(plan) }
      let source = StoredObjectSource(
        fetch: { rows in try stores.flatMap { try $0.engine!.fetch(rows) } },
        rows: { keys in try keys.map { try self._engine(of: $0)?.rows(for: [$0])[0] } },
        related: { owner, slot in try self._engine(of: owner)?.related(to: [owner], slot: slot)[0] ?? [] })
      return try DictionaryEvaluation(source: source, layouts: layouts).table(plan)
    }
  }

  final func count(_ plan: FetchPlan, in affected: [NSPersistentStore]?) throws -> Int {
    let stores = _stores(affected)
    if stores.count == 1 { return try StoreErrors.translating { try stores[0].engine!.count(plan) } }
    if plan.limit == 0, plan.offset == 0 { return try stores.reduce(0) { try $0 + $1.engine!.count(plan) } }
    var plan = plan
    plan.content = .identity
    return try _fetchAcross(stores, plan).count
  }

  /// Rows for keys of any store, in their order; past the row cache.
  final func rows(for keys: [ObjectKey]) throws -> [Row?] {
    let epoch = rowCache.epoch
    rowReads.wrappingAdd(1, ordering: .relaxed)
    let rows: [Row?]
    if let first = keys.first, keys.allSatisfy({ $0.space.store === first.space.store }) {
      rows = try StoreErrors.translating {
        try _engine(of: first)?.rows(for: keys) ?? Array(repeating: nil, count: keys.count)
      }
    } else {
      rows = try keys.map { key in try _engine(of: key)?.rows(for: [key])[0] }
    }
    rowCache.keep(zip(keys, rows).map { StoredObject(key: $0, row: $1) }, readAt: epoch)
    return rows
  }

  /// The row for a key of any store; past the row cache.
  final func row(for key: ObjectKey) throws -> Row? {
    let epoch = rowCache.epoch
    rowReads.wrappingAdd(1, ordering: .relaxed)
    guard let row = try StoreErrors.translating({ try _engine(of: key)?.row(for: key) }) else { return nil }
    rowCache.keep(row, for: key, readAt: epoch)
    return row
  }

  /// Members of a to-many for owners of one entity.
  final func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    guard let first = owners.first else { return [] }
    return try StoreErrors.translating {
      try _engine(of: first)?.related(to: owners, slot: slot) ?? owners.map { _ in [] }
    }
  }

  /// Members of one owner's to-many, with the values that came along.
  final func members(of owner: ObjectKey, slot: Int) throws -> [StoredObject] {
    try StoreErrors.translating { try _engine(of: owner)?.members(of: owner, slot: slot) ?? [] }
  }

  // MARK: Identity

  /// The ID that a URI stands for, if a store of this coordinator has its UUID; whether there is such a row is not checked.
  public final func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    guard let parts = ObjectURI(url) else { return nil }
    for store in persistentStores where store.identifier == parts.store {
      guard let engine = store.engine,
        let space = engine.spaces.first(where: { $0.layout.entityName == parts.entity })
      else { return nil }
      return NSManagedObjectID(ObjectKey(space: space, reference: parts.reference))
    }
    return nil
  }

  /// The ID that the text of a URI stands for.
  public final func managedObjectID(for string: String) -> NSManagedObjectID? {
    URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
  }
}
