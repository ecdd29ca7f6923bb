import CoreDataToolKit

/// The files that a shootout writes beside its table.
struct ShootoutOutputs {
  private typealias Output = (
    option: String, what: String, file: OutputFile, content: (ShootoutResult) -> String
  )

  private let _outputs: [Output]
  /// Whether one of them goes to standard output, which is then the only output there.
  let takesStandardOutput: Bool

  /// - Throws: `ToolFailure` for a file that cannot be written, before anything is measured.
  init(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let kinds: [(option: String, what: String, content: (ShootoutResult) -> String)] = [
      ("save", "result to compare others with", { ResultDocument($0).json.text() + "\n" }),
      ("picture", "picture of the timelines", { TimelinePicture($0).svg }),
      ("report", "page with the timelines", { ReportPage($0).html }),
    ]
    _outputs = try kinds.compactMap { option, what, content in
      try arguments.text(option).map { path in
        (option, what, try OutputFile(path: path, replaces: arguments.replacesOutputs, environment), content)
      }
    }
    let streams = _outputs.filter(\.file.isStandardOutput)
    if streams.count > 1 { throw UsageError.conflict("--\(streams[0].option) -", "--\(streams[1].option) -") }
    takesStandardOutput = !streams.isEmpty
  }

  func write(_ result: ShootoutResult, _ environment: ToolEnvironment) throws {
    for output in _outputs {
      try output.file.write(output.content(result))
      if !output.file.isStandardOutput { environment.error("The \(output.what) is '\(output.file.path)'.\n") }
    }
  }
}
