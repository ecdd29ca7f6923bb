import CoreDataToolKit
import Foundation
import SwiftData
import Synchronization

/// One thread's units of work, each with a context of its own, and what they must have left in the file.
final class ServerWorker: @unchecked Sendable {
  // Unchecked: used by one thread at a time.

  struct Picture: Equatable {
    var room = ""
    /// Topics by the volume's title.
    var volumes: [String: Set<String>] = [:]
  }

  static let topics = (0..<20).map { "topic \($0)" }
  private static let _mostShelves = 40

  /// The thread's own shelves by code.
  private(set) var picture: [String: Picture] = [:]
  private(set) var units = 0
  private(set) var faults: [String] = []
  private let _name: String
  private let _container: ModelContainer
  private let _common: CommonShelves
  private var _dice: SeededRandom
  private var _volumeCount = 0
  /// Up to where the thread has read the history, and its own saves since.
  private var _token: DefaultHistoryToken?
  private var _savesSinceToken = 0
  private static let _tokens = Mutex<[String: Int64]>([:])

  init(_ number: Int, _ container: ModelContainer, _ common: CommonShelves) {
    _name = "w\(number)"
    _container = container
    _common = common
    _dice = SeededRandom(seed: UInt64(number))
    Self._tokens.withLock { $0[_name] = 0 }
  }

  /// Titles of the thread's volumes with a topic.
  func titles(of topic: String) -> [String] {
    picture.values.flatMap { $0.volumes.filter { $0.value.contains(topic) }.keys }
  }

  /// Does units of work until a time, or until something is wrong.
  func work(until end: Date) {
    while faults.isEmpty, end.timeIntervalSinceNow > 0 {
      units += 1
      let kind = _dice.below(14)
      do { try _unit(kind) } catch { faults.append("\(_name), unit \(units) of kind \(kind): \(error)") }
    }
  }

  private func _unit(_ kind: Int) throws {
    let context = ModelContext(_container)
    context.author = _name
    switch kind {
    case 0, 1: try _insert(context)
    case 2, 3: try _edit(context)
    case 4: try _upsert(context)
    case 5: try _delete(context)
    case 6: try _reinsert(context)
    case 7: try _insertAnew(context)
    case 8: try _rollBack(context)
    case 9: try _deleteMatching(context)
    case 10: try _writeCommon(context)
    case 11: try _writeFree(context)
    case 12: try _readHistory(context)
    default: faults += try differences(in: context)
    }
  }

  private func _save(_ context: ModelContext) throws {
    try context.save()
    _savesSinceToken += 1
  }

  private func _require(_ isTrue: Bool, _ fact: @autoclosure () -> String) throws {
    if !isTrue { throw Fault("not so: \(fact())") }
  }

  private func _shelf(_ context: ModelContext) throws -> Shelf? {
    guard let code = _dice.pick(picture.keys.sorted()) else { return nil }
    return try _shelf(code, context)
  }

  private func _shelf(_ code: String, _ context: ModelContext) throws -> Shelf {
    let found = try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.code == code }))
    try _require(found.count == 1, "\(code) is there once; it is there \(found.count) times")
    return found[0]
  }

  /// Makes a volume with topics that other threads use as well.
  private func _volume(_ context: ModelContext) throws -> (Volume, Set<String>) {
    _volumeCount += 1
    let volume = Volume(title: "\(_name)-v\(_volumeCount)", pages: units)
    let names = Set((0..<_dice.below(3)).compactMap { _ in _dice.pick(Self.topics) })
    if names.isEmpty { return (volume, names) }
    let list = Array(names)
    volume.topics = try context.fetch(FetchDescriptor<Topic>(predicate: #Predicate { list.contains($0.name) }))
    try _require(volume.topics.count == names.count, "all topics are there")
    return (volume, names)
  }

  private func _insert(_ context: ModelContext) throws {
    guard picture.count < Self._mostShelves else { return try _delete(context) }
    let shelf = Shelf(code: "\(_name)-s\(units)", room: "new")
    var wanted = Picture(room: "new")
    for _ in 0..<_dice.below(4) {
      let (volume, topics) = try _volume(context)
      wanted.volumes[volume.title] = topics
      shelf.volumes.append(volume)
    }
    context.insert(shelf)
    try _save(context)
    picture[shelf.code] = wanted
  }

  private func _edit(_ context: ModelContext) throws {
    guard let shelf = try _shelf(context) else { return }
    var wanted = picture[shelf.code]!
    shelf.room = "edited \(units)"
    wanted.room = shelf.room
    if let volume = shelf.volumes.first, _dice.chance(40) {
      wanted.volumes[volume.title] = nil
      context.delete(volume)
    }
    if wanted.volumes.count < 5 {
      let (volume, topics) = try _volume(context)
      wanted.volumes[volume.title] = topics
      shelf.volumes.append(volume)
    }
    for volume in shelf.volumes { volume.pages += 1 }
    try _save(context)
    picture[shelf.code] = wanted
  }

  private func _upsert(_ context: ModelContext) throws {
    guard let code = _dice.pick(picture.keys.sorted()) else { return }
    let shelf = Shelf(code: code, room: "upserted")
    context.insert(shelf)
    try _save(context)
    shelf.room = "upserted \(units)"
    try _require(context.hasChanges, "a change after an upsert counts")
    try _save(context)
    picture[code]!.room = shelf.room
  }

  private func _delete(_ context: ModelContext) throws {
    guard let shelf = try _shelf(context) else { return }
    let code = shelf.code
    context.delete(shelf)
    try _save(context)
    picture[code] = nil
  }

  /// Deletes a shelf and takes it back before the save.
  private func _reinsert(_ context: ModelContext) throws {
    guard let shelf = try _shelf(context) else { return }
    context.delete(shelf)
    context.insert(shelf)
    shelf.room = "kept \(units)"
    try _save(context)
    picture[shelf.code]!.room = shelf.room
  }

  /// Inserts a shelf again whose deletion was saved.
  private func _insertAnew(_ context: ModelContext) throws {
    guard let shelf = try _shelf(context) else { return }
    let code = shelf.code
    context.delete(shelf)
    try _save(context)
    picture[code] = nil
    context.insert(shelf)
    try _save(context)
    picture[code] = Picture(room: shelf.room)
  }

  private func _rollBack(_ context: ModelContext) throws {
    guard let shelf = try _shelf(context) else { return }
    let room = shelf.room
    shelf.room = "never"
    shelf.volumes.append(Volume(title: "never"))
    context.insert(Shelf(code: "never"))
    if _dice.chance(50) { context.delete(shelf) }
    context.rollback()
    try _require(!context.hasChanges && shelf.room == room, "a rollback returns to what is stored")
  }

  private func _deleteMatching(_ context: ModelContext) throws {
    guard let code = _dice.pick(picture.keys.sorted()) else { return }
    try context.delete(model: Shelf.self, where: #Predicate { $0.code == code })
    let others = try context.fetchCount(FetchDescriptor<Shelf>(predicate: #Predicate { $0.code == code }))
    try _require(others == 0, "what a predicate deletes is gone from fetches")
    if _dice.chance(30) { return context.rollback() }
    try _save(context)
    picture[code] = nil
  }

  /// Deletes all of the thread's shelves.
  func clear() throws {
    let prefix = _name + "-"
    let context = ModelContext(_container)
    context.author = _name
    // The main thread, which measures, runs no queue that would do it, and until then an autosave keeps its context.
    context.autosaveEnabled = false
    try context.delete(model: Shelf.self, where: #Predicate { $0.code.starts(with: prefix) })
    guard context.hasChanges else { return }
    try _save(context)
    picture = [:]
  }

  private func _writeCommon(_ context: ModelContext) throws {
    let (code, room) = ("common-\(_dice.below(10))", "\(_name) \(units)")
    try _common.save(code, room) {
      context.insert(Shelf(code: code, room: room))
      try _save(context)
    }
  }

  /// Writes shelves that other threads write, upsert and delete at the same time.
  private func _writeFree(_ context: ModelContext) throws {
    let code = "free-\(_dice.below(5))"
    let found = try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.code == code }))
    if let shelf = found.first, _dice.chance(60) {
      if _dice.chance(50) { context.delete(shelf) } else { shelf.room = "\(_name) \(units)" }
    } else {
      context.insert(Shelf(code: code, room: "\(_name) \(units)"))
    }
    // Not counted: what another thread has deleted meanwhile leaves nothing to save.
    context.author = nil
    try context.save()
  }

  // MARK: History

  private func _readHistory(_ context: ModelContext) throws {
    let number = _token
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    if let number { descriptor.predicate = #Predicate { $0.token > number } }
    let transactions = try context.fetchHistory(descriptor)
    let own = transactions.count { $0.author == _name }
    try _require(own == _savesSinceToken, "\(_savesSinceToken) saves are in the history; there are \(own)")
    guard let last = transactions.last?.token else { return }
    (_token, _savesSinceToken) = (last, 0)
    let all = Self._tokens.withLock { tokens in
      tokens[_name] = last.id.values.max() ?? 0
      return tokens
    }
    // What all threads have read is purged, by one of them.
    guard _name == "w0", let oldest = all.values.min() else { return }
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.transactionIdentifier < oldest }))
  }

  // MARK: Contents

  /// Returns where the thread's shelves differ from what they must be.
  func differences(in context: ModelContext) throws -> [String] {
    let prefix = _name + "-"
    let shelves = try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.code.starts(with: prefix) }))
    var found: [String: Picture] = [:]
    var faults: [String] = []
    for shelf in shelves {
      if found[shelf.code] != nil { faults.append("\(shelf.code) is there twice") }
      var shown = Picture(room: shelf.room)
      for volume in shelf.volumes {
        shown.volumes[volume.title] = Set(volume.topics.map(\.name))
        if volume.shelf !== shelf { faults.append("\(volume.title) is not on its shelf") }
      }
      found[shelf.code] = shown
    }
    for (code, wanted) in picture where found[code] != wanted {
      faults.append("\(code) is \(String(describing: found[code])), not \(wanted)")
    }
    for code in found.keys where picture[code] == nil { faults.append("\(code) is not deleted") }
    return faults
  }
}
