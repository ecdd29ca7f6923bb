import CoreData
import Foundation
import MainThreadWatch

/// An import through one stack: lines are placed in its importing context, which is saved at intervals.
struct ImportRun: Sendable {
  let work: any ImportWork
  /// The lines to import; nil for all.
  var lines: Range<Int>?
  let mode: ImportMode
  let saveEvery: Int

  /// Imports everything on the importing context's queue.
  ///
  /// - Returns: the times at which the importing context had saved.
  func run(in stack: any ImportStack, progress: @escaping @Sendable (Int) -> Void) throws -> [UInt64] {
    let outcome = BackgroundResult<[UInt64]>()
    let isDone = DispatchSemaphore(value: 0)
    stack.importing.perform {
      outcome.set(Result { try _import(into: stack, progress) })
      isDone.signal()
    }
    isDone.wait()
    return try outcome.get()
  }

  private func _import(into stack: any ImportStack, _ progress: (Int) -> Void) throws -> [UInt64] {
    var saves: [UInt64] = []
    let lines = lines ?? 0..<work.count
    var start = lines.lowerBound
    while start < lines.upperBound {
      let end = saveEvery < lines.upperBound - start ? start + saveEvery : lines.upperBound
      try work.place(start..<end, mode: mode, in: stack.importing)
      try stack.save()
      saves.append(MonotonicClock.now)
      progress(end)
      start = end
    }
    return saves
  }
}
