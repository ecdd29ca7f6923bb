import Foundation
import Synchronization
import TestSupport

@testable import CoreData

/// Runs blocks on separate threads, one at a time: the running thread holds a baton, and at the engine's
/// interleaving points it may pass the baton to another. A seed decides when and to which.
///
/// The same seed and the same blocks give the same interleaving, provided that the blocks depend only on
/// their input.
final class BatonSchedule: InterleavingSchedule {
  /// A block and its thread.
  private final class Runner: @unchecked Sendable {
    // Unchecked: `awaited` and `isDone` are accessed only under the schedule's lock.
    let number: Int
    let turn = DispatchSemaphore(value: 0)
    let block: () -> Void
    var awaited: ObjectIdentifier?
    var isDone = false

    init(number: Int, block: @escaping () -> Void) {
      self.number = number
      self.block = block
    }
  }

  private struct State {
    var random: SeededRandom
    var runners: [Runner] = []
    /// Number of the runner that holds the baton; nil before the start and after the end.
    var holder: Int?
    /// For each resource, its holder first, then the waiting runners.
    var lines: [ObjectIdentifier: [Int]] = [:]
    var trace: [String] = []
    var deadlock: String?
  }

  private let _state: Mutex<State>
  private let _end = DispatchSemaphore(value: 0)
  /// Percentage of points at which the baton may be passed on.
  private let _chance: Int

  init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    _chance = random.pick([5, 25, 60, 100])!
    _state = Mutex(State(random: random))
  }

  /// The sequence of runners and points.
  var trace: [String] { _state.withLock { $0.trace } }

  /// What each runner waited for when none could continue; nil if all finished.
  var deadlock: String? { _state.withLock { $0.deadlock } }

  /// Runs the blocks, and those that they enqueue, until all have returned or none can continue.
  func run(_ blocks: [@Sendable () -> Void]) {
    for block in blocks { _add(block, inLineFor: nil) }
    _pass(at: "start")
    _end.wait()
  }

  // MARK: Points

  func reach(_ point: InterleavingPoint) {
    let stays = _state.withLock { !$0.random.chance(_chance) }
    if !stays { _pass(at: point.rawValue) }
  }

  func acquire(_ resource: ObjectIdentifier) {
    let mustWait = _state.withLock { state in
      let number = state.holder!
      state.lines[resource, default: []].append(number)
      guard state.lines[resource]!.first != number else { return false }
      state.runners[number].awaited = resource
      return true
    }
    if mustWait { _pass(at: "wait") } else { reach(.queue) }
  }

  func release(_ resource: ObjectIdentifier) {
    _state.withLock { state in
      state.lines[resource]!.removeFirst()
      if let next = state.lines[resource]!.first { state.runners[next].awaited = nil }
    }
  }

  func enqueue(on resource: ObjectIdentifier, _ block: @escaping @Sendable () -> Void) {
    _add(
      {
        block()
        self.release(resource)
      }, inLineFor: resource)
  }

  // MARK: Baton

  private func _add(_ block: @escaping () -> Void, inLineFor resource: ObjectIdentifier?) {
    let runner = _state.withLock { state in
      nonisolated(unsafe) let block = block
      let runner = Runner(number: state.runners.count, block: block)
      state.runners.append(runner)
      if let resource {
        state.lines[resource, default: []].append(runner.number)
        if state.lines[resource]!.first != runner.number { runner.awaited = resource }
      }
      return runner
    }
    let thread = Thread {
      runner.turn.wait()
      Interleaving.run(under: self) { runner.block() }
      self._state.withLock { _ in runner.isDone = true }
      self._pass(at: "end")
    }
    thread.stackSize = 4 << 20
    thread.start()
  }

  /// Passes the baton to a runner that can continue, and waits until it returns unless the caller has
  /// finished.
  private func _pass(at point: String) {
    let (from, to, isOver) = _state.withLock { state -> (Runner?, Runner?, Bool) in
      let from = state.holder.map { state.runners[$0] }
      let ready = state.runners.filter { !$0.isDone && $0.awaited == nil }
      guard let to = state.random.pick(ready) else {
        let waiting = state.runners.filter { !$0.isDone }
        if !waiting.isEmpty {
          state.deadlock =
            "no thread can go on: " + waiting.map { "\($0.number) waits" }.joined(separator: ", ")
        }
        state.holder = nil
        return (from, nil, true)
      }
      state.holder = to.number
      if to !== from { state.trace.append("\(from?.number ?? -1) \(point) \(to.number)") }
      return (from, to, false)
    }
    if isOver { _end.signal() }
    if to === from, to != nil { return }
    to?.turn.signal()
    if let from, !_state.withLock({ _ in from.isDone }) { from.turn.wait() }
  }
}
