import CoreData
import Foundation
import Synchronization

/// An object that counts the living instances of its kind.
class RoundObject: NSManagedObject {
  static let living = Atomic<Int>(0)

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    Self.living.wrappingAdd(1, ordering: .relaxed)
  }

  deinit { Self.living.wrappingSubtract(1, ordering: .relaxed) }
}

/// A worker's entry for a round: a name, how often it was updated, and the entry of the previous round that
/// it follows.
final class RoundEntry: RoundObject {
  var name: String { value(forKey: "name") as? String ?? "-" }
  var rank: Int { (value(forKey: "rank") as? NSNumber)?.intValue ?? -1 }
  var follows: RoundEntry? { value(forKey: "follows") as? RoundEntry }
}

/// A note that belongs to one entry and is deleted with it.
final class RoundNote: RoundObject {}

/// The work of eight workers in a round, and its expected result.
///
/// Worker w in round r inserts entry (w, r), which follows its neighbour's entry of the previous round,
/// increments that entry's rank, and deletes an entry that another worker inserted three rounds ago. So
/// several workers touch each entry, but never two in the same round.
enum RoundLedger {
  static let workers = 8

  struct Key: Hashable {
    let worker: Int
    let round: Int
    var name: String { String(format: "%02d-%05d", worker, round) }

    /// Whether the entry is never deleted.
    var isKept: Bool { round % 10 == 0 }
  }

  struct Line: Equatable {
    var name: String
    var rank: Int
    var follows: String?
  }

  static func model() -> NSManagedObjectModel {
    let entry = NSEntityDescription()
    entry.name = "Entry"
    entry.managedObjectClassName = NSStringFromClass(RoundEntry.self)
    let note = NSEntityDescription()
    note.name = "Note"
    note.managedObjectClassName = NSStringFromClass(RoundNote.self)
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    func pair(
      _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ back: String, cascades: Bool
    ) -> (
      NSRelationshipDescription, NSRelationshipDescription
    ) {
      let (toOne, toMany) = (NSRelationshipDescription(), NSRelationshipDescription())
      (toOne.name, toOne.destinationEntity, toOne.maxCount) = (name, other, 1)
      (toMany.name, toMany.destinationEntity, toMany.maxCount) = (back, one, 0)
      (toOne.isOptional, toMany.isOptional) = (true, true)
      (toOne.deleteRule, toMany.deleteRule) = (
        .nullifyDeleteRule, cascades ? .cascadeDeleteRule : .nullifyDeleteRule
      )
      (toOne.inverseRelationship, toMany.inverseRelationship) = (toMany, toOne)
      return (toOne, toMany)
    }
    let (follows, followers) = pair(entry, "follows", entry, "followers", cascades: false)
    let (owner, notes) = pair(note, "entry", entry, "notes", cascades: true)
    entry.properties = [
      attribute("name", .stringAttributeType), attribute("rank", .integer64AttributeType),
      attribute("team", .stringAttributeType), follows, followers, notes,
    ]
    note.properties = [attribute("text", .stringAttributeType), owner]
    entry.indexes = [
      NSFetchIndexDescription(
        name: "byName",
        elements: [
          NSFetchIndexElementDescription(property: entry.attributesByName["name"]!, collationType: .binary)
        ])
    ]
    let model = NSManagedObjectModel()
    model.entities = [entry, note]
    return model
  }

  static var entriesByName: NSFetchRequest<RoundEntry> {
    let request = NSFetchRequest<RoundEntry>(entityName: "Entry")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }

  /// Performs one worker's part of a round in its context.
  static func work(in context: NSManagedObjectContext, _ worker: Int, _ round: Int) throws {
    let entry = RoundEntry(entity: context.entity("Entry"), insertInto: context)
    entry.setValue(Key(worker: worker, round: round).name, forKey: "name")
    entry.setValue(0, forKey: "rank")
    entry.setValue("team \(worker)", forKey: "team")
    let note = RoundNote(entity: context.entity("Note"), insertInto: context)
    note.setValue("of round \(round)", forKey: "text")
    note.setValue(entry, forKey: "entry")
    if let before = neighbour(worker, 1, round - 1) {
      let found = try find(before, in: context)
      found.setValue(round, forKey: "rank")
      entry.setValue(found, forKey: "follows")
    }
    if let old = neighbour(worker, 2, round - 3), !old.isKept { context.delete(try find(old, in: context)) }
  }

  /// Applies a round to the expected entries.
  static func expect(_ ranks: inout [Key: Int], _ worker: Int, _ round: Int) {
    ranks[Key(worker: worker, round: round)] = 0
    if let before = neighbour(worker, 1, round - 1) { ranks[before] = round }
    if let old = neighbour(worker, 2, round - 3), !old.isKept { ranks[old] = nil }
  }

  /// The expected entries, by name.
  static func lines(_ ranks: [Key: Int]) -> [Line] {
    ranks.map { key, rank in
      let leader = neighbour(key.worker, 1, key.round - 1).flatMap { ranks[$0] == nil ? nil : $0.name }
      return Line(name: key.name, rank: rank, follows: leader)
    }
    .sorted { $0.name < $1.name }
  }

  private static func neighbour(_ worker: Int, _ distance: Int, _ round: Int) -> Key? {
    round < 0 ? nil : Key(worker: (worker + distance) % workers, round: round)
  }

  private static func find(_ key: Key, in context: NSManagedObjectContext) throws -> RoundEntry {
    let request = NSFetchRequest<RoundEntry>(entityName: "Entry")
    request.predicate = NSPredicate(format: "name == %@", key.name)
    let found = try context.fetch(request)
    guard found.count == 1 else { throw Missing(key: key, count: found.count) }
    return found[0]
  }

  /// An entry that a worker should find exactly once, and does not.
  struct Missing: Error {
    let key: Key
    let count: Int
  }
}

/// Reads the file through a separate coordinator and context.
final class RoundAuditor: @unchecked Sendable {
  // Unchecked: the context is used only in its perform blocks.
  private let _context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)

  init(_ url: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RoundLedger.model())
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    _context.persistentStoreCoordinator = coordinator
  }

  /// Returns the entries in the file, by name, and the number of notes that belong to an entry.
  func read() async throws -> (lines: [RoundLedger.Line], notes: Int) {
    let context = _context
    return try await context.perform {
      let request = NSFetchRequest<NSDictionary>(entityName: "Entry")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", "rank", "follows.name"]
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let lines = try context.fetch(request).map { row in
        RoundLedger.Line(
          name: row["name"] as? String ?? "-", rank: (row["rank"] as? NSNumber)?.intValue ?? -1,
          follows: row["follows.name"] as? String)
      }
      let notes = NSFetchRequest<NSManagedObject>(entityName: "Note")
      notes.predicate = NSPredicate(format: "entry != nil")
      return (lines, try context.count(for: notes))
    }
  }
}

extension NSManagedObjectContext {
  fileprivate func entity(_ name: String) -> NSEntityDescription {
    NSEntityDescription.entity(forEntityName: name, in: self)!
  }
}
