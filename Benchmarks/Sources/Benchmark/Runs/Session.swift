import Foundation

/// The parent's side: which works are measured, how often, and what comes of it.
struct Session {
  struct Mismatch: Error, CustomStringConvertible { let description: String }

  let options: Options
  /// Other implementations that run in the same rounds.
  private let _peers: [Peer]
  /// Where stores are made while they are measured.
  private let _directory: String
  /// Told in a word or two what is being done.
  let progress: (String) -> Void

  init(_ options: Options, progress: @escaping (String) -> Void) throws {
    self.options = options
    self.progress = progress
    _peers = try options.peersDirectory.map { try Peer.all(in: $0) } ?? []
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    _directory = "\(base)/coredata-benchmark-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: _directory, withIntermediateDirectories: true)
  }

  func run() throws -> Report {
    defer { try? FileManager.default.removeItem(atPath: _directory) }
    var report = Report()
    report.isRealTime = Scheduling.isRealTime
    #if POSTGRESQL
    if let server = options.server {
      let found = try PostgreSQLFloor(server: server, schema: "public").digest(
        "SELECT current_setting('server_version_num')")
      report.serverVersion = Int(found.number)
    }
    #endif
    for (work, objects) in _plan {
      progress("\(work.rawValue), \(objects) objects")
      if Work.claims.contains(work) {
        report.claims += try _claims(work, objects)
      } else if options.countsInstructions {
        report.results.append(try _count(work, objects))
      } else {
        report.results.append(try _compare(work, objects))
      }
    }
    return report
  }

  /// Works and sizes, those of one size together so that a template is made once.
  private var _plan: [(Work, Int)] {
    if options.server != nil {
      return (options.works ?? Work.comparedOnServer).map { ($0, options.objects ?? 15_000) }
    }
    var works = options.works ?? Work.compared
    if options.works == nil, !options.isQuick, !options.countsInstructions { works += Work.claims }
    let base = works.map { work -> (Work, Int) in
      if let objects = options.objects { return (work, objects) }
      return (work, [.merge, .memory, .list].contains(work) ? 100_000 : 15_000)
    }
    guard options.objects == nil, options.works == nil, !options.isQuick, !options.countsInstructions else {
      return base
    }
    return base + [150_000, 1_000_000].flatMap { [(.importInsert, $0), (.fetchAll, $0)] }
  }

  private var _rounds: Int { options.runs ?? (options.isQuick ? 2 : 5) }

  private func _job(_ work: Work, _ side: Side, _ objects: Int) throws -> Job {
    var job = Job(
      work: work, side: side, objects: objects, directory: _directory, floorFile: options.floorFile,
      server: options.server)
    // As the other implementations were measured: one round to warm up, two that count; long ones once.
    let isLong = objects > 20_000
    switch work {
    case .concurrent: (job.warmUps, job.repetitions) = isLong || options.isQuick ? (0, 1) : (1, 3)
    case .fetchPage, .count, .oneReader, .twoReaders, .fourReaders:
      (job.warmUps, job.repetitions) = (isLong || options.isQuick ? 0 : 1, 1)
    case _ where Work.claims.contains(work): (job.warmUps, job.repetitions) = (0, 1)
    default: (job.warmUps, job.repetitions) = isLong ? (0, 1) : (1, 2)
    }
    if work.needsTemplate { job.template = try _template(side, objects) }
    return job
  }

  private func _template(_ side: Side, _ objects: Int) throws -> String {
    if options.server != nil { return try _serverTemplate(objects) }
    let path = "\(_directory)/template-\(side.rawValue)-\(objects).sqlite"
    if !FileManager.default.fileExists(atPath: path) {
      var job = Job(
        work: .template, side: side, objects: objects, directory: _directory, floorFile: options.floorFile)
      job.template = path
      _ = try Launcher.run(job)
    }
    return path
  }

  /// The schema with all stops, of both sides.
  private func _serverTemplate(_ objects: Int) throws -> String {
    let name = "template_\(objects)"
    let mark = "\(_directory)/\(name)"
    guard !FileManager.default.fileExists(atPath: mark) else { return name }
    let job = Job(
      work: .template, side: .engine, objects: objects, directory: _directory, template: name,
      server: options.server)
    _ = try Launcher.run(job)
    try Data().write(to: URL(fileURLWithPath: mark))
    return name
  }

  // MARK: Beside the floor

  private func _compare(_ work: Work, _ objects: Int) throws -> Report.Result {
    let jobs = [Side.engine: try _job(work, .engine, objects), .floor: try _job(work, .floor, objects)]
    var rounds: [Report.Round] = []
    // Large imports take minutes; what they show does not hang on the last percent.
    for round in 0..<(objects > 500_000 ? min(_rounds, 2) : _rounds) {
      var found: [Side: Measurement] = [:]
      for side in round.isMultiple(of: 2) ? [Side.engine, .floor] : [.floor, .engine] {
        found[side] = try Launcher.run(jobs[side]!)
      }
      let (engine, floor) = (found[.engine]!, found[.floor]!)
      try _check(work, objects, engine.check, floor.check)
      rounds.append(Report.Round(engine: engine, floor: floor))
    }
    var result = Report.Result(work: work, objects: objects, rounds: rounds)
    for peer in _peers where peer.does(work) {
      result.peers.append(try _runs(of: peer, work, objects, rounds))
    }
    return result
  }

  /// Lets a peer do what engine and floor have done, with results that must be equal.
  private func _runs(
    of peer: Peer, _ work: Work, _ objects: Int, _ rounds: [Report.Round]
  ) throws -> Report.PeerRuns {
    var runs = Report.PeerRuns(name: peer.name)
    for round in rounds.prefix(3) {
      progress("\(work.rawValue), \(objects) objects, \(peer.name)")
      let found = try peer.run(work, objects: objects, directory: _directory, server: options.server)
      guard found.measurement.check == round.engine.check else {
        throw Mismatch(
          description:
            "'\(work.rawValue)': \(peer.name) found \(found.measurement.check) where the engine found "
            + "\(round.engine.check).")
      }
      runs.version = found.version
      runs.seconds += found.measurement.seconds
      runs.peakMegabytes.append(found.measurement.peakMegabytes)
    }
    return runs
  }

  private func _check(_ work: Work, _ objects: Int, _ engine: Check, _ floor: Check) throws {
    guard engine == floor else {
      throw Mismatch(
        description: "'\(work.rawValue)': the engine found \(engine) where the floor found \(floor).")
    }
    if options.server == nil, let expected = Check.expected(work, objects: objects), engine != expected {
      throw Mismatch(
        description: "'\(work.rawValue)': \(engine) was found where the workload says \(expected).")
    }
  }

  private func _count(_ work: Work, _ objects: Int) throws -> Report.Result {
    var jobs = [Side.engine: try _job(work, .engine, objects), .floor: try _job(work, .floor, objects)]
    var counts: [Side: Double] = [:]
    for side in Side.allCases {
      (jobs[side]!.warmUps, jobs[side]!.repetitions) = (0, 1)
      jobs[side]!.isCounted = true
      counts[side] = try Launcher.instructions(of: jobs[side]!)
    }
    return Report.Result(
      work: work, objects: objects, engineInstructions: counts[.engine]!, floorInstructions: counts[.floor]!)
  }

  // MARK: The engine alone

  private func _claims(_ work: Work, _ objects: Int) throws -> [Report.Claim] {
    let job = try _job(work, .engine, objects)
    func median(_ name: String) throws -> Double {
      try (0..<_rounds).map { _ in try Launcher.run(job).figures[name] ?? 0 }.median
    }
    switch work {
    case .nested3:
      // Both in turn, as the floor would.
      let other = try _job(.shared, .engine, objects)
      var (totals, busy): ([Double], [Double]) = ([], [])
      for _ in 0..<_rounds {
        let shared = try Launcher.run(other).figures
        let nested = try Launcher.run(job).figures
        totals.append((nested["total_s"] ?? 0) / (shared["total_s"] ?? 1))
        busy.append((nested["main_busy_s"] ?? 0) / (shared["main_busy_s"] ?? 1))
      }
      return [
        Report.Claim(
          name: "nested3 over shared, total", value: totals.median, unit: "x", limit: 1.15, aim: 1.05),
        Report.Claim(
          name: "nested3 over shared, main thread busy", value: busy.median, unit: "x", limit: 1.5, aim: 1),
      ]
    case .nestedSave:
      return [
        Report.Claim(
          name: "longest main-thread block, \(objects) changes at once through nested3",
          value: try median("main_longest_ms"), unit: "ms", limit: 16.7, aim: 8.3)
      ]
    case .merge:
      return [
        Report.Claim(
          name: "controller over \(objects) rows follows 100 changes", value: try median("merge_ms"),
          unit: "ms", limit: 2,
          aim: nil)
      ]
    case .faults:
      let measured = try Launcher.run(job)
      let count = measured.figures["faults"] ?? 1
      // The statements of opening and of the fetch count, too.
      let statements = Double(try Launcher.statements(of: job))
      return [
        Report.Claim(
          name: "statements per 100 faults fired one by one", value: statements / count * 100, unit: "",
          limit: 1, aim: nil)
      ]
    case .memory:
      return [
        Report.Claim(
          name: "memory per filled object of \(objects)", value: try median("bytes_per_object"),
          unit: "bytes", limit: 600,
          aim: 350)
      ]
    case .list:
      return [
        Report.Claim(
          name: "controller over \(objects) rows in batches of 50 opens", value: try median("open_ms"),
          unit: "ms", limit: nil, aim: nil),
        Report.Claim(
          name: "memory per row of it", value: try median("bytes_per_row"), unit: "bytes", limit: nil,
          aim: nil),
        Report.Claim(
          name: "objects it has filled when two screens were looked at", value: try median("filled"),
          unit: "", limit: 200, aim: 100),
      ]
    case .shared:
      return [
        Report.Claim(
          name: "shared: main thread busy, \(objects) found or created",
          value: try median("main_busy_s") * 1000, unit: "ms",
          limit: nil, aim: nil)
      ]
    default: return []
    }
  }
}
