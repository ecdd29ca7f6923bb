import CoreDataLoadTrials
import Foundation
import SwiftData

/// Great numbers of contexts, actors and containers, which must leave nothing behind.
struct LeakTrial {
  private let _place: URL
  private let _count: Int
  private let _container: ModelContainer
  /// Bytes by which the process may grow.
  private static let _most = 2_000_000

  init(in place: URL, contexts count: Int) throws {
    _place = place
    _count = count
    _container = try ModelContainer(
      for: Shelf.self, configurations: .init(url: place.appendingPathComponent("shelves.store")))
    let context = ModelContext(_container)
    for number in 0..<100 {
      let shelf = Shelf(code: "\(number)")
      shelf.volumes = [Volume(title: "\(number)")]
      context.insert(shelf)
    }
    try context.save()
  }

  /// Returns the faults.
  func run() async throws -> [String] {
    var faults: [String] = []
    let tenth = max(_count / 10, 1)
    faults += try await _growth("contexts", _count) { try _useContext($0) }
    faults += try await _growth("actors", tenth) { try await _useActor($0) }
    faults += try await _growth("containers", tenth) { try await _useContainer($0) }
    return faults
  }

  /// Does a work as often again as in an equal warm-up, and compares what the process holds after both.
  private func _growth(_ name: String, _ count: Int, _ work: (Int) async throws -> Void) async throws
    -> [String]
  {
    for number in 0..<count { try await work(number) }
    Live.settle()
    let (bytes, descriptors) = (Live.bytes, try Live.descriptors())
    for number in 0..<count { try await work(number) }
    Live.settle()
    let (grown, opened) = (Live.bytes - bytes, try Live.descriptors() - descriptors)
    say("\(count) \(name): \(grown) bytes and \(opened) descriptors more than \(bytes) and \(descriptors)")
    var faults: [String] = []
    if grown >= Self._most { faults.append("\(count) \(name) leave \(grown) bytes") }
    if opened > 0 { faults.append("\(count) \(name) leave \(opened) descriptors") }
    return faults
  }

  private func _require(_ isTrue: Bool, _ fact: String) throws {
    if !isTrue { throw Fault("not so: \(fact)") }
  }

  private func _useContext(_ number: Int) throws {
    let context = ModelContext(_container)
    let shelves = try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)]))
    try _require(shelves.count == 100, "there are 100 shelves")
    let shelf = shelves[number % 100]
    switch number % 8 {
    case 0: shelf.room = "\(number)"
    case 1: context.insert(Shelf(code: "new"))
    case 2: context.delete(shelf)
    case 3:
      shelf.room = "\(number)"
      try context.save()
    case 4:
      let code = shelf.code
      context.delete(shelf)
      try context.save()
      let other = Shelf(code: code)
      other.volumes = [Volume(title: code)]
      context.insert(other)
      try context.save()
    case 5:
      context.insert(Shelf(code: shelf.code, room: "upserted"))
      try context.save()
    case 6:
      for shelf in shelves {
        for volume in shelf.volumes { try _require(volume.shelf === shelf, "inverses agree") }
      }
      shelf.volumes.append(Volume(title: "dropped"))
      context.rollback()
    default:
      try context.delete(model: Volume.self, where: #Predicate { $0.pages == 0 })
      try _require(try context.fetchCount(FetchDescriptor<Volume>()) == 0, "the batch deletion shows")
      context.rollback()
      try context.enumerate(FetchDescriptor<Volume>(), batchSize: 10) { _ = $0.title }
    }
    if number % 100 == 99 { try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
  }

  private func _useActor(_ number: Int) async throws {
    let actor = Librarian(modelContainer: _container)
    let id = try await actor.add("\(number % 100)")
    try _require(try await actor.move(id, to: "\(number)"), "an actor finds what it has added")
    if number % 100 == 99 {
      try ModelContext(_container).deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
  }

  private func _useContainer(_ number: Int) async throws {
    let configuration =
      number % 2 == 0
      ? ModelConfiguration(url: _place.appendingPathComponent("\(number % 8).store"))
      : ModelConfiguration(isStoredInMemoryOnly: true)
    let container = try ModelContainer(for: Shelf.self, configurations: configuration)
    let context = ModelContext(container)
    context.insert(Shelf(code: "\(number % 50)"))
    try context.save()
    let other = ModelContext(container)
    try _require(try other.fetchCount(FetchDescriptor<Shelf>()) > 0, "a container has what was saved")
    try await MainActor.run { _ = try container.mainContext.fetch(FetchDescriptor<Shelf>()).first?.code }
    if number % 100 >= 92 { try other.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
  }
}

/// What a trial finds wrong.
struct Fault: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
