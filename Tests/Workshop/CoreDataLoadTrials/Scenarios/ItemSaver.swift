import CoreData
import CoreDataToolKit
import Foundation

/// Saves a number of its items at once, again and again: 60 % are changed, with the name that lists sort by,
/// 20 % inserted and 20 % deleted. There are as many items in the end as in the beginning, more or less. One
/// more, the beacon, is changed by each save if it was asked for.
final class ItemSaver: @unchecked Sendable {
  // Unchecked: used by one thread at a time.
  private let _context: NSManagedObjectContext
  private let _number: Int
  private let _size: Int
  private let _track: Track
  private let _tally: Tally
  private var _items: [LoadItem] = []
  private var _dice: SeededRandom
  private let _count: Int
  private var _beacon: LoadItem?

  /// Fills the store, if it has none of the saver's items.
  ///
  /// - Parameters:
  ///   - number: The number of the saver's track.
  ///   - size: The items of one save.
  ///   - count: The items that there are.
  init(
    _ coordinator: NSPersistentStoreCoordinator, number: Int, size: Int, of count: Int, _ track: Track,
    _ instruments: Instruments
  ) throws {
    _context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    _context.persistentStoreCoordinator = coordinator
    _context.transactionAuthor = "saver \(number)"
    (_number, _size, _track, _count) = (number, size, track, count)
    _tally = instruments.tally
    // Other numbers in each process that goes on with the same items.
    _dice = SeededRandom(seed: UInt64(number) << 32 + track.commits.last)
    instruments.contexts.add(_context)
    try _context.performAndWait {
      let request = LoadItem.all()
      request.predicate = NSPredicate(format: "saver == %d", number)
      _items = try _context.fetch(request)
      _beacon = _items.firstIndex { $0.identifier == Self._beaconIdentifier }.map { _items.remove(at: $0) }
      if !_items.isEmpty { return }
      for _ in 0..<count { _insert() }
      try _context.save()
      track.commits.commit()
    }
  }

  private static let _beaconIdentifier: Int64 = 0

  /// The ID of the beacon, which is made if there is none.
  func beacon() throws -> NSManagedObjectID {
    try _context.performAndWait {
      let beacon = _beacon ?? LoadItem(context: _context)
      beacon.identifier = Self._beaconIdentifier
      _beacon = beacon
      _mark(beacon)
      try _context.save()
      _track.commits.commit()
      return beacon.objectID
    }
  }

  /// Saves once.
  ///
  /// - Throws: A Cocoa error.
  func save() throws {
    try _context.performAndWait {
      var hasMark = false
      for _ in 0..<_size {
        switch _dice.below(5) {
        case 0 where _items.count < _count + _count / 10:
          _insert()
          hasMark = true
        case 1 where _items.count > _count - _count / 10:
          let place = _dice.below(_items.count)
          _context.delete(_items[place])
          _items.swapAt(place, _items.count - 1)
          _items.removeLast()
        default:
          _mark(_items[_dice.below(_items.count)])
          hasMark = true
        }
      }
      if let _beacon {
        _mark(_beacon)
        hasMark = true
      }
      try _context.save()
      _tally.countSave()
      // A save that only deletes shows itself in no item.
      if hasMark { _track.commits.commit() }
    }
  }

  /// Brings the number of items to what it was in the beginning, so that what is held can be compared.
  ///
  /// - Throws: A Cocoa error.
  func level() throws {
    try _context.performAndWait {
      var hasMark = _items.count < _count
      while _items.count < _count { _insert() }
      while _items.count > _count { _context.delete(_items.removeLast()) }
      guard _context.hasChanges else { return }
      // Who reads the beacon expects the last save that is logged.
      if let _beacon {
        _mark(_beacon)
        hasMark = true
      }
      try _context.save()
      if hasMark { _track.commits.commit() }
    }
  }

  private func _insert() {
    let item = LoadItem(context: _context)
    item.identifier = Int64(truncatingIfNeeded: _dice.next() >> 1)
    item.note = "An item that saver \(_number) has made."
    _mark(item)
    _items.append(item)
  }

  private func _mark(_ item: LoadItem) {
    item.name = String(_dice.next(), radix: 36)
    item.saver = Int64(_number)
    item.revision = Int64(_track.commits.last) + 1
  }
}
