import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata shootout`.
  ///
  /// - Parameter server: Connects to the server of a URL. Nil in a program without a server's library, which passes a
  ///   shootout on a server to its companion.
  package static func shootout(
    on server: (@Sendable (_ url: String) throws -> any StorePlace)? = nil
  ) -> Command {
    Command(ShootoutCommand.syntax) { arguments, environment in
      try ShootoutCommand.run(arguments, environment, launcher: .current, server: server)
    }
  }
}

/// The command-line interface: parses options, and writes the table, JSON and page.
enum ShootoutCommand {
  static let syntax = CommandSyntax(
    "shootout",
    summary:
      "Import transit stops, or records of your own, through each Core Data stack design and show what it costs.",
    discussion: [
      "For each line of the input the importer fetches the stop of that identifier, inserts it if there is none, "
        + "sets its four attributes, and saves every so many lines. The same work straight on SQLite's C API, or "
        + "libpq, is the floor that all are compared to. Each stack runs in a separate process; figures are medians over the "
        + "runs.",
      "With --model and --entity, records of your own are imported into your model: objects of JSON, one a line or in an "
        + "array, or lines of CSV, found again by the attribute that --key names. A relationship is the destination's key, "
        + "an object inside, or an array of these. The floor writes the same tables, and all stores must end equal. --make "
        + "invents records. --from imports all objects of a store, which is only read.",
      "With --screens, main then reads as an app does: lists that are scrolled and searched, pages that follow relationships, "
        + "counts. Changes that are known to help are tried, and told if they do.",
      "Stacks: "
        + StackDesign.allCases.map { "\($0.rawValue) (\($0.title.lowercased()))" }.joined(separator: ", ")
        + ".",
    ],
    examples: [
      "coredata shootout", "coredata shootout --stops stops.txt --stacks main,nested3 --report page.html",
      "coredata shootout --objects 100000 --mode bulk --save-every 1000 --runs 1 --format json",
      "coredata shootout --store postgresql://app@db.internal/shop",
      "coredata shootout --model Shop.xcdatamodeld --data orders.ndjson --entity Order --key number",
      "coredata shootout --model Shop.xcdatamodeld --make Order=10000 --key number --key Customer.code",
      "coredata shootout --replay trace-1234.ndjson --from Shop-before.sqlite",
      "coredata shootout --from Shop.sqlite --key Order.number --screens model --report page.html",
    ],
    options: [
      .value("stops", "FILE", "A GTFS stops.txt to import. Without it, a city is invented."),
      .value("objects", "N", "Number of stops to invent, 15000 if not given."),
      .value(
        "model", "FILE",
        "Import records into this model: a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store that has it inside."
      ),
      .value("data", "FILE", "The records: NDJSON, JSON or CSV; '-' for standard input."),
      .value("entity", "NAME", "The entity of the records."),
      .value(
        "key", "ATTRIBUTE", repeats: true,
        "The attribute by which an object is found again; Customer.code for another entity. Without it, the attribute of a "
          + "uniqueness constraint."),
      .value("make", "NAME=N", "Invent so many records of an entity."),
      .value(
        "from", "STORE",
        "Import all objects of a store, by the model inside it or --model; '-' for standard input. --entity names the one "
          + "that is listed, the largest if not given."),
      .value(
        "replay", "RECORDING", repeats: true,
        "Replay what a program has done, recorded with COREDATA_RECORD=FILE, on copies of the store that --from names: its state "
          + "when the recording began."),
      .value(
        "from-keys", "FILE",
        "The keys that the objects of --from had where the recording was made: what 'coredata postgres copy --keys' has written."
      ),
      .flag("pauses", "Keep the pauses of the recording."),
      .value("stacks", "LIST", repeats: true, "Stacks to run, separated by commas; all if not given."),
      .value(
        "mode", "MODE",
        "find-or-create (a fetch a line, the default), bulk (a fetch a save) or insert (none)."),
      .value("save-every", "N", "Lines between two saves, 250 if not given."),
      .flag("live-list", "Keep a list of all stops by name live on main meanwhile, as a screen does."),
      .value(
        "screens", "FILE",
        "Then open screens on main, alone and beside an import: an array of JSON with list, detail or badge of an "
          + "entity, or 'model' for the model's fetch requests."),
      .value("runs", "N", "How often to run each, 5 if not given."),
      .value("format", "FORMAT", "table (the default) or json."),
      .value("report", "FILE", "Also write a page with timelines: one HTML file that needs nothing else."),
      .value("picture", "FILE", "Also write the timelines as one SVG."),
      .value("save", "FILE", "Also write the result as JSON, to compare others with."),
      .value(
        "compare", "FILE", "Compare with a result that was saved: code 70 if a figure is beyond its limit."),
      .value(
        "against", "PROGRAM",
        "Run another build of this tool in turn with this one, and tell the differences, pair by pair."),
      .value(
        "limit", "FIGURE=MOST", repeats: true,
        "total=+10% or main=+10% of the result compared with, in times of the floor (both unless given); total=2.5x, "
          + "longest=16.7ms, peak=60MB as values of this machine."), .force,
      .value(
        "store", "URL",
        "Make the stores on a PostgreSQL server, postgresql://user@host/database, in schemas that are dropped again; "
          + "the floor is libpq then."),
      .value("stores", "DIRECTORY", "Make the stores there, and leave the last run's to be looked at."),
      .value("worker", "JOB", isHidden: true, "Do one job of a shootout in this process."),
    ],
    exitCodes: ExitCode.allCases)

  static func run(
    _ arguments: ParsedArguments, _ environment: ToolEnvironment, launcher: WorkerLauncher,
    server: ((String) throws -> any StorePlace)? = nil
  ) throws {
    if let job = arguments.text("worker") {
      let place = try environment.variables[_urlVariable].flatMap { try server?($0) } ?? SQLiteFiles()
      try WorkerProcess.run(jobArgument: job, place: place, output: environment.output)
      return
    }
    let arguments = PassedURLs.restored(arguments, environment)
    let options = try ShootoutOptions(arguments)
    var launcher = launcher
    var place: any StorePlace = SQLiteFiles()
    if let url = options.serverURL {
      guard let server else {
        let passed = PassedURLs(ProgramArguments.words)
        passed.export()
        try CompanionProgram.postgreSQL.exec(passed.words, environment)
      }
      place = try server(url)
      launcher.variables[_urlVariable] = url
    }
    let outputs = try ShootoutOutputs(arguments, environment)
    let baseline = try arguments.text("compare").map { try Baseline(path: $0) }
    let stores = try options.preparedStoreDirectory()
    let input = try PreparedInput(options.workload, environment)
    _tellProblems(input, environment)
    let progress = ProgressBar(terminal: environment.errorTerminal, write: environment.error)
    defer { progress.finish() }
    var workload = options.workload
    if let records = input.records { workload.source = .records(records) }
    if let screens = options.screens {
      workload.screens = try ScreenChoice(screens, input, workload, environment).screens
    }
    var other: WorkerLauncher?
    if let path = arguments.text("against") {
      other = try WorkerLauncher(build: path)
      other?.variables = launcher.variables
    }
    let shootout = Shootout(
      workload: workload, launcher: launcher, other: other, place: place,
      directory: stores ?? environment.variables["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp",
      keptStores: stores, progress: progress)
    let (result, mine, theirs) = try shootout.run(input)
    progress.finish()
    let environment = outputs.takesStandardOutput ? environment.reportingOnError : environment
    switch options.format {
    case .table:
      try environment.output(ResultTable(result).text(usesColor: environment.outputTerminal.usesColor))
    case .json: try environment.output(ResultDocument(result).json.text() + "\n")
    }
    try outputs.write(result, environment)
    if other != nil {
      let pairs = PairComparison(mine, with: theirs, workload.stacks, options.limits)
      try _judge(
        pairs.lines, pairs.excesses, pairs.runsNeeded,
        options.format == .json ? environment.reportingOnError : environment)
      return
    }
    let limits = options.limits.isEmpty && baseline != nil ? RunLimit.usual : options.limits
    if !limits.isEmpty {
      let comparison = try BaselineComparison(result, with: baseline, limits)
      try _judge(
        comparison.lines, comparison.excesses, comparison.runsNeeded,
        options.format == .json ? environment.reportingOnError : environment)
    }
  }

  private static func _judge(
    _ lines: [String], _ excesses: [String], _ runsNeeded: Int?, _ environment: ToolEnvironment
  ) throws {
    try environment.output("\n" + lines.map { $0 + "\n" }.joined())
    if let needed = runsNeeded {
      environment.error(
        "note: these runs differ too much to tell such growths from noise; '--runs \(needed)' would.\n")
    }
    guard excesses.isEmpty else {
      throw ToolFailure(.internalError, "Beyond the limit: \(excesses.joined(separator: "; ")).")
    }
  }

  /// The environment variable with the server's URL, for the processes of the runs.
  private static let _urlVariable = "COREDATA_SHOOTOUT_STORE"

  private static func _tellProblems(_ input: PreparedInput, _ environment: ToolEnvironment) {
    let label = TextStyle.bold.applied(to: "note:", usesColor: environment.errorTerminal.usesColor)
    for remark in input.remarks { environment.error("\(label) \(remark).\n") }
    for key in input.unindexedKeys {
      environment.error("\(label) no index of the model begins with \(key): each look-up reads the table.\n")
    }
    guard input.skipped > 0 else { return }
    let rows = input.skipped == 1 ? "1 row was" : "\(input.skipped) rows were"
    environment.error("\(label) \(rows) skipped, \(input.count) are imported.\n")
    for problem in input.problems { environment.error("  \(problem)\n") }
    let hidden = input.skipped - input.problems.count
    if hidden > 0 { environment.error("  and \(hidden) more\n") }
  }
}
