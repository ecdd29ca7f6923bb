/// Writes the script by which a shell completes a tool's commands, options and files.
package struct CompletionScript: Sendable {
  package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

  private let _root: CommandSyntax

  package init(_ root: CommandSyntax) { _root = root }

  /// The script for a shell.
  package func text(for shell: Shell) -> String {
    switch shell {
    case .bash: _bash
    // zsh runs the functions of bash.
    case .zsh: "#compdef \(_root.name)\nautoload -U +X bashcompinit && bashcompinit\n" + _bash
    case .fish: _fish
    }
  }

  /// All commands with their paths, the tool itself first.
  private var _commands: [(path: [String], syntax: CommandSyntax)] {
    func below(_ path: [String], _ syntax: CommandSyntax) -> [(path: [String], syntax: CommandSyntax)] {
      [(path, syntax)] + syntax.subcommands.flatMap { below(path + [$0.name], $0) }
    }
    return below([_root.name], _root)
  }

  /// Whether a value or an operand of this name is a file.
  private static func _isFile(_ name: String) -> Bool {
    ["FILE", "PATH", "STORE", "DIRECTORY", "INPUT", "MODEL", "OLD", "NEW"].contains(name)
  }

  private func _options(_ syntax: CommandSyntax) -> [OptionSyntax] { syntax.options.filter { !$0.isHidden } }

  // MARK: bash

  private var _bash: String {
    let function = "_\(_root.name)"
    var lines = ["\(function)() {", "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path=\(_root.name) i"]
    lines.append("  for ((i = 1; i < COMP_CWORD; i++)); do")
    lines.append("    case \"$path ${COMP_WORDS[i]}\" in")
    let paths = _commands.dropFirst().map { "\"\($0.path.joined(separator: " "))\"" }
    lines.append("      \(paths.joined(separator: "|"))) path=\"$path ${COMP_WORDS[i]}\" ;;")
    lines += ["    esac", "  done", "  COMPREPLY=()", "  case \"$path\" in"]
    for (path, syntax) in _commands {
      lines.append("    \"\(path.joined(separator: " "))\")")
      lines += _bashBody(syntax).map { "      " + $0 }
      lines.append("      ;;")
    }
    lines += ["  esac", "}", "complete -o filenames -F \(function) \(_root.name)"]
    return lines.joined(separator: "\n") + "\n"
  }

  private func _bashBody(_ syntax: CommandSyntax) -> [String] {
    var lines: [String] = []
    let valued = _options(syntax).filter { $0.valueName != nil }
    let (files, others) = (valued.filter { Self._isFile($0.valueName ?? "") }, valued.filter { !Self._isFile($0.valueName ?? "") })
    if !valued.isEmpty {
      lines.append("case \"$prev\" in")
      if !files.isEmpty {
        lines.append("  \(files.map { "--" + $0.name }.joined(separator: "|"))) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;")
      }
      for option in others where !option.choices.isEmpty {
        lines.append("  --\(option.name)) COMPREPLY=($(compgen -W \"\(option.choices.joined(separator: " "))\" -- \"$cur\")); return ;;")
      }
      let free = others.filter(\.choices.isEmpty)
      if !free.isEmpty { lines.append("  \(free.map { "--" + $0.name }.joined(separator: "|"))) return ;;") }
      lines.append("esac")
    }
    let words = syntax.subcommands.map(\.name) + _options(syntax).map { "--" + $0.name } + ["--help"]
    if syntax.subcommands.isEmpty {
      lines.append("if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$cur\"))")
      lines.append("else COMPREPLY=($(compgen -f -- \"$cur\")); fi")
    } else {
      lines.append("COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$cur\"))")
    }
    return lines
  }

  // MARK: fish

  private var _fish: String {
    let function = "__\(_root.name)_is_at"
    var lines = [
      // The path of commands typed so far, compared with one.
      "function \(function)", "  set -l words (commandline -opc | string match -v -- '-*')",
      "  test \"$words[1..(count $argv)]\" = \"$argv\"; or return 1",
      "  test (count $words) -ge (count $argv)", "end",
    ]
    for (path, syntax) in _commands {
      let condition = "\(function) \(path.joined(separator: " "))"
      for child in syntax.subcommands {
        let others = syntax.subcommands.map(\.name).joined(separator: " ")
        lines.append(
          "complete -c \(_root.name) -f -n '\(condition); and not __fish_seen_subcommand_from \(others)' -a \(child.name) "
            + "-d \(_quoted(child.summary))")
      }
      for option in _options(syntax) {
        let values = option.choices.isEmpty ? "" : " -f -a '\(option.choices.joined(separator: " "))'"
        lines.append(
          "complete -c \(_root.name) -n '\(condition)' -l \(option.name)\(option.valueName == nil ? "" : " -r")\(values) "
            + "-d \(_quoted(option.summary))")
      }
    }
    lines.append("complete -c \(_root.name) -l help -d 'Show help.'")
    return lines.joined(separator: "\n") + "\n"
  }

  private func _quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}

extension CompletionScript {
  /// The command that writes the scripts for a tool.
  ///
  /// - Parameter root: the tool's syntax with this command in it.
  static func command(for tool: String, _ root: @escaping @Sendable (Command) -> CommandSyntax) -> Command {
    let syntax = CommandSyntax(
      "completion", summary: "Write the script by which a shell completes commands, options and files.",
      examples: [
        "\(tool) completion bash > ~/.local/share/bash-completion/completions/\(tool)",
        "\(tool) completion zsh > \"${fpath[1]}/_\(tool)\"",
        "\(tool) completion fish > ~/.config/fish/completions/\(tool).fish",
      ],
      operands: [CommandSyntax.Operand("SHELL", "bash, zsh or fish.")], exitCodes: [.success, .usage])
    return Command(syntax) { arguments, environment in
      let shells = Shell.allCases.map(\.rawValue)
      guard let shell = Shell(rawValue: arguments.operands[0]) else {
        let near = SpellingSuggestion.nearest(to: arguments.operands[0], among: shells)
        throw ToolFailure(
          .usage, "There is no script for '\(arguments.operands[0])'. "
            + (near.map { "Did you mean '\($0)'?" } ?? "There are scripts for \(shells.joined(separator: ", "))."))
      }
      let whole = root(Command(syntax) { _, _ in })
      environment.output(CompletionScript(whole).text(for: shell))
    }
  }
}
