import CoreData
import SwiftData

/// The works through Core Data's API, on a store of the same model and with the same options.
struct CoreDataSide: Side {
  let records: [StopRecord]
  let coordinator: NSPersistentStoreCoordinator

  init(_ records: [StopRecord], at url: URL) throws {
    self.records = records
    guard let model = NSManagedObjectModel.makeManagedObjectModel(for: [Stop.self]) else {
      throw Failure(description: "the classes give no model")
    }
    for entity in model.entities {
      entity.managedObjectClassName =
        entity.name == "Stop" ? NSStringFromClass(StopObject.self) : NSStringFromClass(RouteObject.self)
    }
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      // What a SwiftData container's stores always have.
      options: [
        NSPersistentHistoryTrackingKey: NSNumber(value: true),
        NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
      ])
    try _inContext { context in
      for index in 0..<StopRecord.routeCount {
        let route = RouteObject(context: context)
        route.identifier = "R\(index)"
        route.name = "Route \(index)"
      }
      try context.save()
      return 0
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  func run(_ work: Work) throws -> Int {
    switch work {
    case .importBulk: try _import()
    case .findOrCreate: try _findOrCreate()
    case .fetchAll: try _fetchAll()
    case .reads: try _read()
    case .findOne: try _findOne()
    case .pages: try _pages()
    case .traverse: try _traverse()
    case .update: try _update()
    case .delete: try _delete()
    }
  }

  /// Runs a work in a context with the merge policy of SwiftData's.
  @discardableResult
  private func _inContext(_ body: (NSManagedObjectContext) throws -> Int) throws -> Int {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    return try context.performAndWait { try body(context) }
  }

  private func _routes(_ context: NSManagedObjectContext) throws -> [RouteObject] {
    try context.fetch(NSFetchRequest<RouteObject>(entityName: "Route")).sorted {
      ($0.identifier ?? "") < ($1.identifier ?? "")
    }
  }

  private func _take(_ record: StopRecord, _ stop: StopObject, _ routes: [RouteObject]) {
    stop.name = record.name
    stop.latitude = record.latitude
    stop.longitude = record.longitude
    stop.code = Int64(record.code)
    stop.createdAt = record.createdAt
    stop.active = record.active
    stop.note = record.note
    stop.route = routes[record.route]
  }

  private func _import() throws -> Int {
    for start in stride(from: 0, to: records.count / 2, by: 1000) {
      try _inContext { context in
        let routes = try _routes(context)
        let batch = records[start..<min(start + 1000, records.count / 2)]
        let request = NSFetchRequest<StopObject>(entityName: "Stop")
        request.predicate = NSPredicate(format: "identifier IN %@", batch.map(\.identifier))
        let found = try context.fetch(request)
        let known = Dictionary(uniqueKeysWithValues: found.map { ($0.identifier ?? "", $0) })
        for record in batch {
          var stop = known[record.identifier]
          if stop == nil {
            let made = StopObject(context: context)
            made.identifier = record.identifier
            made.createdAt = record.createdAt
            stop = made
          }
          _take(record, stop!, routes)
        }
        try context.save()
        return 0
      }
    }
    return 0
  }

  private func _findOrCreate() throws -> Int {
    try _inContext { context in
      let routes = try _routes(context)
      for (index, record) in records[(records.count / 2)...].enumerated() {
        let request = NSFetchRequest<StopObject>(entityName: "Stop")
        request.predicate = NSPredicate(format: "identifier == %@", record.identifier)
        request.fetchLimit = 1
        var stop = try context.fetch(request).first
        if stop == nil {
          let made = StopObject(context: context)
          made.identifier = record.identifier
          made.createdAt = record.createdAt
          stop = made
        }
        _take(record, stop!, routes)
        if index % 250 == 249 { try context.save() }
      }
      try context.save()
      return 0
    }
  }

  private func _fetchAll() throws -> Int {
    try _inContext { context in
      let request = NSFetchRequest<StopObject>(entityName: "Stop")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).reduce(0) {
        $0 + Int($1.code) + ($1.name?.utf8.count ?? 0) + ($1.note?.utf8.count ?? 0)
      }
    }
  }

  private func _read() throws -> Int {
    try _inContext { context in
      let stops = try context.fetch(NSFetchRequest<StopObject>(entityName: "Stop"))
      var sum = 0
      for _ in 0..<20 {
        for stop in stops {
          sum += Int(stop.code) + (stop.name?.utf8.count ?? 0) + (stop.note?.utf8.count ?? 0)
          sum += Int(stop.latitude)
          if stop.active { sum += Int(stop.createdAt?.timeIntervalSinceReferenceDate ?? 0) & 1 }
        }
      }
      return sum
    }
  }

  private func _findOne() throws -> Int {
    try _inContext { context in
      try records.prefix(3000).reduce(0) { sum, record in
        let request = NSFetchRequest<StopObject>(entityName: "Stop")
        request.predicate = NSPredicate(format: "identifier == %@", record.identifier)
        return try context.fetch(request).reduce(sum) { $0 + Int($1.code) }
      }
    }
  }

  private func _pages() throws -> Int {
    var sum = 0
    for question in 0..<300 {
      let low = question * 2000
      let initial = String(UnicodeScalar(UInt8(65 + question % 16)))
      sum = try _inContext { context in
        let request = NSFetchRequest<StopObject>(entityName: "Stop")
        request.predicate = NSPredicate(
          format: "code >= %lld AND code <= %lld AND name BEGINSWITH %@", Int64(low), Int64(low + 200_000),
          initial)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchLimit = 50
        return try context.fetch(request).reduce(sum) { $0 + Int($1.code) }
      }
    }
    return sum
  }

  private func _traverse() throws -> Int {
    try _inContext { context in
      var sum = 0
      for route in try context.fetch(NSFetchRequest<RouteObject>(entityName: "Route")) {
        for stop in route.stops { sum += Int(stop.code) + (stop.name?.utf8.count ?? 0) }
      }
      return sum
    }
  }

  private func _update() throws -> Int {
    try _inContext { context in
      let request = NSFetchRequest<StopObject>(entityName: "Stop")
      request.predicate = NSPredicate(format: "code < 200000")
      let stops = try context.fetch(request)
      for stop in stops {
        stop.name = "upd " + (stop.name ?? "")
        stop.code += 1
      }
      try context.save()
      return stops.count
    }
  }

  private func _delete() throws -> Int {
    try _inContext { context in
      let request = NSFetchRequest<StopObject>(entityName: "Stop")
      request.predicate = NSPredicate(format: "code < 200000")
      let stops = try context.fetch(request)
      for stop in stops { context.delete(stop) }
      try context.save()
      return stops.count
    }
  }
}
