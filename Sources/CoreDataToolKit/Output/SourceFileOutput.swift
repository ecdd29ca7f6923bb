/// Writes a command's source files to the destination of its arguments: a directory, or standard output.
package struct SourceFileOutput {
  private let _files: [(name: String, text: String)]

  package init(_ files: [(name: String, text: String)]) { _files = files }

  /// Writes the files according to `--output`, `--force` and `--json`.
  ///
  /// - Parameter none: The reason why there may be no files.
  /// - Throws: `ToolFailure`.
  package func write(_ arguments: ParsedArguments, _ environment: ToolEnvironment, none: String) throws {
    guard let directory = arguments.outputPath else {
      if arguments.has("json") {
        let texts = _files.map { JSONText.object([("name", .string($0.name)), ("text", .string($0.text))]) }
        try environment.output(JSONText.array(texts).text() + "\n")
        return
      }
      for file in _files { try environment.output("// \(file.name)\n\(file.text)\n") }
      return
    }
    let written = try OutputDirectory(path: directory, replaces: arguments.replacesOutputs)
    for file in _files { try written.write(file.text, to: file.name) }
    try written.finish()
    if arguments.has("json") {
      let paths = _files.map {
        JSONText.object([("name", .string($0.name)), ("path", .string("\(directory)/\($0.name)"))])
      }
      try environment.output(JSONText.array(paths).text() + "\n")
      return
    }
    try environment.output(
      _files.isEmpty
        ? "Nothing to write: \(none).\n" : "\(counted(_files.count, "file")) written to \(directory).\n")
  }
}
