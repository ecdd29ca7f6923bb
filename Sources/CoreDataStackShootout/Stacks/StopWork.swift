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

  private struct Floor: FloorWork {
    let stops: [Stop]
    let floor: any ImportFloor

    func run(mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int {
      try floor.run(stops, mode: mode, saveEvery: saveEvery, didCommit: didCommit)
    }

    func close() { floor.close() }
  }
}
