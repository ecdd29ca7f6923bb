import Foundation
import CoreDataStoreTorture
import CoreDataToolKit

/// The options of all series.
let common: [OptionSyntax] = [
  .value("seed", "N", "Which rounds; the same seed makes the same ones. 1 if not given."),
  .value("round", "NAME", "Run this round alone, and list its calls."),
  .value("jobs", "N", "Rounds at once; one for each processor if not given."),
  .value("findings", "DIR", "With --round: keep the files as the work left them."),
]

/// Runs series, prints the table, and fails when a round did.
func torture(_ series: [any TrialSeries], _ arguments: ParsedArguments, _ environment: ToolEnvironment) throws
{
  let jobs = try arguments.integer("jobs", in: 1...256) ?? ProcessInfo.processInfo.activeProcessorCount
  let root = workplace(environment)
  defer { try? FileManager.default.removeItem(at: root) }
  let start = Date()
  let run = TortureRun(root: root, jobs: jobs)
  try run.run(
    series, note: { try? environment.output("\($0)\n") }, progress: { environment.error("\($0)\n") })
  try environment.output(table(run.tally) + "\n")
  for line in run.tally.lines where line.skipped > 0 {
    try environment.output("\(line.series): skipped, \(line.reason).\n")
  }
  let seconds = Int(Date().timeIntervalSince(start))
  try environment.output("\(run.tally.tried) rounds in \(seconds) s, \(run.tally.failureCount) failures.\n")
  guard run.tally.failureCount == 0 else {
    throw ToolFailure(.internalError, "\(run.tally.failureCount) rounds did not survive; see above.")
  }
}

func table(_ tally: TortureTally) -> String {
  var table = TextTable([
    .init("Series", .left), .init("Kind", .left), .init("Tried", .right), .init("Survived", .right),
  ])
  for line in tally.lines where line.tried > 0 {
    table.add([.init(line.series), .init(line.kind), .init("\(line.tried)"), .init("\(line.survived)")])
  }
  return table.text(usesColor: false)
}

/// A file system in memory if there is one: nothing here depends on the persistence of a disk.
func workplace(_ environment: ToolEnvironment) -> URL {
  let memory = URL(fileURLWithPath: "/dev/shm", isDirectory: true)
  let base =
    access(memory.path, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory
  return base.appendingPathComponent("torture-\(UUID().uuidString)")
}

/// A command that runs one series, or one round of it.
func command<Series: TrialSeries>(
  _ type: Series.Type, _ word: String, _ summary: String, options: [OptionSyntax] = [], operand: String,
  _ standard: Int, _ make: @escaping @Sendable (Int, UInt64, ParsedArguments) throws -> Series
) -> Command {
  Command(
    CommandSyntax(
      word, summary: summary, options: common + options,
      operands: [.init("COUNT", isOptional: true, operand)],
      exitCodes: [.success, .usage, .internalError])
  ) { arguments, environment in
    guard let name = arguments.text("round") else {
      let seed = UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1)
      let count = arguments.operands.first.map { Int($0) ?? 0 } ?? standard
      guard count > 0 else { throw ToolFailure(.usage, "COUNT is a number above zero.") }
      return try torture([make(count, seed, arguments)], arguments, environment)
    }
    let root = workplace(environment)
    defer { try? FileManager.default.removeItem(at: root) }
    let place = try TrialPlace(
      root, isLoud: true, findings: arguments.text("findings").map { URL(fileURLWithPath: $0) })
    guard let report = try type.runOne(name, in: place) else {
      throw ToolFailure(.usage, "there is no round '\(name)' in '\(word)'.")
    }
    try environment.output("\(report.name): \(report.outcome.rawValue) \(report.words)\n")
    guard report.outcome != .failed else { throw ToolFailure(.internalError, "the round did not survive.") }
  }
}

extension ParsedArguments {
  /// The case that an option names, nil without the option.
  func choice<Case>(_ option: String, of cases: [Case], named name: (Case) -> String) throws -> Case? {
    guard let text = text(option) else { return nil }
    guard let found = cases.first(where: { name($0) == text }) else {
      throw ToolFailure(
        .usage, "--\(option) is one of \(cases.map(name).joined(separator: ", ")), not '\(text)'.")
    }
    return found
  }
}

func crowd(_ kind: CrowdSeries.Kind, _ summary: String, _ standard: Int) -> Command {
  command(CrowdSeries.self, kind.rawValue, summary, operand: "Number of rounds.", standard) {
    count, seed, _ in CrowdSeries(kind, count: count, seed: seed)
  }
}

/// How much of the series is run.
enum Extent {
  case long, sample, short

  func of(_ long: Int, _ sample: Int, _ short: Int) -> Int {
    switch self {
    case .long: long
    case .sample: sample
    case .short: short
    }
  }
}

/// All series, in the long form or as a small sample of it.
@Sendable func everything(_ seed: UInt64, _ extent: Extent) -> [any TrialSeries] {
  [
    QuestionSeries(),
    KillSeries(count: extent.of(10_000, 900, 270), seed: seed),
    FaultSeries(
      stride: extent.of(1, 600, 2_000), lesserStride: extent == .long ? 10 : nil, seed: seed),
    FullDiskSeries(count: extent.of(1_000, 90, 30), seed: seed),
    CrowdSeries(.opening, count: extent.of(200, 10, 4), seed: seed),
    CrowdSeries(.migrators, count: extent.of(50, 6, 3), seed: seed),
    CrowdSeries(.closing, count: extent.of(100, 5, 3), seed: seed),
    CrowdSeries(.killed, count: extent.of(100, 5, 3), seed: seed),
    CrowdSeries(.threads, count: extent.of(200, 10, 4), seed: seed),
    TakenAwaySeries(count: extent.of(252, 42, 14), seed: seed),
  ]
}

let all = Command(
  CommandSyntax(
    "all", summary: "Run a sample of all series, in about two minutes.",
    options: common + [
      .flag("long", "Run all of them at full length."),
      .flag("short", "Run a third of the sample, as continuous integration does."),
    ],
    exitCodes: [.success, .usage, .internalError])
) { arguments, environment in
  let seed = UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1)
  guard !arguments.has("long") || !arguments.has("short") else {
    throw ToolFailure(.usage, "--long and --short exclude each other.")
  }
  let extent: Extent = arguments.has("long") ? .long : arguments.has("short") ? .short : .sample
  try torture(everything(seed, extent), arguments, environment)
}

let tool = CommandLineTool(
  name: "store-torture", version: "1",
  summary: "Kills and starves processes that save, and asks what is left of their stores.",
  commands: [
    all,
    command(
      QuestionSeries.self, "questions", "Spoil stores on purpose, which the questions have to notice.",
      operand: "Ignored.", 1
    ) { _, _, _ in QuestionSeries() },
    command(
      KillSeries.self, "kills", "Kill works at calls and instants.", operand: "Number of kills.", 10_000
    ) { count, seed, _ in KillSeries(count: count, seed: seed) },
    command(
      FaultSeries.self, "faults", "Let every call of every work fail.",
      options: [
        .value("work", "WORK", "Only this work, such as smallSaves."),
        .value("form", "FORM", "Only on stores of this form, such as WAL-history-blobs or DELETE."),
      ],
      operand: "Run one round in so many.", 1
    ) { stride, seed, arguments in
      let form = try arguments.choice("form", of: StoreForm.all, named: \.name)
      let work = try arguments.choice("work", of: Work.allCases, named: \.rawValue)
      return FaultSeries(stride: stride, work: work, form: form, seed: seed)
    },
    command(FullDiskSeries.self, "full-disk", "Work on full disks.", operand: "Number of rounds.", 1000) {
      count, seed, _ in FullDiskSeries(count: count, seed: seed)
    },
    crowd(.opening, "Let 8 processes open a new store at once.", 200),
    crowd(.migrators, "Let 8 processes migrate a store at once.", 50),
    crowd(.closing, "Let 8 processes open, save and close at once.", 100),
    crowd(.killed, "Let 8 processes save at once, and kill some.", 100),
    crowd(.threads, "Let 8 threads open a new store at once.", 200),
    command(
      TakenAwaySeries.self, "taken-away", "Take the file away from under an open store.",
      operand: "Number of rounds.", 252
    ) { count, seed, _ in TakenAwaySeries(count: count, seed: seed) },
  ])
exit(tool.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
