import CoreData
import CoreDataStackShootout
import CoreDataToolKit
import Foundation
import MainThreadWatch
import Synchronization

/// Three editing screens at once, each with a child of main: they open, edit, and save, after which main
/// saves, or are dropped. Meanwhile an import runs on the coordinator.
final class ScreensScenario: LoadScenario {
  private static let _screens = 3
  let contexts = _screens + 1
  private let _list: ListScreen
  private let _importer: ItemImporter
  private let _instruments: Instruments
  private let _opened = Atomic<UInt64>(0)

  var screen: any Screen { _list }

  init(_ store: LoadStore, _ instruments: Instruments) throws {
    let coordinator = try store.coordinator(instruments)
    let track = Track(try CommitLog())
    instruments.ages.add(track)
    _instruments = instruments
    _importer = try ItemImporter(coordinator, track, instruments)
    let main = ListScreen.mergingContext(of: coordinator)
    main.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    _list = try ListScreen(main, instruments)
    track.show(track.commits.last)
  }

  func work(until deadline: UInt64) throws {
    let importing: @Sendable () throws -> Void = { [self] in
      while MonotonicClock.now < deadline { try _importer.importBatch() }
    }
    let editing: @Sendable () throws -> Void = { [self] in
      while MonotonicClock.now < deadline {
        try _edit()
        _instruments.tally.countOperation()
      }
    }
    try Workers.run([importing] + Array(repeating: editing, count: Self._screens))
  }

  /// Opens a screen, edits, and saves or drops it.
  private func _edit() throws {
    var dice = SeededRandom(seed: _opened.add(1, ordering: .relaxed).newValue)
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = _list.main
    child.automaticallyMergesChangesFromParent = dice.chance(50)
    _instruments.contexts.add(child)
    for _ in 0...dice.below(3) {
      let (id, name, kind, identifier) = (
        _list.row(dice.next()), String(dice.next(), radix: 36), dice.below(100),
        dice.below(ItemImporter.identifiers)
      )
      try child.performAndWait { try Self._edit(id, name, kind, identifier, in: child) }
      // What a user takes, though a fast one.
      usleep(UInt32(1000 + dice.below(4000)))
    }
    guard dice.chance(60) else { return }
    try child.performAndWait { try child.save() }
    let main = _list.main
    try main.performAndWait { if main.hasChanges { try main.save() } }
    _instruments.tally.countSave()
  }

  private static func _edit(
    _ id: NSManagedObjectID?, _ name: String, _ kind: Int, _ identifier: Int, in child: NSManagedObjectContext
  ) throws {
    if kind < 15 {
      let item = LoadItem(context: child)
      item.identifier = Int64(identifier)
      item.name = name
      return
    }
    guard let id else { return }
    let item: LoadItem?
    do {
      item = try child.existingObject(with: id) as? LoadItem
    } catch let error as CocoaError where error.code.rawValue == NSManagedObjectReferentialIntegrityError {
      // Deleted since it was shown.
      return
    }
    guard let item, !item.isDeleted else { return }
    if kind < 30 { child.delete(item) } else { item.name = name }
  }
}
