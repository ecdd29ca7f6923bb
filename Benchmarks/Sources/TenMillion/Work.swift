import CoreData
import Foundation

/// What is measured, in the order in which it is done.
enum Work: String, CaseIterable {
  case importRows, count, countOfSensor, countByValue, firstPage, deepOffset, deepKey, sensor, object, sum
  case walk, walkIDs, importObjects, update, updateAll, delete

  func title(_ rows: Int) -> String {
    switch self {
    case .importRows:
      "import of \(rows / 1_000_000 > 0 ? "\(rows / 1_000_000) million" : "\(rows)") rows by batch insert requests"
    case .count: "count of all"
    case .countOfSensor: "count by an indexed attribute"
    case .countByValue: "count by an attribute without index"
    case .firstPage: "a sensor's first 50, by an index of both attributes"
    case .deepOffset: "50 of all by `sensor, moment`, offset half the rows"
    case .deepKey: "50 in the middle of a sensor by the last key seen instead of an offset"
    case .sensor: "all readings of a sensor as objects"
    case .object: "one object by its ID"
    case .sum: "sum and maximum of an attribute, computed by SQLite"
    case .walk: "walk through all objects, in pages of 10,000 by key"
    case .walkIDs: "all object IDs"
    case .importObjects: "100,000 more as objects, a save every 10,000"
    case .update: "batch update of a sensor"
    case .updateAll: "batch update of all"
    case .delete: "batch delete of a tenth"
    }
  }

  /// - Returns: What came of it, in words.
  func run(_ store: ReadingStore) throws -> String {
    try store.perform { context in
      switch self {
      case .importRows: return try Self._import(store.rows, context)
      case .count: return "\(try context.count(for: .readings(nil))) rows"
      case .countOfSensor:
        return "\(try context.count(for: .readings(NSPredicate(format: "sensor == 7")))) rows"
      case .countByValue:
        return "\(try context.count(for: .readings(NSPredicate(format: "value > 99.9")))) rows"
      case .firstPage, .deepOffset, .deepKey, .sensor: return try _fetch(store, context)
      case .object:
        let all = NSFetchRequest<NSManagedObjectID>(entityName: "Reading")
        all.resultType = .managedObjectIDResultType
        all.predicate = NSPredicate(format: "sensor == 7")
        all.fetchLimit = 1
        guard let id = try context.fetch(all).first else { return "none" }
        let object = try context.existingObject(with: id) as? Reading
        return "sensor \(object?.sensor ?? 0)"
      case .sum: return try Self._sum(context)
      case .walk: return try Self._walk(context)
      case .walkIDs:
        let all = NSFetchRequest<NSManagedObjectID>(entityName: "Reading")
        all.resultType = .managedObjectIDResultType
        return "\(try context.fetch(all).count) IDs"
      case .importObjects: return try Self._importObjects(store.rows, context)
      case .update, .updateAll:
        let request = NSBatchUpdateRequest(entityName: "Reading")
        if self == .update { request.predicate = NSPredicate(format: "sensor == 7") }
        request.propertiesToUpdate = ["note": self == .update ? "seen" : "old"]
        request.resultType = .updatedObjectsCountResultType
        return "\((try context.execute(request) as? NSBatchUpdateResult)?.result ?? 0) rows"
      case .delete:
        let old: NSFetchRequest<Reading> = .readings(NSPredicate(format: "sensor < 100"))
        let request = NSBatchDeleteRequest(fetchRequest: old)
        request.resultType = .resultTypeCount
        return "\((try context.execute(request) as? NSBatchDeleteResult)?.result ?? 0) rows"
      }
    }
  }

  private static func _import(_ rows: Int, _ context: NSManagedObjectContext) throws -> String {
    // A transaction a million: the log is folded into the file in between.
    for start in stride(from: 0, to: rows, by: 1_000_000) {
      var number = start
      let end = min(rows, start + 1_000_000)
      let request = NSBatchInsertRequest(
        entityName: "Reading",
        dictionaryHandler: { row in
          guard number < end else { return true }
          row["sensor"] = ReadingStore.sensor(number)
          row["moment"] = ReadingStore.moment(number)
          row["value"] = ReadingStore.value(number)
          number += 1
          return false
        })
      try context.execute(request)
    }
    return "\(rows) rows"
  }

  private static func _importObjects(_ first: Int, _ context: NSManagedObjectContext) throws -> String {
    for number in first..<first + 100_000 {
      let reading = Reading(context: context)
      reading.sensor = Int32(ReadingStore.sensor(number))
      reading.moment = ReadingStore.moment(number)
      reading.value = ReadingStore.value(number)
      guard number % 10_000 == 9999 else { continue }
      try context.save()
      context.reset()
    }
    return "100000 rows"
  }

  private func _fetch(_ store: ReadingStore, _ context: NSManagedObjectContext) throws -> String {
    let request: NSFetchRequest<Reading>
    switch self {
    case .firstPage: request = .readings(NSPredicate(format: "sensor == 7"), sortedBy: "moment")
    case .deepOffset:
      request = .readings(nil, sortedBy: "sensor", "moment")
      request.fetchOffset = store.rows / 2
    case .deepKey:
      // Where it leaves off, the next sensor's first are asked for.
      let last = ReadingStore.moment(store.rows / 4)
      request = .readings(
        NSPredicate(format: "sensor == %d AND moment > %@", 500, last as NSDate), sortedBy: "moment")
    default: request = .readings(NSPredicate(format: "sensor == 7"))
    }
    if self != .sensor { request.fetchLimit = 50 }
    let found = try context.fetch(request)
    return "\(found.count) objects, the first of sensor \(found.first?.sensor ?? -1)"
  }

  private static func _sum(_ context: NSManagedObjectContext) throws -> String {
    func figure(_ name: String, _ function: String) -> NSExpressionDescription {
      let description = NSExpressionDescription()
      description.name = name
      description.expression = NSExpression(
        forFunction: function, arguments: [NSExpression(forKeyPath: "value")])
      description.expressionResultType = .doubleAttributeType
      return description
    }
    let request = NSFetchRequest<NSDictionary>(entityName: "Reading")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [figure("sum", "sum:"), figure("maximum", "max:")]
    let found = try context.fetch(request).first
    return "maximum \(found?["maximum"] ?? "none")"
  }

  /// Every object once, ten thousand in memory at a time.
  private static func _walk(_ context: NSManagedObjectContext) throws -> String {
    var (count, sensor, moment) = (0, -1, Date.distantPast)
    while true {
      let found = try _page(context, sensor, moment)
      guard let last = found.last else { return "\(count) objects" }
      count += found.count
      (sensor, moment) = (Int(last.sensor), last.moment ?? .distantPast)
      context.reset()
    }
  }

  private static func _page(
    _ context: NSManagedObjectContext, _ sensor: Int, _ moment: Date
  ) throws -> [Reading] {
    let request: NSFetchRequest<Reading> = .readings(
      NSPredicate(format: "sensor == %d AND moment > %@", sensor, moment as NSDate), sortedBy: "moment")
    request.fetchLimit = 10_000
    let found = try context.fetch(request)
    guard found.isEmpty else { return found }
    // The sensor has no more: on to the next.
    let next: NSFetchRequest<Reading> = .readings(
      NSPredicate(format: "sensor == %d", sensor + 1), sortedBy: "moment")
    next.fetchLimit = 10_000
    return try context.fetch(next)
  }
}
