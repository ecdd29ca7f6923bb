import CoreData
import Foundation

extension TestStore {
  /// Expects what the saves of a context write during a block: how many objects of each entity.
  ///
  /// ```swift
  /// try store.expectSave(of: context, inserted: ["Book": 1], updated: ["Author": 1]) {
  ///   try library.add("Orlando", by: woolf)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - context: The context that saves.
  ///   - inserted: Inserted objects by the names of their entities; entities that are not named have none.
  ///   - updated: Updated objects.
  ///   - deleted: Deleted objects.
  public func expectSave<Result>(
    of context: NSManagedObjectContext, inserted: [String: Int] = [:], updated: [String: Int] = [:],
    deleted: [String: Int] = [:], fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, _ body: () throws -> Result
  ) rethrows -> Result {
    let log = SaveLog(of: context)
    defer { log.stop() }
    let result = try body()
    _check(
      log, ["inserted": inserted, "updated": updated, "deleted": deleted],
      TestPlace(fileID, filePath, line, column))
    return result
  }

  /// Expects the same of a block that waits.
  public func expectSave<Result>(
    of context: NSManagedObjectContext, inserted: [String: Int] = [:], updated: [String: Int] = [:],
    deleted: [String: Int] = [:], fileID: StaticString = #fileID, filePath: StaticString = #filePath,
    line: UInt = #line, column: UInt = #column, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let log = SaveLog(of: context)
    defer { log.stop() }
    let result = try await body()
    _check(
      log, ["inserted": inserted, "updated": updated, "deleted": deleted],
      TestPlace(fileID, filePath, line, column))
    return result
  }

  private func _check(_ log: SaveLog, _ wanted: [String: [String: Int]], _ place: TestPlace) {
    let (saves, saved) = log.saved
    let misses = ["inserted", "updated", "deleted"].compactMap { verb -> String? in
      let (expected, found) = ((wanted[verb] ?? [:]).filter { $0.value != 0 }, saved[verb] ?? [:])
      return expected == found ? nil : "\(verb) \(Self._words(found)), not \(Self._words(expected))"
    }
    if saves == 0, !wanted.values.allSatisfy(\.isEmpty) {
      return report.record("The context did not save.", at: place)
    }
    guard !misses.isEmpty else { return }
    report.record("The save \(misses.joined(separator: "; ")).", at: place)
  }

  private static func _words(_ counts: [String: Int]) -> String {
    counts.isEmpty
      ? "nothing" : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}

/// Counts what a context saves.
private final class SaveLog: Sendable {
  private let _state = Guarded((saves: 0, saved: [String: [String: Int]]()))
  private let _observation: NotificationObservation

  init(of context: NSManagedObjectContext) {
    let state = _state
    _observation = NotificationObservation(of: .NSManagedObjectContextDidSave, from: context) {
      notification in
      let keys = [
        NSInsertedObjectsKey: "inserted", NSUpdatedObjectsKey: "updated", NSDeletedObjectsKey: "deleted",
      ]
      // Counted here, on the context's queue.
      let names = keys.map { key, verb in
        (verb, (notification.userInfo?[key] as? Set<NSManagedObject> ?? []).map { $0.entity.name ?? "?" })
      }
      state.withLock { state in
        state.saves += 1
        for (verb, names) in names {
          for name in names { state.saved[verb, default: [:]][name, default: 0] += 1 }
        }
      }
    }
  }

  var saved: (saves: Int, saved: [String: [String: Int]]) { _state.withLock { $0 } }

  func stop() { _observation.end() }
}
