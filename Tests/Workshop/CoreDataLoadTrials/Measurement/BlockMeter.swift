import CoreData
import Foundation
import Synchronization

/// Measures the engine's blocks on the main queue, in processor time and by the clock.
///
/// Counted are blocks that changed objects, and any that take a millisecond: a thousand that find nothing to
/// do must not hide one that is long. Blocks with more objects than a turn of merging has are counted for
/// themselves, an object at a time.
final class BlockMeter: @unchecked Sendable {
  // Unchecked: `_observation` is used by the thread that resumes.

  /// Most objects in a turn of merging.
  static let mostObjects = 2000
  private static let _noticed: UInt64 = 1_000_000

  private struct State {
    var isRunning = false
    /// Objects that the block in progress has changed.
    var objects = 0
    var processor = Histogram()
    var wall = Histogram()
    var perObject = Histogram()
    var mostObjects = 0
  }

  private let _state = Mutex(State())
  private var _observation: NotificationObservation?

  deinit { MainQueueTrace.record(with: nil) }

  /// Begins to measure, or goes on, with the objects that change in contexts of the main queue.
  func resume() {
    _state.withLock { state in
      state.isRunning = true
      state.objects = 0
    }
    if _observation != nil { return }
    _observation = NotificationObservation(of: .NSManagedObjectContextObjectsDidChange) {
      [weak self] notification in
      let context = notification.object as? NSManagedObjectContext
      guard context?.concurrencyType == .mainQueueConcurrencyType else { return }
      let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey]
      let count = keys.reduce(0) { $0 + ((notification.userInfo?[$1] as? Set<NSManagedObject>)?.count ?? 0) }
      self?._state.withLock { $0.objects += count }
    }
    MainQueueTrace.record(readsProcessorTime: true) { [weak self] in self?._record($0) }
  }

  /// Ignores the blocks from now on, with which the trial itself looks at what main has.
  func pause() { _state.withLock { $0.isRunning = false } }

  private func _record(_ block: MainQueueTrace.Block) {
    _state.withLock { state in
      guard state.isRunning else { return }
      let objects = state.objects
      state.objects = 0
      if objects == 0, block.processor < Self._noticed { return }
      state.mostObjects = max(state.mostObjects, objects)
      guard objects <= Self.mostObjects else {
        state.perObject.add(block.processor / UInt64(objects))
        return
      }
      state.processor.add(block.processor)
      state.wall.add(block.end - block.begin)
    }
  }

  /// What was measured.
  var figures: BlockFigures {
    _state.withLock { state in
      BlockFigures(
        processor: Quantiles(state.processor), wall: Quantiles(state.wall),
        perObject: Quantiles(state.perObject),
        mostObjects: state.mostObjects)
    }
  }
}

/// The engine's blocks on the main queue.
package struct BlockFigures: Codable, Sendable, Equatable {
  /// Processor time of a block with as many objects as a turn has, or fewer.
  package var processor = Quantiles()
  /// The same blocks by the clock.
  package var wall = Quantiles()
  /// Processor time for each object of blocks with more.
  package var perObject = Quantiles()
  /// The most objects that changed in one block.
  package var mostObjects = 0
}
