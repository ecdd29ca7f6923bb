import CoreData

/// The import of transit stops.
struct StopWork: ImportWork {
  let stops: [Stop]

  var count: Int { stops.count }
  var listing: ImportListing {
    ImportListing(entity: StopModel.entityName, label: "name", order: "identifier")
  }

  func makeModel() -> NSManagedObjectModel { StopModel.make() }

  func place(_ lines: Range<Int>, mode: ImportMode, in context: NSManagedObjectContext) throws {
    try StopImporter(mode: mode, context: context).place(stops[lines])
  }

  func makeFloor(on store: ImportStore, in place: any StorePlace) throws -> any FloorWork {
    Floor(stops: stops, floor: try place.makeFloor(on: store))
  }

  func check(_ store: ImportStore, in place: any StorePlace, mode: ImportMode) throws -> CheckedStore {
    CheckedStore(
      rows: try StoreCheck(stops: stops, mode: mode).run(place.stops(in: store)), digest: nil)
  }

  /// The floor's own file has tables, but is no store.
  func storeForScreens(_ floor: ImportStore, in place: any StorePlace) throws -> ImportStore {
    let store = try place.store(named: floor.url.path + ".scratch")
    try NSPersistentStoreCoordinator.make(makeModel(), on: store).removeStores()
    let columns = "Z_PK, Z_ENT, Z_OPT, ZIDENTIFIER, ZNAME, ZLATITUDE, ZLONGITUDE"
    let path = floor.url.path.replacing("'", with: "''")
    try PlainSQLite(path: store.url.path).execute(
      "ATTACH '\(path)' AS floor; INSERT INTO ZSTOP (\(columns)) SELECT \(columns) FROM floor.ZSTOP;")
    return store
  }

  private struct Floor: FloorWork {
    let stops: [Stop]
    let floor: any ImportFloor

    func run(mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int {
      try floor.run(stops, mode: mode, saveEvery: saveEvery, didCommit: didCommit)
    }

    func close() { floor.close() }
  }
}
