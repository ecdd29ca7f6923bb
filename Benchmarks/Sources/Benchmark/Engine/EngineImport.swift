import CoreData

/// Imports through a context, with a clean one for each batch.
struct EngineImport {
  let store: EngineStore
  let count: Int
  let batch: Int
  let finds: Bool
  var seed: UInt64 = 42
  var shift: Double = 0
  /// Whether making the records counts, as in the work with a reader beside it.
  var timesGenerator = false
  /// Answers true when the import is to end before its time.
  var isOver: () -> Bool = { false }

  /// Answers how many stops were imported.
  @discardableResult func run(_ watch: Stopwatch) throws -> Int {
    let context = store.newContext()
    return try context.performAndWait {
      var generator = StopGenerator(seed: seed, shift: shift)
      var done = 0
      if timesGenerator { watch.resume() }
      while done < count, !isOver() {
        // Records are made and released outside the timer.
        let records = generator.records(min(batch, count - done))
        if !timesGenerator { watch.resume() }
        let routes = try Route.all(in: context)
        let known = finds ? try _known(records, context) : [:]
        for record in records { (known[record.identifier] ?? Stop(context: context)).take(record, routes) }
        try context.save()
        context.reset()
        if !timesGenerator { watch.pause() }
        done += records.count
      }
      watch.pause()
      return done
    }
  }

  private func _known(_ records: [StopRecord], _ context: NSManagedObjectContext) throws -> [String: Stop] {
    let request = Stop.fetchRequest()
    request.predicate = NSPredicate(format: "identifier IN %@", records.map(\.identifier))
    request.returnsObjectsAsFaults = false
    var known: [String: Stop] = [:]
    for stop in try context.fetch(request) { known[stop.identifier ?? ""] = stop }
    return known
  }
}

/// Inserts stops with a save for each.
struct EngineInsertEach {
  let store: EngineStore
  let count: Int

  func run(_ watch: Stopwatch) throws {
    let context = store.newContext()
    try context.performAndWait {
      var generator = StopGenerator(seed: 42)
      let records = generator.records(count)
      try watch.time {
        let routes = try Route.all(in: context)
        for record in records {
          Stop(context: context).take(record, routes)
          try context.save()
        }
      }
    }
  }
}

/// Looks for each stop by itself and saves every so often, through a stack with a main context that follows.
struct EngineFindOrCreate {
  let stack: EngineStack
  let count: Int
  let saveEvery: Int

  func run(_ watch: Stopwatch) throws {
    let context = stack.worker
    try context.performAndWait {
      var generator = StopGenerator(seed: 42)
      watch.resume()
      let routes = try Route.all(in: context)
      watch.pause()
      var done = 0
      while done < count {
        let records = generator.records(min(saveEvery, count - done))
        watch.resume()
        for record in records {
          let request = Stop.fetchRequest()
          request.predicate = NSPredicate(format: "identifier == %@", record.identifier)
          request.fetchLimit = 1
          (try context.fetch(request).first ?? Stop(context: context)).take(record, routes)
        }
        try stack.save()
        watch.pause()
        done += records.count
      }
    }
    try watch.time { try stack.settle() }
  }
}
