import CoreDataStackShootout
import CoreDataToolKit
import Foundation

extension Command {
  /// The commands of the load trials.
  ///
  /// - Parameter server: The store of a URL on a PostgreSQL server. Nil in a program without a server's
  ///   library.
  package static func load(on server: (@Sendable (URL) -> LoadStore)? = nil) -> [Command] {
    [
      Command(LoadCommand.syntax) { try LoadCommand.run($0, $1, server) },
      Command(LoadCommand.listSyntax, run: LoadCommand.list),
      Command(LoadCommand.neighborSyntax, run: LoadCommand.saveBeside),
    ]
  }
}

/// The command-line interface: runs scenarios, writes the table, JSON and picture, and compares with the
/// limits.
enum LoadCommand {
  static let syntax = CommandSyntax(
    "run", summary: "Run scenarios of load, and fail where a limit is exceeded.",
    discussion: [
      "Each scenario runs in a process of its own. All of them have limits on operations, live contexts, memory, "
        + "descriptors, threads, ages of what is read, and ghosts: what a list shows and the store has not. A run of five "
        + "minutes or more of "
        + "a release build also has one on the processor time of the engine's blocks on the main queue."
    ],
    examples: [
      "load-trials run --short", "load-trials run --seconds 600 --json load.json storm live-list-100",
    ],
    options: [
      .value("seconds", "N", "Time for each scenario; 60 if not given."),
      .flag("short", "Four seconds each, as continuous integration does."),
      .value("json", "FILE", "Also write the figures as JSON."),
      .value("picture", "FILE", "Also draw the main queue's blocks as SVG."), .force,
      .value(ScenarioProcess.option, "DIRECTORY", isHidden: true, "Run one scenario in this process."),
    ],
    operands: [
      .init(
        "SCENARIO", isOptional: true, repeats: true, choices: ScenarioName.allCases.map(\.rawValue),
        "Scenarios to run; all if none is given.")
    ],
    exitCodes: ExitCode.allCases)

  static let listSyntax = CommandSyntax(
    "list", summary: "List the scenarios.", exitCodes: [.success, .usage])

  @Sendable static func list(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    var table = TextTable([.init("scenario", .left), .init("what happens", .left)])
    for scenario in ScenarioName.allCases { table.add([.init(scenario.rawValue), .init(scenario.summary)]) }
    try environment.output(table.text(usesColor: environment.outputTerminal.usesColor))
  }

  static let neighborSyntax = CommandSyntax(
    Neighbor.command, summary: "Save into a scenario's file: what its second process does.",
    operands: [
      .init("FILE", "The store."), .init("TIME", "When to end, on the monotonic clock, in nanoseconds."),
    ],
    exitCodes: ExitCode.allCases)

  @Sendable static func saveBeside(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    guard let deadline = UInt64(arguments.operands[1]) else {
      throw UsageError.notANumber(option: "TIME", text: arguments.operands[1])
    }
    try Neighbor(store: URL(fileURLWithPath: arguments.operands[0])).save(until: deadline)
  }

  /// The environment variable with the URL of a database, in which each scenario that needs a server makes a
  /// schema.
  private static let _urlVariable = "COREDATA_LOAD_SERVER"

  static func run(
    _ arguments: ParsedArguments, _ environment: ToolEnvironment, _ server: ((URL) -> LoadStore)?
  ) throws {
    let options = try LoadOptions(arguments)
    if let path = arguments.text(ScenarioProcess.option) {
      return try _runOne(options, path, environment, server)
    }
    let json = try arguments.text("json").map { path throws(ToolFailure) in
      try OutputFile(path: path, replaces: arguments.replacesOutputs, environment)
    }
    let picture = try arguments.text("picture").map { path throws(ToolFailure) in
      try OutputFile(path: path, replaces: arguments.replacesOutputs, environment)
    }
    let directory = try WorkDirectory(
      for: "load", in: environment.variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp")
    defer { directory.remove() }
    var results: [ScenarioResult] = []
    var failures: [String] = []
    let limits = LoadLimits(isLong: options.seconds >= 300 && !Machine.current.isDebugBuild)
    for scenario in options.scenarios {
      if scenario.needsServer, server == nil || environment.variables[_urlVariable] == nil {
        environment.error(
          "\(scenario.rawValue): skipped, there is no PostgreSQL server; see 'Scripts/stress load --help'.\n")
        continue
      }
      do {
        let result = try ScenarioProcess(
          scenario: scenario, seconds: options.seconds, directory: directory.path
        ).run()
        results.append(result)
        failures += limits.excesses(of: result)
      } catch let failure as ToolFailure {
        failures.append(failure.message)
      }
    }
    try environment.output(LoadTable(results).text(usesColor: environment.outputTerminal.usesColor))
    try environment.output(Machine.current.line("SQLite \(Machine.sqlite)") + "\n")
    try json?.write(LoadDocument(results: results, date: Date()).json.text() + "\n")
    if let picture, !results.isEmpty { try picture.write(LoadPicture(results).svg) }
    guard failures.isEmpty else { throw ToolFailure(.internalError, failures.joined(separator: "\n")) }
  }

  private static func _runOne(
    _ options: LoadOptions, _ directory: String, _ environment: ToolEnvironment,
    _ server: ((URL) -> LoadStore)?
  ) throws {
    let scenario = options.scenarios[0]
    var store = LoadStore(
      URL(fileURLWithPath: directory).appendingPathComponent("\(scenario.rawValue).sqlite"))
    if scenario.needsServer, let server {
      let schema = scenario.rawValue.replacing("-", with: "_") + "_\(getpid())"
      let base = environment.variables[_urlVariable].flatMap(URL.init)
      guard let url = base?.appending(queryItems: [URLQueryItem(name: "schema", value: schema)]) else {
        throw ToolFailure(
          .usage, "The URL in \(_urlVariable) has not the form postgresql://user@host/database.")
      }
      store = server(url)
    }
    let run = ScenarioRun(
      scenario: scenario, seconds: options.seconds, store: store, progress: { environment.error("\($0)\n") })
    let result: ScenarioResult
    do {
      result = try run.measure()
    } catch {
      throw ToolFailure(.internalError, "'\(scenario.rawValue)' failed: \(error)")
    }
    let data = try JSONEncoder().encode(result)
    try environment.output(String(decoding: data, as: UTF8.self))
  }
}
