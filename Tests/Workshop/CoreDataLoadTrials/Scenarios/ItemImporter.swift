import CoreData
import CoreDataToolKit
import Foundation

/// Imports items by identifier, a hundred at a time, each time in a new context: finds or creates them, as
/// most imports do. A quarter of those found are deleted, a quarter of the others are inserted, so that half
/// of all identifiers are there.
final class ItemImporter: @unchecked Sendable {
  // Unchecked: used by one thread at a time.
  private static let _batch = 100
  /// Identifiers are below this number.
  static let identifiers = 4000
  private let _coordinator: NSPersistentStoreCoordinator
  private let _track: Track
  private let _instruments: Instruments
  private var _dice = SeededRandom(seed: 7)

  /// Fills the store with every second identifier.
  init(_ coordinator: NSPersistentStoreCoordinator, _ track: Track, _ instruments: Instruments) throws {
    (_coordinator, _track, _instruments) = (coordinator, track, instruments)
    let context = _context()
    try context.performAndWait {
      for identifier in stride(from: 0, to: Self.identifiers, by: 2) { _insert(identifier, into: context) }
      try context.save()
      track.commits.commit()
    }
  }

  private func _context() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = _coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    _instruments.contexts.add(context)
    return context
  }

  /// Imports a batch.
  ///
  /// - Throws: A Cocoa error.
  func importBatch() throws {
    let identifiers = Set((0..<Self._batch).map { _ in _dice.below(Self.identifiers) }).sorted()
    let context = _context()
    try context.performAndWait {
      let request = LoadItem.all()
      request.predicate = NSPredicate(format: "identifier IN %@", identifiers)
      let found = Dictionary(grouping: try context.fetch(request)) { Int($0.identifier) }
      for identifier in identifiers {
        if let items = found[identifier] {
          // Screens may add an identifier that is there.
          for item in items.dropFirst() { context.delete(item) }
          if _dice.chance(25) { context.delete(items[0]) } else { _mark(items[0]) }
        } else if _dice.chance(25) {
          _insert(identifier, into: context)
        }
      }
      try context.save()
      _instruments.tally.countSave()
      _track.commits.commit()
    }
  }

  private func _insert(_ identifier: Int, into context: NSManagedObjectContext) {
    let item = LoadItem(context: context)
    item.identifier = Int64(identifier)
    item.note = "An item that was imported."
    _mark(item)
  }

  private func _mark(_ item: LoadItem) {
    item.name = String(_dice.next(), radix: 36)
    item.saver = 0
    item.revision = Int64(_track.commits.last) + 1
  }
}
