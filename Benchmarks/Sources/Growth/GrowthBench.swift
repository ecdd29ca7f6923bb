import CoreData
import Foundation
import Measuring

#if POSTGRESQL
import CoreDataPostgreSQL
#endif

/// What a process is asked to measure; it travels as an argument.
struct GrowthJob: Codable {
  var name: String
  var size: Int
  var directory: String
  /// The database of the stores; nil for files.
  var server: String?
  /// How far it goes.
  var extent = Extent.whole

  /// Where a process ends. Two counts of instructions, up to the work and through it, differ by the work's.
  enum Extent: String, Codable { case whole, upToWork, throughWork }
}

/// What a process measured.
struct GrowthMeasurement: Codable {
  /// How many times the work did what the case is about.
  var units: Int
  /// CPU time of a unit, of all threads; on a server the time that passes.
  var microseconds = 0.0
  /// What the work held at most, beyond what was there before.
  var megabytes = 0.0
}

/// One case at one size, in this process.
///
/// Confined to the main thread: cases call `performAndWait`.
final class GrowthBench {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let size: Int
  private let _extent: GrowthJob.Extent
  private let _directory: String
  private let _server: String?
  private var _measurement: GrowthMeasurement?
  private var _stores = 0
  private let _model = NSPersistentContainer(name: "Growth").managedObjectModel

  private init(_ job: GrowthJob) {
    size = job.size
    _extent = job.extent
    _directory = job.directory
    _server = job.server
  }

  static func outcome(of job: GrowthJob) -> JobOutcome<GrowthMeasurement> {
    guard let growth = GrowthCase.named(job.name) else { return .failed("there is no case '\(job.name)'") }
    let bench = GrowthBench(job)
    do {
      try growth.work(bench)
      guard let measurement = bench._measurement else { return .failed("nothing was measured") }
      return .finished(measurement)
    } catch {
      return .failed("\(error)")
    }
  }

  /// Measures the work of a case.
  ///
  /// - Parameter units: How many times the body does what the case is about.
  func measure(units: Int, _ body: () throws -> Void) rethrows {
    guard _extent == .whole else {
      if _extent == .throughWork { try body() }
      ChildProcess.end(.finished(GrowthMeasurement(units: units)))
    }
    ProcessMemory.forgetPeak()
    let memory = ProcessMemory.residentBytes
    let start = _seconds
    try body()
    let seconds = _seconds - start
    _measurement = GrowthMeasurement(
      units: units, microseconds: seconds * 1e6 / Double(units),
      megabytes: max(0, ProcessMemory.peakMegabytes - memory / 1e6))
  }

  /// Fails the case unless it has found what it should: a fast wrong answer is no measurement.
  func expect<Value: Equatable>(_ found: Value, _ expected: Value) throws {
    if found != expected { throw Failure(description: "found \(found) instead of \(expected)") }
  }

  /// Where a new store can be made: a file, or a schema on the server.
  func newPlace() -> URL {
    _stores += 1
    guard let _server else { return URL(fileURLWithPath: "\(_directory)/\(_stores).sqlite") }
    let process = ProcessInfo.processInfo.processIdentifier
    return URL(string: "\(_server)&schema=growth_\(process)_\(_stores)")!
  }

  /// A container over a new store.
  func container(_ type: String = NSSQLiteStoreType, history: Bool = false) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Growth", managedObjectModel: _model)
    let description = type == NSInMemoryStoreType ? .init() : NSPersistentStoreDescription(url: newPlace())
    description.type = type
    if type == NSSQLiteStoreType {
      // The disk is not what is measured.
      description.setValue("OFF" as NSString, forPragmaNamed: "synchronous")
      if history { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
      #if POSTGRESQL
      if _server != nil { description.type = NSPostgreSQLStoreType }
      #endif
    }
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  /// A container over a store with as many tracks as the size says: numbered from 0, all of no album.
  func containerOfTracks() throws -> NSPersistentContainer {
    let container = try container()
    var number = 0
    let request = NSBatchInsertRequest(entityName: "Track") { (row: NSMutableDictionary) in
      guard number < self.size else { return true }
      row["number"] = number
      row["plays"] = number * 7919 % self.size
      row["title"] = "Track \(number)"
      number += 1
      return false
    }
    let context = container.newBackgroundContext()
    try context.performAndWait { _ = try context.execute(request) }
    return container
  }

  private var _seconds: Double {
    var time = timespec()
    // The server's share is in no time of this process.
    clock_gettime(_server == nil ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

extension NSFetchRequest<Track> {
  /// Tracks that satisfy a predicate, by number, with their values.
  static func tracks(_ predicate: NSPredicate? = nil) -> NSFetchRequest<Track> {
    let request = NSFetchRequest<Track>(entityName: "Track")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
    request.returnsObjectsAsFaults = false
    return request
  }
}

extension NSManagedObjectContext {
  /// Inserts a track for each number.
  @discardableResult
  func insertTracks(_ numbers: Range<Int>) -> [Track] {
    numbers.map { number in
      let track = Track(context: self)
      track.number = Int64(number)
      track.title = "Track \(number)"
      return track
    }
  }
}
