import CoreData
import SwiftData

/// The works through SwiftData.
struct SwiftDataSide: Side {
  let records: [StopRecord]
  let container: ModelContainer

  init(_ records: [StopRecord], at url: URL) throws {
    self.records = records
    container = try ModelContainer(for: Stop.self, configurations: ModelConfiguration(url: url))
    let context = ModelContext(container)
    for index in 0..<StopRecord.routeCount {
      context.insert(Route(identifier: "R\(index)", name: "Route \(index)"))
    }
    try context.save()
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

  private func _routes(_ context: ModelContext) throws -> [Route] {
    try context.fetch(FetchDescriptor<Route>()).sorted { $0.identifier < $1.identifier }
  }

  private func _take(_ record: StopRecord, _ stop: Stop, _ routes: [Route]) {
    stop.name = record.name
    stop.latitude = record.latitude
    stop.longitude = record.longitude
    stop.code = record.code
    stop.createdAt = record.createdAt
    stop.active = record.active
    stop.note = record.note
    stop.route = routes[record.route]
  }

  private func _import() throws -> Int {
    for start in stride(from: 0, to: records.count / 2, by: 1000) {
      let context = ModelContext(container)
      let routes = try _routes(context)
      let batch = records[start..<min(start + 1000, records.count / 2)]
      let identifiers = batch.map(\.identifier)
      let found = try context.fetch(
        FetchDescriptor<Stop>(predicate: #Predicate { identifiers.contains($0.identifier) }))
      let known = Dictionary(uniqueKeysWithValues: found.map { ($0.identifier, $0) })
      for record in batch {
        var stop = known[record.identifier]
        if stop == nil {
          let made = Stop(identifier: record.identifier, createdAt: record.createdAt)
          context.insert(made)
          stop = made
        }
        _take(record, stop!, routes)
      }
      try context.save()
    }
    return 0
  }

  private func _findOrCreate() throws -> Int {
    let context = ModelContext(container)
    let routes = try _routes(context)
    for (index, record) in records[(records.count / 2)...].enumerated() {
      let identifier = record.identifier
      var descriptor = FetchDescriptor<Stop>(predicate: #Predicate { $0.identifier == identifier })
      descriptor.fetchLimit = 1
      var stop = try context.fetch(descriptor).first
      if stop == nil {
        let made = Stop(identifier: identifier, createdAt: record.createdAt)
        context.insert(made)
        stop = made
      }
      _take(record, stop!, routes)
      if index % 250 == 249 { try context.save() }
    }
    try context.save()
    return 0
  }

  private func _fetchAll() throws -> Int {
    let context = ModelContext(container)
    let stops = try context.fetch(
      FetchDescriptor<Stop>(sortBy: [SortDescriptor(\.name, comparator: .lexical)]))
    return stops.reduce(0) { $0 + $1.code + $1.name.utf8.count + ($1.note?.utf8.count ?? 0) }
  }

  private func _read() throws -> Int {
    let context = ModelContext(container)
    let stops = try context.fetch(FetchDescriptor<Stop>())
    var sum = 0
    for _ in 0..<20 {
      for stop in stops {
        sum += stop.code + stop.name.utf8.count + (stop.note?.utf8.count ?? 0) + Int(stop.latitude)
        if stop.active { sum += Int(stop.createdAt.timeIntervalSinceReferenceDate) & 1 }
      }
    }
    return sum
  }

  private func _findOne() throws -> Int {
    let context = ModelContext(container)
    return try records.prefix(3000).reduce(0) { sum, record in
      let identifier = record.identifier
      return try context.fetch(FetchDescriptor<Stop>(predicate: #Predicate { $0.identifier == identifier }))
        .reduce(sum) { $0 + $1.code }
    }
  }

  private func _pages() throws -> Int {
    var sum = 0
    for question in 0..<300 {
      let context = ModelContext(container)
      let low = question * 2000
      let high = low + 200_000
      let initial = String(UnicodeScalar(UInt8(65 + question % 16)))
      var descriptor = FetchDescriptor<Stop>(
        predicate: #Predicate { $0.code >= low && $0.code <= high && $0.name.starts(with: initial) },
        sortBy: [SortDescriptor(\.name, comparator: .lexical)])
      descriptor.fetchLimit = 50
      sum = try context.fetch(descriptor).reduce(sum) { $0 + $1.code }
    }
    return sum
  }

  private func _traverse() throws -> Int {
    let context = ModelContext(container)
    var sum = 0
    for route in try context.fetch(FetchDescriptor<Route>()) {
      for stop in route.stops { sum += stop.code + stop.name.utf8.count }
    }
    return sum
  }

  private func _update() throws -> Int {
    let context = ModelContext(container)
    let stops = try context.fetch(FetchDescriptor<Stop>(predicate: #Predicate { $0.code < 200_000 }))
    for stop in stops {
      stop.name = "upd " + stop.name
      stop.code += 1
    }
    try context.save()
    return stops.count
  }

  private func _delete() throws -> Int {
    let context = ModelContext(container)
    let stops = try context.fetch(FetchDescriptor<Stop>(predicate: #Predicate { $0.code < 200_000 }))
    for stop in stops { context.delete(stop) }
    try context.save()
    return stops.count
  }
}
