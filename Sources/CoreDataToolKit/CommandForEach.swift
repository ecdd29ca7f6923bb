extension Command {
  /// A command that does the same for each of its operands, as of a shell's `*.sqlite`.
  ///
  /// With several, the operand's name precedes each output, a failure does not keep the command from going on, and
  /// the code at the end is that of the first failure. An output file goes with one operand.
  package static func forEach(
    _ syntax: CommandSyntax, run: @escaping @Sendable (ParsedArguments, ToolEnvironment) throws -> Void
  ) -> Command {
    Command(syntax) { arguments, environment in
      let operands = arguments.operands
      guard operands.count > 1 else { return try run(arguments, environment) }
      if arguments.has("output") {
        throw ToolFailure(
          .usage, "'--output' goes with one \(syntax.operands[0].name), not with \(operands.count).")
      }
      var failures: [ToolFailure] = []
      for (index, operand) in operands.enumerated() {
        if !arguments.has("json") { try environment.output("\(index > 0 ? "\n" : "")\(operand):\n") }
        do {
          try run(ParsedArguments(values: arguments.values, operands: [operand]), environment)
        } catch let failure as ToolFailure where failure.code != .closedPipe {
          environment.error("error: \(failure.message)\n")
          failures.append(failure)
        }
      }
      guard let first = failures.first else { return }
      throw ToolFailure(
        first.code, "\(failures.count) of \(operands.count) failed; see above.")
    }
  }
}

extension CommandSyntax.Operand {
  /// The same operand, any number of times.
  package var repeated: CommandSyntax.Operand {
    CommandSyntax.Operand(name, isOptional: isOptional, repeats: true, choices: choices, summary)
  }
}
