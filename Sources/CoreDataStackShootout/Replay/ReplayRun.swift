import CoreData
import CoreDataModelSchema
import Foundation
import MainThreadWatch
import Synchronization

/// A recording on one stack: what main did on main, and the rest in the importing context, each step after those that had
/// ended before it when it was recorded.
struct ReplayRun: Sendable {
  let plan: ReplayPlan
  let layout: ModelLayout
  /// The keys of the store's objects, if they are not the recorded ones.
  let keys: CopiedKeys?
  let keepsPauses: Bool

  /// Replays everything. Not to be called on the main thread.
  ///
  /// - Returns: The times at which the importing context had saved, and how it went.
  func run(
    in stack: any ImportStack, progress: @escaping @Sendable (Int) -> Void
  ) throws -> (saves: [UInt64], figures: ReplayFigures) {
    guard let coordinator = stack.main.persistentStoreCoordinator else { return ([], ReplayFigures()) }
    let objects = ReplayObjects(coordinator, layout, keys)
    let clock = ReplayClock()
    let lanes = [
      (ReplayPlan.Lane.main, stack.main, plan.main), (.importing, stack.importing, plan.importing),
    ]
    let begin = MonotonicClock.now
    let results = lanes.map { lane, context, steps in
      let result = BackgroundResult<(saves: [UInt64], figures: ReplayFigures)>()
      let thread = Thread {
        result.set(
          Result { try _run(steps, lane, context, objects, stack, clock, begin: begin, progress) })
        clock.end(lane)
      }
      thread.name = "replay of \(lane)"
      thread.start()
      return result
    }
    clock.waitForEnd()
    let done = try results.map { try $0.get() }
    var figures = done[0].figures + done[1].figures
    figures.leftOut.merge(plan.leftOut, uniquingKeysWith: +)
    return ((done[0].saves + done[1].saves).sorted(), figures)
  }

  private func _run(
    _ steps: [ReplayPlan.Step], _ lane: ReplayPlan.Lane, _ context: NSManagedObjectContext,
    _ objects: ReplayObjects,
    _ stack: any ImportStack, _ clock: ReplayClock, begin: UInt64, _ progress: (Int) -> Void
  ) throws -> (saves: [UInt64], figures: ReplayFigures) {
    let replayed = LaneBox(ReplayLane(lane, context, objects, layout, wanted: plan.wanted))
    var saves: [UInt64] = []
    for step in steps {
      // What the other lane has saved is to be seen where it had been seen.
      if clock.wait(until: step.after, of: lane) { try stack.drain() }
      if keepsPauses {
        _wait(until: begin + UInt64(min(1e17, max(0, (step.event.begin - plan.begin) * 1e9))))
      }
      let isSaved = try context.performAndWait {
        guard try replayed.value.replay(step.event) else { return false }
        if lane == .main { try stack.saveMain() } else { try stack.save() }
        replayed.value.didSave()
        return true
      }
      if isSaved { saves.append(MonotonicClock.now) }
      progress(clock.didStep(lane, saved: isSaved))
    }
    return (saves, replayed.value.figures)
  }

  private func _wait(until time: UInt64) {
    let now = MonotonicClock.now
    if time > now { Thread.sleep(forTimeInterval: Double(time - now) / 1e9) }
  }

  /// A lane that the waiting thread hands to its context's queue.
  private struct LaneBox: @unchecked Sendable {
    // Unchecked: used by one of the two at a time.
    let value: ReplayLane
    init(_ value: ReplayLane) { self.value = value }
  }
}

/// How far the two lanes of a replay are.
final class ReplayClock: Sendable {
  private struct State {
    var steps = [0, 0]
    /// Whether a lane has saved since the other one has waited for it.
    var hasSaved = [false, false]
    var isEnded = [false, false]
  }

  private let _condition = NSCondition()
  private let _state = Mutex(State())

  /// Notes a step, and returns how many there were in all.
  func didStep(_ lane: ReplayPlan.Lane, saved: Bool) -> Int {
    _change { state in
      state.steps[lane.rawValue] += 1
      if saved { state.hasSaved[lane.rawValue] = true }
    }
    return _state.withLock { $0.steps[0] + $0.steps[1] }
  }

  /// Waits until the other lane has done so many steps, or has ended.
  ///
  /// - Returns: Whether it has saved since the last wait.
  func wait(until steps: Int, of lane: ReplayPlan.Lane) -> Bool {
    let other = 1 - lane.rawValue
    _condition.lock()
    defer { _condition.unlock() }
    while !_state.withLock({ $0.steps[other] >= steps || $0.isEnded[other] }) { _condition.wait() }
    return _state.withLock { state in
      defer { state.hasSaved[other] = false }
      return state.hasSaved[other]
    }
  }

  func end(_ lane: ReplayPlan.Lane) { _change { $0.isEnded[lane.rawValue] = true } }

  func waitForEnd() {
    _condition.lock()
    defer { _condition.unlock() }
    while !_state.withLock({ $0.isEnded == [true, true] }) { _condition.wait() }
  }

  private func _change(_ body: (inout sending State) -> Void) {
    _condition.lock()
    _state.withLock { body(&$0) }
    _condition.broadcast()
    _condition.unlock()
  }
}
