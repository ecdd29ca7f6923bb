import CoreData
import CoreDataStackShootout
import Foundation

/// A list of about 2,000 rows on main, which merges, under a context on the coordinator that saves without
/// pause.
final class LiveListScenario: LoadScenario {
  let screen: any Screen
  let contexts = 1
  private let _saver: ItemSaver
  private let _tally: Tally

  /// - Parameter size: The objects in a save.
  init(_ store: LoadStore, size: Int, _ instruments: Instruments) throws {
    let coordinator = try store.coordinator(instruments)
    let track = Track(try CommitLog())
    instruments.ages.add(track)
    _tally = instruments.tally
    _saver = try ItemSaver(coordinator, number: 0, size: size, of: 2000, track, instruments)
    screen = try ListScreen(ListScreen.mergingContext(of: coordinator), instruments)
    track.show(track.commits.last)
  }

  func work(until deadline: UInt64) throws {
    try Workers.repeat(1, until: deadline) { [self] _ in
      try _saver.save()
      _tally.countOperation()
    }
  }

  func settle() throws {
    try _saver.level()
    try screen.settle()
  }
}
