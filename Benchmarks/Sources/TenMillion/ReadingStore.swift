import CoreData
import Foundation

/// The store under test: readings of 1,000 sensors, one a second each, in the order in which they came in.
struct ReadingStore {
  let container: NSPersistentContainer
  let rows: Int
  static let sensors = 1000

  init(_ url: URL, rows: Int) throws {
    self.rows = rows
    container = NSPersistentContainer(name: "Readings")
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
  }

  func perform<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }

  static func sensor(_ number: Int) -> Int { number % sensors }

  static func moment(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number / sensors)) }

  static func value(_ number: Int) -> Double { Double(number &* 2_654_435_761 % 1_000_003) / 10_000 }
}

extension NSFetchRequest where ResultType == Reading {
  /// A request with a predicate and sort keys.
  static func readings(_ predicate: NSPredicate?, sortedBy keys: String...) -> NSFetchRequest<Reading> {
    let request = NSFetchRequest<Reading>(entityName: "Reading")
    request.predicate = predicate
    request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: true) }
    return request
  }
}
