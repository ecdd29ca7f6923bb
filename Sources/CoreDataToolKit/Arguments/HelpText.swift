/// Renders a command's help for a terminal of some width.
package struct HelpText: Sendable {
  private let _width: Int

  /// Help wrapped to `width` columns, except for longer words.
  package init(width: Int) { _width = max(40, width) }

  /// The whole page.
  package func text(for command: CommandSyntax, path: [String]) -> String {
    var sections = [command.summary, "Usage: " + Self.usage(command, path)]
    _add("Commands", command.subcommands.map { ($0.name, $0.summary) }, to: &sections)
    _add("Arguments", command.operands.map { ($0.name, $0.summary) }, to: &sections)
    let options = command.options.filter { !$0.isHidden }.map { ($0.spelling, $0.summary) }
    let general = path.count == 1 ? [("--version", "Show the version.")] : []
    _add("Options", options + general + [("--help", "Show this help.")], to: &sections)
    sections += command.discussion.map { wrapped($0, indent: 0).joined(separator: "\n") }
    if !command.examples.isEmpty {
      sections.append((["Examples:"] + command.examples.map { "  " + $0 }).joined(separator: "\n"))
    }
    _add("Exit codes", command.exitCodes.map { (String($0.rawValue), $0.meaning) }, to: &sections)
    return sections.joined(separator: "\n\n") + "\n"
  }

  /// The form of a command line, such as `coredata store info STORE`.
  static func usage(_ command: CommandSyntax, _ path: [String]) -> String {
    var words = path
    if !command.subcommands.isEmpty { words.append("COMMAND") }
    if command.options.contains(where: { !$0.isHidden }) { words.append("[options]") }
    words += command.operands.map {
      let name = $0.repeats ? $0.name + " ..." : $0.name
      return $0.isOptional ? "[\(name)]" : name
    }
    return words.joined(separator: " ")
  }

  private func _add(_ title: String, _ entries: [(name: String, text: String)], to sections: inout [String]) {
    guard !entries.isEmpty else { return }
    let column = min(28, (entries.map { TextWidth.of($0.name) }.max() ?? 0) + 4)
    var lines = [title + ":"]
    for entry in entries {
      let name = "  " + entry.name
      var text = wrapped(entry.text, indent: column)
      if TextWidth.of(name) + 2 > column {
        lines.append(name)
      } else {
        let first = text.removeFirst().drop { $0 == " " }
        lines.append(TextWidth.padded(name, to: column) + first)
      }
      lines += text
    }
    sections.append(lines.joined(separator: "\n"))
  }

  /// Lines of a paragraph, each indented. Never empty.
  package func wrapped(_ paragraph: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in paragraph.split(separator: " ") {
      if !line.isEmpty, indent + TextWidth.of(line) + 1 + TextWidth.of(String(word)) > _width {
        lines.append(margin + line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    lines.append(margin + line)
    return lines
  }
}
