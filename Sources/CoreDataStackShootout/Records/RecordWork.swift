import CoreData
import CoreDataModelSchema

/// The import of records into a model.
struct RecordWork: ImportWork {
  let plan: RecordPlan
  let records: [RecordNode]
  private let _wanted: Set<Int>
  private let _named: NamedObjects

  init(plan: RecordPlan, feed: RecordFeed) {
    (self.plan, records, _wanted, _named) = (plan, feed.records, feed.named, NamedObjects(feed.named))
  }

  var count: Int { records.count }

  var listing: ImportListing {
    let key = plan.key(of: plan.entity).map { plan.entity.slots[$0.slot].name }
    let label = plan.label(of: plan.entity) ?? plan.entity.slots.first { $0.isAttribute }?.name ?? "self"
    return ImportListing(entity: plan.entity.entityName, label: label, order: key ?? label)
  }

  func makeModel() throws -> NSManagedObjectModel { try plan.makeModel() }

  func place(_ lines: Range<Int>, mode: ImportMode, in context: NSManagedObjectContext) throws {
    if lines.lowerBound == 0 { _named.reset() }
    try RecordImporter(plan: plan, mode: mode, context: context, named: _named).place(records[lines])
  }

  func makeFloor(on store: ImportStore, in place: any StorePlace) throws -> any FloorWork {
    // The store's own tables and indexes.
    guard let anatomy = try _withStore(store, { $0.persistentStores.first?.anatomy }) else {
      throw StoreCheck.Failure(description: "records have a floor in SQLite files only")
    }
    return Floor(
      records: records,
      floor: try RecordFloor(path: store.url.path, plan: plan, anatomy: anatomy, wanted: _wanted))
  }

  func check(_ store: ImportStore, in place: any StorePlace, mode: ImportMode) throws -> CheckedStore {
    let digest = try _withStore(store) { coordinator in
      if let anatomy = coordinator.persistentStores.first?.anatomy {
        try StoreDigest(path: store.url.path, plan: plan, anatomy: anatomy)
      } else {
        try StoreDigest(coordinator, plan: plan)
      }
    }
    return CheckedStore(rows: digest.count(of: plan.entity, plan.layout), digest: digest)
  }

  /// Opens a store, which is created if it is missing, for as long as a body runs.
  private func _withStore<Result>(
    _ store: ImportStore, _ body: (NSPersistentStoreCoordinator) throws -> Result
  ) throws -> Result {
    let coordinator = try NSPersistentStoreCoordinator.make(makeModel(), on: store)
    defer { try? coordinator.removeStores() }
    return try body(coordinator)
  }

  private struct Floor: FloorWork {
    let records: [RecordNode]
    let floor: RecordFloor

    func run(mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int {
      try floor.run(records, mode: mode, saveEvery: saveEvery, didCommit: didCommit)
    }

    func close() { floor.close() }
  }
}
