import CoreData
import CoreDataModelSchema
import Foundation
import MainThreadWatch

/// A recording on one stack: what main did on main, and the rest in importing contexts, one for each of the recording, each step
/// after those that had ended before it when it was recorded.
struct ReplayRun: Sendable {
  let plan: ReplayPlan
  let layout: ModelLayout
  /// The keys of the store's objects, if they are not the recorded ones.
  let keys: CopiedKeys?
  let keepsPauses: Bool

  /// Replays everything. Not to be called on the main thread.
  ///
  /// - Returns: The times at which contexts had saved, and how it went.
  func run(
    in stack: any ImportStack, progress: @escaping @Sendable (Int) -> Void
  ) throws -> (saves: [UInt64], figures: ReplayFigures) {
    guard let coordinator = stack.main.persistentStoreCoordinator else { return ([], ReplayFigures()) }
    let objects = ReplayObjects(coordinator, layout, keys)
    let schedule = ReplaySchedule(steps: plan.count)
    var lanes: [Int: OpenLane] = [:]
    let begin = MonotonicClock.now
    for step in plan.steps {
      switch schedule.wait(for: step) {
      case .goOn: break
      // What others have saved is to be seen where it had been seen.
      case .drain: try stack.drain()
      case .end: return try schedule.result()
      }
      if keepsPauses {
        _wait(until: begin + UInt64(min(1e17, max(0, (step.event.begin - plan.begin) * 1e9))))
      }
      let lane = lanes[step.lane] ?? _open(plan.lanes[step.lane], stack, objects)
      // The last step lets go of the context.
      lanes[step.lane] = step.isLastOfLane ? nil : lane
      lane.context.perform {
        let saved = Result { try lane.replay(step.event) }
        if step.isLastOfLane { schedule.add(lane.figures) }
        progress(schedule.didEnd(step, saved))
      }
    }
    schedule.add(ReplayFigures(leftOut: plan.leftOut))
    return try schedule.result()
  }

  private func _open(
    _ lane: ReplayPlan.Lane, _ stack: any ImportStack, _ objects: ReplayObjects
  ) -> OpenLane {
    let beside = lane.isMain ? stack : stack.beside()
    let context = lane.isMain ? stack.main : beside.importing
    // In the design without an importing context all lanes are main's.
    let onMain = stack.importing === stack.main ? plan.lanes.count : plan.lanes.count(where: \.isMain)
    let isShared = context === stack.main && onMain > 1
    return OpenLane(
      ReplayLane(context, isShared: isShared, objects, layout, wanted: plan.wanted), context, beside,
      isMain: lane.isMain)
  }

  private func _wait(until time: UInt64) {
    let now = MonotonicClock.now
    if time > now { Thread.sleep(forTimeInterval: Double(time - now) / 1e9) }
  }
}

/// A lane with its context.
private final class OpenLane: @unchecked Sendable {
  // Unchecked: what the lane has is used on its context's queue only.
  let context: NSManagedObjectContext
  private let _stack: any ImportStack
  private let _lane: ReplayLane
  private let _isMain: Bool

  init(_ lane: ReplayLane, _ context: NSManagedObjectContext, _ stack: any ImportStack, isMain: Bool) {
    (_lane, self.context, _stack, _isMain) = (lane, context, stack, isMain)
  }

  var figures: ReplayFigures { _lane.figures }

  /// Returns whether the context has been saved.
  func replay(_ event: Trace.Event) throws -> Bool {
    guard try _lane.replay(event) else { return false }
    if _isMain { try _stack.saveMain() } else { try _stack.save() }
    _lane.didSave()
    return true
  }
}
