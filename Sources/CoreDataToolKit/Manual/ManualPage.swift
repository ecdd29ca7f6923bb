/// The manual page of a tool, in the macros of man(7), made from the syntax of its commands.
package struct ManualPage: Sendable {
  private let _tool: CommandSyntax
  private let _version: String

  package init(_ tool: CommandSyntax, version: String) {
    _tool = tool
    _version = version
  }

  package var text: String {
    var lines = [
      ".TH \(Self._escaped(_tool.name.uppercased())) 1 \"\" \"\(Self._escaped("\(_tool.name) \(_version)"))\"",
      ".SH NAME", "\(Self._escaped(_tool.name)) \\- \(Self._escaped(_tool.summary))",
      ".SH SYNOPSIS", ".nf",
    ]
    let commands = _leaves(of: _tool, path: [_tool.name])
    lines += commands.map { Self._escaped(HelpText.usage($0.command, $0.path)) }
    lines += [".fi", ".SH DESCRIPTION"] + _paragraphs(_tool.discussion)
    lines.append(".SH COMMANDS")
    for (path, command) in commands {
      lines += [".SS \(Self._escaped(path.joined(separator: " ")))", Self._escaped(command.summary)]
      lines += _entries(command.operands.map { ($0.name, $0.summary) })
      lines += _entries(command.options.filter { !$0.isHidden }.map { ($0.spelling, $0.summary) })
      lines += _paragraphs(command.discussion)
      if !command.examples.isEmpty {
        lines += [".PP", "Examples:", ".nf", ".RS"] + command.examples.map(Self._escaped) + [".RE", ".fi"]
      }
    }
    lines.append(".SH EXIT STATUS")
    lines += _entries(ExitCode.allCases.map { (String($0.rawValue), $0.meaning) })
    return lines.joined(separator: "\n") + "\n"
  }

  /// The commands that do something, with the words that name them.
  private func _leaves(of command: CommandSyntax, path: [String]) -> [(
    path: [String], command: CommandSyntax
  )] {
    command.subcommands.isEmpty
      ? [(path, command)] : command.subcommands.flatMap { _leaves(of: $0, path: path + [$0.name]) }
  }

  private func _paragraphs(_ texts: [String]) -> [String] { texts.flatMap { [".PP", Self._escaped($0)] } }

  private func _entries(_ entries: [(name: String, text: String)]) -> [String] {
    entries.flatMap { [".TP", ".B \(Self._escaped($0.name))", Self._escaped($0.text)] }
  }

  /// A line of text as man(7) prints it: dashes are those of command lines, and nothing is a macro.
  private static func _escaped(_ text: String) -> String {
    let line = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return line.first.map { ".'".contains($0) } ?? false ? "\\&" + line : line
  }
}

extension Command {
  /// `TOOL manual`: writes the tool's manual page.
  static func manual(of tool: CommandSyntax, version: String) -> Command {
    let own = CommandSyntax(
      "manual", summary: "Write the manual page.",
      discussion: ["man reads it: '\(tool.name) manual | man -l -'."],
      examples: ["\(tool.name) manual > \(tool.name).1"], exitCodes: [.success])
    let whole = tool.adding(own)
    return Command(own) { _, environment in
      try environment.output(ManualPage(whole, version: version).text)
    }
  }
}
