import CoreData
import Foundation
import Measuring

/// The steps on the engine, as an app does them: a container, and a background context.
struct EngineReadings {
  let container: NSPersistentContainer
  let rows: Int

  /// Rows that a batch insertion inserts: SQLite's log holds all of a transaction.
  static let rowsOfRequest = 1_000_000

  /// Opens a store; makes it if it is not there, and migrates it if the model is another one.
  init(path: String, rows: Int, version: ReadingVersion) throws {
    self.rows = rows
    container = NSPersistentContainer(name: "Readings", managedObjectModel: try Self._model(version))
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
  }

  private static func _model(_ version: ReadingVersion) throws -> NSManagedObjectModel {
    let first = NSPersistentContainer(name: "Readings").managedObjectModel
    guard first.entitiesByName["Reading"] != nil else {
      throw Database.Failure(description: "the program's resources do not hold the model 'Readings'")
    }
    guard version != .first, let model = first.copy() as? NSManagedObjectModel,
      let entity = model.entitiesByName["Reading"]
    else { return first }
    let quality = NSAttributeDescription()
    quality.name = "quality"
    quality.attributeType = .integer16AttributeType
    quality.isOptional = true
    // Other properties drop the indexes.
    let indexes = entity.indexes
    entity.properties.append(quality)
    if version == .ofOtherType { entity.attributesByName["sensor"]?.attributeType = .doubleAttributeType }
    entity.indexes = indexes
    return model
  }

  func close() throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  /// - Returns: What the step has found, to be worked out when time and memory are taken.
  func run(_ step: RowsStep) throws -> () -> RowsCheck {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try _run(step, context) }
  }

  private func _run(_ step: RowsStep, _ context: NSManagedObjectContext) throws -> () -> RowsCheck {
    var check = RowsCheck()
    switch step {
    case .importObjects: try _importObjects(context)
    case .importBatch: try _importBatch(context)
    case .open: check = try _check(context, nil, limit: 1)
    case .countAll: check.rows = try context.count(for: Self._readings(nil))
    case .countIndex:
      check.rows = try context.count(for: Self._readings(NSPredicate(format: "sensor == 7")))
    case .countScan:
      check.rows = try context.count(for: Self._readings(NSPredicate(format: "value > 99.9")))
    case .pageFirst: check = try _check(context, NSPredicate(format: "sensor == 7"), sortedBy: ["moment"])
    case .pageMiddle: check = try _check(context, nil, sortedBy: ["sensor", "moment"], offset: rows / 2)
    case .pageKey:
      let last = Date(timeIntervalSinceReferenceDate: ReadingValues.middle(rows))
      let following = NSPredicate(format: "sensor == 500 AND moment > %@", last as NSDate)
      check = try _check(context, following, sortedBy: ["moment"])
    case .sum: check = try _sum(context)
    case .walk: check = try _walk(context)
    case .ids:
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Reading")
      request.resultType = .managedObjectIDResultType
      let ids = try context.fetch(request)
      return { Self._check(ids, by: 1000) }
    case .updateTenth: _ = try _update(context, to: "seen", .statusOnlyResultType)
    case .updateTenthIDs:
      let ids = try _update(context, to: "again", .updatedObjectIDsResultType) as? [NSManagedObjectID]
      return { Self._check(ids ?? [], by: 1) }
    case .deleteObjects: try _deleteObjects(context)
    case .deleteTenth:
      let old = NSFetchRequest<any NSFetchRequestResult>(entityName: "Reading")
      old.predicate = NSPredicate(format: "sensor < 100")
      try context.execute(NSBatchDeleteRequest(fetchRequest: old))
    case .addAttribute, .changeType: break
    }
    return { [check] in check }
  }

  // MARK: Writing

  private func _importObjects(_ context: NSManagedObjectContext) throws {
    for start in stride(from: 0, to: rows, by: ReadingValues.batch) {
      for number in start..<min(rows, start + ReadingValues.batch) {
        let reading = Reading(context: context)
        reading.sensor = Int32(ReadingValues.sensor(number))
        reading.moment = Date(timeIntervalSinceReferenceDate: ReadingValues.moment(number))
        reading.value = ReadingValues.value(number)
        if ReadingValues.hasNote(number) { reading.note = ReadingValues.note(number) }
      }
      try context.save()
      context.reset()
    }
  }

  private func _importBatch(_ context: NSManagedObjectContext) throws {
    for start in stride(from: 0, to: rows, by: Self.rowsOfRequest) {
      var number = start
      let end = min(rows, start + Self.rowsOfRequest)
      let request = NSBatchInsertRequest(
        entityName: "Reading",
        dictionaryHandler: { row in
          guard number < end else { return true }
          row["sensor"] = ReadingValues.sensor(number)
          row["moment"] = Date(timeIntervalSinceReferenceDate: ReadingValues.moment(number))
          row["value"] = ReadingValues.value(number)
          row["note"] = ReadingValues.hasNote(number) ? ReadingValues.note(number) : nil
          number += 1
          return false
        })
      try context.execute(request)
    }
  }

  private func _update(
    _ context: NSManagedObjectContext, to note: String, _ type: NSBatchUpdateRequestResultType
  ) throws -> Any? {
    let request = NSBatchUpdateRequest(entityName: "Reading")
    request.predicate = NSPredicate(format: "sensor < 100")
    request.propertiesToUpdate = ["note": note]
    request.resultType = type
    return (try context.execute(request) as? NSBatchUpdateResult)?.result
  }

  private func _deleteObjects(_ context: NSManagedObjectContext) throws {
    let request = Self._readings(NSPredicate(format: "sensor >= 900"))
    request.fetchLimit = 1000
    while true {
      let found = try context.fetch(request)
      if found.isEmpty { return }
      for reading in found { context.delete(reading) }
      try context.save()
      context.reset()
    }
  }

  // MARK: Reading

  private static func _readings(
    _ predicate: NSPredicate?, sortedBy keys: [String] = []
  ) -> NSFetchRequest<Reading> {
    let request = NSFetchRequest<Reading>(entityName: "Reading")
    request.predicate = predicate
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    return request
  }

  /// Fetches objects and reads every attribute.
  private func _check(
    _ context: NSManagedObjectContext, _ predicate: NSPredicate?, sortedBy keys: [String] = [],
    offset: Int = 0, limit: Int = 50
  ) throws -> RowsCheck {
    let request = Self._readings(predicate, sortedBy: keys)
    (request.fetchOffset, request.fetchLimit) = (offset, limit)
    var check = RowsCheck()
    for reading in try context.fetch(request) { reading.add(to: &check) }
    return check
  }

  private func _sum(_ context: NSManagedObjectContext) throws -> RowsCheck {
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
    return Self.check(sum: found?["sum"] as? Double ?? 0, maximum: found?["maximum"] as? Double ?? 0)
  }

  /// Every object once, ten thousand in memory at a time.
  private func _walk(_ context: NSManagedObjectContext) throws -> RowsCheck {
    var check = RowsCheck()
    var (sensor, moment) = (0, Date.distantPast)
    while sensor < ReadingValues.sensors {
      let following = NSPredicate(format: "sensor == %d AND moment > %@", sensor, moment as NSDate)
      let request = Self._readings(following, sortedBy: ["moment"])
      request.fetchLimit = 10_000
      let found = try context.fetch(request)
      for reading in found { reading.add(to: &check) }
      if found.count == 10_000, let last = found.last {
        moment = last.moment ?? .distantPast
      } else {
        (sensor, moment) = (sensor + 1, .distantPast)
      }
      context.reset()
    }
    return check
  }

  // MARK: Comparing

  /// What a list of IDs is compared by: their number, and the sum of each `step`th.
  static func check(_ count: Int, by step: Int, _ key: (Int) -> Int64) -> RowsCheck {
    var check = RowsCheck(rows: count)
    for index in stride(from: 0, to: count, by: step) { check.sum += key(index) }
    return check
  }

  private static func _check(_ ids: [NSManagedObjectID], by step: Int) -> RowsCheck {
    check(ids.count, by: step) { Int64(ids[$0].uriRepresentation().lastPathComponent.dropFirst()) ?? 0 }
  }

  static func check(sum: Double, maximum: Double) -> RowsCheck {
    RowsCheck(rows: Int(maximum * 10_000), sum: Int64(sum * 100))
  }

  static let sumQuery =
    "SELECT SUM(ZSENSOR) + SUM(ZMOMENT) + CAST(SUM(ZVALUE) * 100 AS INTEGER) + SUM(IFNULL(LENGTH(ZNOTE), 0)) FROM ZREADING"
  static let countQuery = "SELECT COUNT(*) FROM ZREADING"
}

extension Reading {
  /// Adds a row, and something of each attribute.
  fileprivate func add(to check: inout RowsCheck) {
    check.rows += 1
    check.sum += Int64(sensor) + Int64(moment?.timeIntervalSinceReferenceDate ?? 0) + Int64(value)
    check.sum += Int64(note?.utf8.count ?? 0)
  }
}
