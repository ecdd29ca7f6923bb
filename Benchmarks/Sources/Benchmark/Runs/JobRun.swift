import CoreData
import Foundation
import Synchronization

/// The child's side: does a job in this process.
struct JobRun: Sendable {
  let job: Job
  private let _main = MainThreadWatch()

  init(_ job: Job) { self.job = job }

  /// Does the job while the main thread, on which it is called, serves the main queue.
  func run() -> JobOutcome<Measurement> {
    if job.work.isConcurrent { Scheduling.becomeOrdinary() }
    let outcome = Outcome()
    let thread = Thread { [self] in
      do {
        outcome.set(.finished(try _measure()))
      } catch {
        outcome.set(.failed("\(error)"))
      }
      _main.finish()
    }
    thread.stackSize = 8 << 20
    thread.start()
    _main.run()
    return outcome.get()
  }

  private final class Outcome: Sendable {
    private let _value = Mutex(JobOutcome<Measurement>.failed("the work ended without a result"))
    func set(_ outcome: JobOutcome<Measurement>) { _value.withLock { $0 = outcome } }
    func get() -> JobOutcome<Measurement> { _value.withLock { $0 } }
  }

  private func _measure() throws -> Measurement {
    #if POSTGRESQL
    if let server = job.server { return try PostgreSQLRun(job: job, server: server).measure() }
    #endif
    var measurement = Measurement()
    // With no repetition everything happens but the work.
    let rounds = max(1, job.warmUps + job.repetitions)
    for round in 0..<rounds {
      let path = try _storePath(round)
      let watch = Stopwatch()
      var figures: [String: Double] = [:]
      let check =
        switch job.side {
        case .engine: try _engine(path, watch, &figures)
        case .floor: try _floor(path, watch, &figures)
        }
      if round >= job.warmUps, job.repetitions > 0 {
        measurement.seconds.append(watch.seconds)
        measurement.figures = figures
        measurement.check = check
      }
      if job.work.leavesImport, job.repetitions > 0, round == rounds - 1 {
        let database = try Database(path: path)
        let query = job.side == .engine ? EngineStore.digestQuery : FloorStore.digestQuery
        let found = try database.digest(query)
        measurement.check = Check(rows: found.rows, digest: found.digest)
        if job.work.isBatchInsertion {
          measurement.check.sum = try database.number(
            job.side == .engine ? EngineStore.historyQuery : FloorBatchInsert.historyQuery)
        }
      }
      if job.work != .template, path != job.template { try? FileManager.default.removeItem(atPath: path) }
    }
    measurement.peakMegabytes = ProcessMemory.peakMegabytes
    return measurement
  }

  /// The store to work on: a new one, a copy of the template, or the template in place.
  private func _storePath(_ round: Int) throws -> String {
    if job.work == .template { return job.template! }
    if job.work.needsTemplate, !job.work.changesStore { return job.template! }
    let path = "\(job.directory)/\(job.side)-\(job.work.rawValue)-\(round).sqlite"
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    if job.work.needsTemplate { try FileManager.default.copyItem(atPath: job.template!, toPath: path) }
    return path
  }

  // MARK: The engine

  private func _engine(_ path: String, _ watch: Stopwatch, _ figures: inout [String: Double]) throws -> Check
  {
    let isBatch = job.work.isBatchInsertion
    let store =
      try job.work.needsTemplate || isBatch
      ? EngineStore(path: path, keepsHistory: isBatch) : EngineStore.create(path: path)
    defer { try? store.close() }
    guard job.repetitions > 0 else { return try _prepareOnly(store) }
    let reading = EngineReading(store: store)
    let claims = EngineClaims(store: store, objects: job.objects)
    switch job.work {
    case .importBulk: try EngineImport(store: store, count: job.objects, batch: 1000, finds: true).run(watch)
    case .importInsert, .template:
      try EngineImport(store: store, count: job.objects, batch: 1000, finds: false).run(watch)
    case .reimport:
      try EngineImport(store: store, count: job.objects, batch: 1000, finds: true, shift: 0.001).run(watch)
    case .findOrCreate:
      let stack = EngineStack(.shared, store.coordinator)
      try EngineFindOrCreate(stack: stack, count: job.objects, saveEvery: 250).run(watch)
      stack.end()
    case .insertEach: try EngineInsertEach(store: store, count: job.inserted).run(watch)
    case .fetchAll: return try reading.all(watch)
    case .fetchPage: return try reading.pages(watch)
    case .count: return try reading.counts(watch)
    case .byID: return try reading.byID(job.lookUps, watch)
    case .traverse: return try reading.traverse(watch)
    case .traverseNSSet: return try reading.traverseFoundationSets(watch)
    case .update, .updateEach, .delete:
      let changing = EngineChanging(store: store)
      let rows =
        switch job.work {
        case .update: try changing.update(job.updated, watch)
        case .updateEach: try changing.updateEach(job.updated, watch)
        default: try changing.delete(job.deleted, watch)
        }
      return Check(rows: rows, sum: try Database(path: path).number(EngineStore.sumQuery))
    case .concurrent:
      let readings = ReaderBeside {
        var check = Check()
        var questions = PageQuestions()
        return { try reading.page(questions.nextForever(), &check) }
      }
      try EngineImport(
        store: store, count: job.objects, batch: 100, finds: true, seed: 43, timesGenerator: true
      ).run(watch)
      figures = try readings.finish()
    case .oneReader, .twoReaders, .fourReaders:
      let found = try Readers(count: job.work.readers ?? 1).run(watch) {
        { question, check in try reading.page(question, &check) }
      } writing: { isOver in
        try _reimporting(isOver) { shift in
          try EngineImport(
            store: store, count: job.objects, batch: 100, finds: true, shift: shift, timesGenerator: true,
            isOver: isOver
          ).run(Stopwatch())
        }
      }
      figures = found.figures
      return found.check
    case .batchInsert, .batchInsertDictionary, .batchInsertObject:
      guard let source = EngineBatchInsert.Source(job.work) else { break }
      let insertion = EngineBatchInsert(store: store, count: job.objects, source: source)
      try insertion.run(watch)
      if !job.isCounted, let seconds = try insertion.handlerSeconds() {
        figures = ["handler_ms": seconds * 1000]
      }
    case .shared: figures = try claims.importing(.shared, _main)
    case .nested3: figures = try claims.importing(.nested3, _main)
    case .nestedSave: figures = try claims.savingAtOnce(_main)
    case .merge: figures = try claims.merging()
    case .faults: figures = try claims.firing()
    case .memory: figures = try claims.memory()
    case .list: figures = try claims.listing()
    }
    return Check()
  }

  /// Imports the stored stops again and again, one value of each changed, until it is over; answers how many.
  private func _reimporting(_ isOver: @escaping () -> Bool, _ run: (_ shift: Double) throws -> Int) rethrows
    -> Int
  {
    var written = 0
    var shift = 0.0
    while !isOver() {
      shift += 0.001
      written += try run(shift)
    }
    return written
  }

  private func _prepareOnly(_ store: EngineStore) throws -> Check {
    if job.work == .byID { _ = try store.ids(job.lookUps) }
    if job.work == .update || job.work == .updateEach { _ = try store.ids(job.updated) }
    if job.work == .delete { _ = try store.ids(job.deleted) }
    if let source = EngineBatchInsert.Source(job.work) {
      try EngineBatchInsert(store: store, count: job.objects, source: source).prepare()
      return Check()
    }
    if !job.work.needsTemplate || job.work == .reimport {
      var generator = StopGenerator(seed: 42)
      for _ in 0..<job.objects / 1000 { _ = generator.records(1000) }
    }
    return Check()
  }

  // MARK: The floor

  private func _floor(_ path: String, _ watch: Stopwatch, _ figures: inout [String: Double]) throws -> Check {
    let database =
      try job.work.needsTemplate ? Database(path: path) : FloorStore.create(path: path, as: job.floorFile)
    if job.work.isBatchInsertion { try FloorBatchInsert.createHistory(in: database, as: job.floorFile) }
    guard job.repetitions > 0 else {
      if [.byID, .update, .updateEach, .delete].contains(job.work) { _ = job.lookUps.count }
      if !job.work.needsTemplate || job.work == .reimport {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: StopGenerator.stride) { bytes in
          var generator = StopGenerator(seed: 42)
          for _ in 0..<job.objects { _ = generator.next(into: bytes.baseAddress!) }
        }
      }
      return Check()
    }
    let reading = FloorReading(database: database)
    func importing(_ batch: Int, finds: Bool, shift: Double = 0) throws {
      let count = job.work == .insertEach ? job.inserted : job.objects
      try FloorImport(database: database, count: count, batch: batch, finds: finds, shift: shift).run(
        watch)
    }
    switch job.work {
    case .importBulk: try importing(1000, finds: true)
    case .importInsert, .template: try importing(1000, finds: false)
    case .reimport: try importing(1000, finds: true, shift: 0.001)
    case .findOrCreate: try importing(250, finds: true)
    case .insertEach: try importing(1, finds: false)
    case .fetchAll: return try reading.all(watch)
    case .fetchPage: return try reading.pages(watch)
    case .count: return try reading.counts(watch)
    case .byID: return try reading.byID(job.lookUps, watch)
    case .traverse, .traverseNSSet: return try reading.traverse(watch)
    case .update: return try FloorChanging(database: database).update(job.updated, watch)
    case .updateEach: return try FloorChanging(database: database).update(job.updated, inOne: false, watch)
    case .delete: return try FloorChanging(database: database).delete(job.deleted, watch)
    case .concurrent:
      let readings = ReaderBeside {
        let page = try FloorReading.Page(Database(path: path))
        var stops = FloorStops()
        var check = Check()
        var questions = PageQuestions()
        return { page.ask(questions.nextForever(), &stops, &check) }
      }
      try FloorImport(
        database: database, count: job.objects, batch: 100, finds: true, seed: 43, timesGenerator: true
      ).run(watch)
      figures = try readings.finish()
    case .oneReader, .twoReaders, .fourReaders:
      let found = try Readers(count: job.work.readers ?? 1).run(watch) {
        let page = try FloorReading.Page(Database(path: path))
        var stops = FloorStops()
        return { question, check in page.ask(question, &stops, &check) }
      } writing: { isOver in
        let database = try Database(path: path)
        return try _reimporting(isOver) { shift in
          try FloorImport(
            database: database, count: job.objects, batch: 100, finds: true, shift: shift,
            timesGenerator: true, isOver: isOver
          ).run(Stopwatch())
        }
      }
      figures = found.figures
      return found.check
    case .batchInsert, .batchInsertDictionary, .batchInsertObject:
      try FloorBatchInsert(database: database, count: job.objects).run(watch)
    case .shared, .nested3, .nestedSave, .merge, .faults, .memory, .list:
      throw Database.Failure(description: "'\(job.work.rawValue)' has no floor")
    }
    return Check()
  }
}
