import CoreData
import CoreDataModelSchema
import Foundation
import MainThreadWatch

/// Opens the screens of a shootout in main's context of a stack, which has been built anew on a store that is full.
struct ScreenRun {
  let screens: [Screen]
  let work: any ImportWork
  let layout: ModelLayout

  init(_ screens: [Screen], _ work: any ImportWork) throws {
    (self.screens, self.work) = (screens, work)
    layout = try ModelLayout(ModelSchema(try work.makeModel()))
  }

  /// Opens each screen twice: in a stack that has just been opened, and again. Not to be called on the main thread.
  func figures(_ design: StackDesign, on store: ImportStore) throws -> [ScreenFigures] {
    try screens.map { screen in
      let counter = StatementCounter()
      let stack = try design.makeStack(on: store, for: work, counter: counter)
      let query = try ScreenQuery(screen, layout)
      let context = stack.main
      let first = try visit(query, context, counter)
      context.performAndWait { context.reset() }
      var figures = first
      figures.againMilliseconds = try visit(query, context, counter).firstMilliseconds
      try stack.close()
      return figures
    }
  }

  /// Opens a screen in a context, whose store counts its statements.
  func visit(
    _ query: ScreenQuery, _ context: NSManagedObjectContext, _ counter: StatementCounter
  ) throws -> ScreenFigures {
    let visit = UncheckedVisit(ScreenVisit(query, context))
    try context.performAndWait { try visit.value.prepare() }
    let faults = context.persistentStoreCoordinator?.faultReads.load(ordering: .relaxed) ?? 0
    let statements = counter.count
    var times: [Double] = []
    for block in 0..<visit.value.blockCount {
      times.append(
        try context.performAndWait {
          let begin = MonotonicClock.now
          try visit.value.run(block)
          return Double(MonotonicClock.now - begin) / 1e6
        })
    }
    let ran = counter.count - statements
    let faulted = (context.persistentStoreCoordinator?.faultReads.load(ordering: .relaxed) ?? 0) - faults
    let order = context.performAndWait { visit.value.order() }
    return ScreenFigures(
      name: query.screen.name,
      firstMilliseconds: query.screen.kind == .detail ? Statistics.median(times) : times.first ?? 0,
      againMilliseconds: 0, busyMilliseconds: [], longestMilliseconds: times.max() ?? 0,
      totalMilliseconds: times.reduce(0, +), statements: ran, faults: faulted, found: visit.value.found,
      order: order)
  }

  /// Imports one half, and then the other while the screens are opened one after the other.
  ///
  /// - Parameter store: An empty one.
  /// - Returns: For each screen the times from asking main to the first rows, in milliseconds.
  func besideImport(
    _ design: StackDesign, on store: ImportStore, _ mode: ImportMode, saveEvery: Int
  ) throws -> [[Double]] {
    let stack = try design.makeStack(on: store, for: work)
    let half = work.count / 2
    _ = try ImportRun(work: work, lines: 0..<half, mode: mode, saveEvery: saveEvery).run(in: stack) { _ in }
    try stack.drain()
    let importer = ImportRun(work: work, lines: half..<work.count, mode: mode, saveEvery: saveEvery)
    let context = stack.main
    let visits = try screens.map { UncheckedVisit(ScreenVisit(try ScreenQuery($0, layout), context)) }
    for visit in visits { try context.performAndWait { try visit.value.prepare() } }
    let imported = BackgroundResult<Void>()
    let thread = Thread {
      imported.set(
        Result {
          _ = try importer.run(in: stack) { _ in }
          try stack.drain()
        })
    }
    thread.name = "import"
    thread.start()
    // Until the import is under way.
    usleep(2000)
    var waits = [[Double]](repeating: [], count: visits.count)
    var turn = 0
    // Each at least once, however short the import is.
    while !imported.isSet || turn < visits.count {
      let visit = visits[turn % visits.count]
      let round = turn / visits.count
      let asked = MonotonicClock.now
      let shown = try context.performAndWait {
        try visit.value.open(round)
        return MonotonicClock.now
      }
      waits[turn % visits.count].append(Double(shown - asked) / 1e6)
      turn += 1
      // Main has time for what the import leaves to it.
      usleep(8000)
    }
    try imported.get()
    try stack.close()
    return waits
  }
}

/// A visit that is handed between the measuring thread, which waits, and the context's queue.
private struct UncheckedVisit: @unchecked Sendable {
  // Unchecked: used by one of the two at a time.
  let value: ScreenVisit
  init(_ value: ScreenVisit) { self.value = value }
}
