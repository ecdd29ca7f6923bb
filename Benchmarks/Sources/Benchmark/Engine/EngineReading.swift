import CoreData

/// Reads through a context that has seen nothing yet.
struct EngineReading {
  let store: EngineStore

  func all(_ watch: Stopwatch) throws -> Check {
    let context = store.newContext()
    return try context.performAndWait {
      watch.resume()
      let request = Stop.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.returnsObjectsAsFaults = false
      let stops = try context.fetch(request)
      var check = Check()
      for stop in stops { _take(stop, &check) }
      watch.pause()
      return check
    }
  }

  func pages(_ watch: Stopwatch) throws -> Check {
    try watch.time {
      var check = Check()
      for question in PageQuestions() { try page(question, &check) }
      return check
    }
  }

  /// One page, in a new context.
  func page(_ question: (low: Int64, initial: UInt8), _ check: inout Check) throws {
    let context = store.newContext()
    try context.performAndWait {
      let request = Stop.fetchRequest()
      request.predicate = Self._predicate(question)
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.fetchLimit = 50
      request.returnsObjectsAsFaults = false
      for stop in try context.fetch(request) { _take(stop, &check) }
    }
  }

  func counts(_ watch: Stopwatch) throws -> Check {
    let context = store.newContext()
    return try context.performAndWait {
      try watch.time {
        var check = Check()
        for question in PageQuestions() {
          let request = Stop.fetchRequest()
          request.predicate = Self._predicate(question)
          check.rows += 1
          check.sum += Int64(try context.count(for: request))
        }
        return check
      }
    }
  }

  private static func _predicate(_ question: (low: Int64, initial: UInt8)) -> NSPredicate {
    NSPredicate(
      format: "code BETWEEN {%lld, %lld} AND name BEGINSWITH %@", question.low, question.low + 200_000,
      String(UnicodeScalar(question.initial)))
  }

  func byID(_ numbers: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Check {
    let ids = try store.ids(numbers)
    let context = store.newContext()
    return try context.performAndWait {
      try watch.time {
        var check = Check()
        for id in ids {
          guard let stop = try context.existingObject(with: id) as? Stop else { continue }
          _take(stop, &check)
        }
        return check
      }
    }
  }

  /// The same by faults, which load together.
  func faults(_ numbers: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Check {
    let ids = try store.ids(numbers)
    let context = store.newContext()
    return context.performAndWait {
      watch.time {
        var check = Check()
        let stops = ids.map { context.object(with: $0) as? Stop }
        for case let stop? in stops { _take(stop, &check) }
        return check
      }
    }
  }

  func traverse(_ watch: Stopwatch) throws -> Check {
    let context = store.newContext()
    return try context.performAndWait {
      try watch.time {
        var check = Check()
        for route in try Route.all(in: context) {
          for stop in route.allStops { _take(stop, &check) }
        }
        return check
      }
    }
  }

  /// The same through the accessor that is generated for a to-many, of whose cost most is Foundation's: its
  /// sets cast each member several times on the way out.
  func traverseFoundationSets(_ watch: Stopwatch) throws -> Check {
    let context = store.newContext()
    return try context.performAndWait {
      try watch.time {
        var check = Check()
        for route in try Route.all(in: context) {
          guard let stops = route.stops else { continue }
          for case let stop as Stop in stops { _take(stop, &check) }
        }
        return check
      }
    }
  }

  @inline(__always) private func _take(_ stop: Stop, _ check: inout Check) {
    check.rows += 1
    check.sum += stop.checksum
  }
}

/// Fetches some objects, changes or deletes them, and saves once.
struct EngineChanging {
  let store: EngineStore

  func update(_ numbers: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Int {
    try _change(numbers, watch) { stop, _ in
      stop.name = "upd " + (stop.name ?? "")
      stop.code += 1
    }
  }

  func delete(_ numbers: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Int {
    try _change(numbers, watch) { stop, context in context.delete(stop) }
  }

  /// Updates stops with a save for each.
  func updateEach(_ numbers: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Int {
    try _change(numbers, watch) { stop, context in
      stop.name = "upd " + (stop.name ?? "")
      stop.code += 1
      try context.save()
    }
  }

  private func _change(
    _ numbers: ArraySlice<Int64>, _ watch: Stopwatch, _ body: (Stop, NSManagedObjectContext) throws -> Void
  ) throws -> Int {
    let ids = try store.ids(numbers)
    let context = store.newContext()
    return try context.performAndWait {
      try watch.time {
        let request = Stop.fetchRequest()
        request.predicate = NSPredicate(format: "SELF IN %@", ids)
        request.returnsObjectsAsFaults = false
        let stops = try context.fetch(request)
        for stop in stops { try body(stop, context) }
        try context.save()
        return stops.count
      }
    }
  }
}
