import CoreDataLoadTrials
import Foundation
import SwiftData
import Synchronization

/// Eight threads on one file, with a context for each unit of work, as a server has them.
///
/// Time passes in ten rounds with threads of their own. After each of them the file is compared with what the
/// threads have recorded. The bytes that live at the end are compared with those after the first round that
/// had as many connections open: each has its statements, and the pool opens one more when so many threads
/// read at once as never before.
struct ServerTrial {
  private static let _threads = 8
  private let _seconds: Int
  private let _container: ModelContainer
  private let _common = CommonShelves()

  init(in place: URL, seconds: Int) throws {
    _seconds = seconds
    _container = try ModelContainer(
      for: Shelf.self, configurations: .init(url: place.appendingPathComponent("server.store")))
    let context = ModelContext(_container)
    for name in ServerWorker.topics { context.insert(Topic(name: name)) }
    try context.save()
  }

  /// Returns the faults.
  func run() throws -> [String] {
    let workers = (0..<Self._threads).map { ServerWorker($0, _container, _common) }
    // Neither used nor let go, as one that waits for a request that never comes.
    let idle = ModelContext(_container)
    let idleCount = try idle.fetch(FetchDescriptor<Topic>()).count
    let (start, warm) = (Date(), min(60, Double(_seconds) / 6))
    var bases: [Int: Int] = [:]
    while -start.timeIntervalSinceNow < Double(_seconds) {
      let passed = -start.timeIntervalSinceNow
      let length = bases.isEmpty ? warm - passed : min(60, Double(_seconds) / 6)
      _run(workers, for: min(max(length, 1), Double(_seconds) - passed))
      let faults = workers.flatMap(\.faults) + (try _differences(workers))
      if !faults.isEmpty { return faults }
      // What lives depends on what is stored, which varies: it is measured with nothing stored.
      for worker in workers { try worker.clear() }
      Live.settle()
      let (bytes, descriptors) = (Live.bytes, try Live.descriptors())
      say(
        "after \(Int(-start.timeIntervalSinceNow)) s: \(workers.reduce(0) { $0 + $1.units }) units of work, "
          + "\(bytes) live bytes without SQLite's, \(descriptors) descriptors")
      if bases[descriptors] == nil { bases[descriptors] = bytes }
    }
    let found = try idle.fetch(FetchDescriptor<Topic>()).count
    guard found == idleCount else { return ["the idle context finds \(found) topics, not \(idleCount)"] }
    Live.settle()
    guard let base = bases[try Live.descriptors()] else { return [] }
    // A short trial ends before the caches are full.
    let most = _seconds < 600 ? base + 2_000_000 : base + base / 50
    return Live.bytes <= most ? [] : ["\(Live.bytes) bytes live at the end, more than \(most)"]
  }

  private func _run(_ workers: [ServerWorker], for seconds: Double) {
    let end = Date(timeIntervalSinceNow: seconds)
    let group = DispatchGroup()
    for worker in workers {
      group.enter()
      Thread {
        worker.work(until: end)
        group.leave()
      }.start()
    }
    group.wait()
  }

  /// Compares the file with what the threads have recorded.
  private func _differences(_ workers: [ServerWorker]) throws -> [String] {
    let context = ModelContext(_container)
    var faults: [String] = []
    for worker in workers { faults += try worker.differences(in: context) }
    let wanted = _common.rooms
    let common = try context.fetch(
      FetchDescriptor<Shelf>(predicate: #Predicate { $0.code.starts(with: "common-") }))
    if common.count != wanted.count { faults.append("\(common.count) common shelves, not \(wanted.count)") }
    for shelf in common where wanted[shelf.code] != shelf.room {
      faults.append("\(shelf.code) is in \(shelf.room), not \(wanted[shelf.code] ?? "none")")
    }
    // Which thread came last is not known.
    let free = try context.fetch(
      FetchDescriptor<Shelf>(predicate: #Predicate { $0.code.starts(with: "free-") }))
    if Set(free.map(\.code)).count != free.count { faults.append("a unique code is there twice") }
    let volumes = Set(workers.flatMap { $0.picture.values.flatMap(\.volumes.keys) })
    for volume in try context.fetch(FetchDescriptor<Volume>()) where !volumes.contains(volume.title) {
      faults.append("\(volume.title) is not deleted; it is on \(volume.shelf?.code ?? "no shelf")")
    }
    for topic in try context.fetch(FetchDescriptor<Topic>()) {
      let wanted = Set(workers.flatMap { $0.titles(of: topic.name) })
      let shown = Set(topic.volumes.map(\.title))
      if shown != wanted {
        faults.append("\(topic.name) lacks \(wanted.subtracting(shown)), has \(shown.subtracting(wanted))")
      }
    }
    return faults
  }
}

/// Shelves that all threads write, one at a time, so that it is known who came last.
final class CommonShelves: Sendable {
  private let _rooms = Mutex<[String: String]>([:])

  /// The rooms by code.
  var rooms: [String: String] { _rooms.withLock { $0 } }

  /// Runs a save of a shelf, and records its room.
  func save(_ code: String, _ room: String, _ save: () throws -> Void) rethrows {
    try _rooms.withLock { rooms in
      try save()
      rooms[code] = room
    }
  }
}
