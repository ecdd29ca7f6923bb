import CoreData
import Foundation

#if POSTGRESQL
import CoreDataPostgreSQL
#endif

/// A coordinator on one file, with the floor's settings.
final class EngineStore: Sendable {
  let coordinator: NSPersistentStoreCoordinator

  /// Opens a store, which is made if it is not there: an SQLite file, or a schema by its URL.
  ///
  /// - Parameter keepsHistory: Whether a file records what changes, for other contexts and programs.
  init(path: String, keepsHistory: Bool = false) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Self._model())
    #if POSTGRESQL
    if path.hasPrefix("postgresql:"), let url = URL(string: path) {
      try coordinator.addPersistentStore(
        ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: nil)
      return
    }
    #endif
    var options: [AnyHashable: Any] = [
      NSSQLitePragmasOption: ["journal_mode": "WAL", "synchronous": "NORMAL"]
    ]
    if keepsHistory { options[NSPersistentHistoryTrackingKey] = true }
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: options)
  }

  private static func _model() throws -> NSManagedObjectModel {
    let container = NSPersistentContainer(name: "Stops")
    guard container.managedObjectModel.entitiesByName["Stop"] != nil else {
      throw Database.Failure(description: "the program's resources do not hold the model 'Stops'")
    }
    return container.managedObjectModel
  }

  /// A store that holds the routes.
  static func create(path: String) throws -> EngineStore {
    let store = try EngineStore(path: path)
    let context = store.newContext()
    try context.performAndWait {
      for index in 0..<StopGenerator.routeCount {
        let route = Route(context: context)
        route.identifier = StopGenerator.routeIdentifier(index)
        route.name = "Route \(index)"
      }
      try context.save()
    }
    return store
  }

  func newContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
    return context
  }

  func close() throws {
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// Object IDs for rows, as a program that keeps URIs would have them.
  func ids(_ numbers: ArraySlice<Int64>) throws -> [NSManagedObjectID] {
    let store = coordinator.persistentStores[0]
    return try numbers.map { number in
      guard let url = URL(string: "x-coredata://\(store.identifier ?? "")/Stop/p\(number)"),
        let id = coordinator.managedObjectID(forURIRepresentation: url)
      else { throw Database.Failure(description: "the store knows no stop \(number)") }
      return id
    }
  }

  static let digestQuery = """
    SELECT Z_PK, ZIDENTIFIER, ZNAME, ZLATITUDE, ZLONGITUDE, ZCODE, ZCREATEDAT + 978307200.0, ZACTIVE,
      ifnull(ZNOTE, '<nil>'), ZROUTE
    FROM ZSTOP ORDER BY ZIDENTIFIER
    """
  static let historyQuery = "SELECT SUM(ZENTITYPK) + COUNT(*) FROM ACHANGE WHERE ZCHANGETYPE = 0"
  static let sumQuery = "SELECT SUM(ZCODE) + SUM(length(ZNAME)) + COUNT(*) FROM ZSTOP"
}

extension Stop {
  /// Sets every attribute and the route.
  func take(_ record: StopRecord, _ routes: [Route]) {
    takeValues(record)
    route = routes[record.numbers.route - 1]
  }

  /// Sets every attribute.
  @inline(__always) func takeValues(_ record: StopRecord) {
    identifier = record.identifier
    name = record.name
    latitude = record.numbers.latitude
    longitude = record.numbers.longitude
    code = record.numbers.code
    createdAt = record.createdAt
    active = record.numbers.isActive
    note = record.note
  }

  var checksum: Int64 { code + Int64(name?.utf8.count ?? 0) + Int64(note?.utf8.count ?? 0) }
}

extension Route {
  private static let _stopsKey = ManagedKey<Set<Stop>>("stops")

  /// The stops as a class written by hand has them: `@NSManaged var stops: Set<Stop>`.
  var allStops: Set<Stop> { Self._stopsKey[self] }

  /// All routes in their order.
  static func all(in context: NSManagedObjectContext) throws -> [Route] {
    let request = Route.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "identifier", ascending: true)]
    return try context.fetch(request)
  }
}
