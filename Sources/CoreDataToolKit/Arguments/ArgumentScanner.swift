/// Parses a command line against a syntax: a pure function from words to a request.
package struct ArgumentScanner: Sendable {
  /// The request of a command line.
  package enum Request: Sendable, Equatable {
    /// Help on the command at this path of names, the tool's own first.
    case help(path: [String])
    /// The version of the tool.
    case version
    /// To run the command at this path.
    case run(path: [String], ParsedArguments)
  }

  private let _root: CommandSyntax

  package init(_ root: CommandSyntax) { _root = root }

  /// Returns the syntax at a path that `scan` returned.
  package func syntax(at path: [String]) -> CommandSyntax {
    path.dropFirst().reduce(_root) { command, name in
      command.subcommands.first { $0.name == name } ?? command
    }
  }

  /// Parses the words after the tool's name. `--help` and `-h` take precedence over everything else on the
  /// line, at any level; `--` ends the options.
  package func scan(_ words: [String]) throws(UsageError) -> Request {
    var command = _root
    var path = [_root.name]
    var rest = words[...]
    if rest.first == "--version" { return .version }
    if rest.first == "help" {
      rest = rest.dropFirst() + ["--help"]
    }
    while !command.subcommands.isEmpty {
      // Without a command, list the commands.
      guard let word = rest.first, !_isHelp(word) else { return .help(path: path) }
      guard let next = command.subcommands.first(where: { $0.name == word }) else {
        if word.hasPrefix("-") {
          throw .unknownOption(
            word, command: _title(path),
            suggestion: SpellingSuggestion.nearest(to: word, among: ["--help", "--version"]))
        }
        throw .unknownCommand(
          word, in: _title(path),
          suggestion: SpellingSuggestion.nearest(to: word, among: command.subcommands.map(\.name)))
      }
      command = next
      path.append(next.name)
      rest = rest.dropFirst()
    }
    if rest.prefix(while: { $0 != "--" }).contains(where: _isHelp) { return .help(path: path) }
    return .run(path: path, try _arguments(of: command, title: _title(path), rest))
  }

  private func _arguments(
    of command: CommandSyntax, title: String, _ words: ArraySlice<String>
  ) throws(UsageError) -> ParsedArguments {
    var values: [String: [String]] = [:]
    var operands: [String] = []
    var rest = words
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      // A lone dash is an operand by convention: standard input.
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let spelling = String(parts[0])
      guard let option = command.options.first(where: { $0.isNamed(by: spelling) }) else {
        let known = command.options.filter { !$0.isHidden }.map { "--" + $0.name } + ["--help"]
        throw .unknownOption(
          spelling, command: title, suggestion: SpellingSuggestion.nearest(to: spelling, among: known))
      }
      if values[option.name] != nil && !option.repeats { throw .repeatedOption(spelling) }
      guard let valueName = option.valueName else {
        values[option.name, default: []] += []
        if parts.count == 2 {
          guard let name = option.optionalValueName else {
            throw .unexpectedValue(option: spelling, value: String(parts[1]))
          }
          if parts[1].isEmpty { throw .missingValue(option: spelling, valueName: name) }
          values[option.name, default: []].append(String(parts[1]))
        }
        continue
      }
      let value = parts.count == 2 ? String(parts[1]) : _value(from: &rest)
      guard let value, !value.isEmpty else { throw .missingValue(option: spelling, valueName: valueName) }
      values[option.name, default: []].append(value)
    }
    let required = command.operands.filter { !$0.isOptional }
    if operands.count < required.count {
      throw .missingOperand(required[operands.count].name, command: title)
    }
    if operands.count > command.operands.count, !command.operands.contains(where: \.repeats) {
      throw .unexpectedOperand(operands[command.operands.count], command: title)
    }
    return ParsedArguments(values: values, operands: operands)
  }

  /// Returns the next word, unless it is plainly another option: `--stops --runs 5` lacks the file.
  private func _value(from rest: inout ArraySlice<String>) -> String? {
    guard let next = rest.first, !next.hasPrefix("--") else { return nil }
    return rest.popFirst()
  }

  private func _isHelp(_ word: String) -> Bool { word == "--help" || word == "-h" }

  private func _title(_ path: [String]) -> String { path.joined(separator: " ") }
}
