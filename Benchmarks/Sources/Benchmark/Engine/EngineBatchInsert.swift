import CoreData
import Foundation

/// Inserts stops by `NSBatchInsertRequest`, into a store with a history.
///
/// The records are there before the time starts, and so are the dictionaries of `.dictionaries`, as a parser would
/// leave them. What a handler does counts.
struct EngineBatchInsert {
  /// Where the values come from.
  enum Source {
    /// An array of dictionaries.
    case dictionaries
    /// A closure that fills a dictionary for each stop.
    case dictionaryHandler
    /// A closure that sets the properties of an object for each stop.
    case objectHandler

    init?(_ work: Work) {
      switch work {
      case .batchInsert: self = .dictionaries
      case .batchInsertDictionary: self = .dictionaryHandler
      case .batchInsertObject: self = .objectHandler
      default: return nil
      }
    }
  }

  /// Objects of one request.
  static let size = 15_000

  let store: EngineStore
  let count: Int
  let source: Source

  func run(_ watch: Stopwatch) throws {
    let context = store.newContext()
    try _requests { request, size in
      let result = try context.performAndWait { try watch.time { try context.execute(request) } }
      guard (result as? NSBatchInsertResult)?.result as? Int == size else {
        throw Database.Failure(description: "a batch insertion did not report \(size) objects")
      }
    }
  }

  /// Makes the requests without executing them.
  func prepare() throws { try _requests { _, _ in } }

  /// What the program's own closure takes for all stops, with the making of what it fills; nil without a closure.
  func handlerSeconds() throws -> Double? {
    let watch = Stopwatch()
    guard let entity = store.coordinator.managedObjectModel.entitiesByName["Stop"] else { return nil }
    try _requests { request, size in
      watch.resume()
      if let handler = request.dictionaryHandler {
        for _ in 0..<size { _ = handler(NSMutableDictionary()) }
      }
      if let handler = request.managedObjectHandler {
        for _ in 0..<size { _ = handler(Stop(entity: entity, insertInto: nil)) }
      }
      watch.pause()
    }
    return source == .dictionaries ? nil : watch.seconds
  }

  private func _requests(_ body: (NSBatchInsertRequest, Int) throws -> Void) throws {
    var generator = StopGenerator(seed: 42)
    var done = 0
    while done < count {
      let size = min(Self.size, count - done)
      let request = _request(generator.records(size))
      request.resultType = .count
      try body(request, size)
      done += size
    }
  }

  private func _request(_ records: [StopRecord]) -> NSBatchInsertRequest {
    var rest = records.makeIterator()
    switch source {
    case .dictionaries:
      return NSBatchInsertRequest(entityName: "Stop", objects: records.map(\.values))
    case .dictionaryHandler:
      return NSBatchInsertRequest(entityName: "Stop") { (dictionary: NSMutableDictionary) in
        guard let record = rest.next() else { return true }
        record.fill(dictionary)
        return false
      }
    case .objectHandler:
      return NSBatchInsertRequest(entityName: "Stop") { (object: NSManagedObject) in
        guard let record = rest.next(), let stop = object as? Stop else { return true }
        stop.takeValues(record)
        return false
      }
    }
  }
}

extension StopRecord {
  /// The values by property name, as a parser would leave them.
  fileprivate var values: [String: Any] {
    var values: [String: Any] = [
      "identifier": identifier, "name": name, "latitude": numbers.latitude, "longitude": numbers.longitude,
      "code": numbers.code, "createdAt": createdAt, "active": numbers.isActive,
    ]
    if let note { values["note"] = note }
    return values
  }

  fileprivate func fill(_ dictionary: NSMutableDictionary) {
    dictionary["identifier"] = identifier
    dictionary["name"] = name
    dictionary["latitude"] = numbers.latitude
    dictionary["longitude"] = numbers.longitude
    dictionary["code"] = numbers.code
    dictionary["createdAt"] = createdAt
    dictionary["active"] = numbers.isActive
    if let note { dictionary["note"] = note }
  }
}
