/// Scripts with which a shell completes a tool's commands, options and values.
package struct CompletionScript: Sendable {
  package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

  /// A command with the words that lead to it.
  private struct Node {
    let path: [String]
    let command: CommandSyntax

    /// The words after the tool's name, as one.
    var key: String { path.dropFirst().joined(separator: " ") }
    var options: [OptionSyntax] { command.options.filter { !$0.isHidden } }
  }

  private let _tool: String
  private let _nodes: [Node]

  /// Scripts for a tool with this syntax.
  package init(_ root: CommandSyntax) {
    _tool = root.name
    var nodes: [Node] = []
    func visit(_ command: CommandSyntax, _ path: [String]) {
      nodes.append(Node(path: path, command: command))
      for next in command.subcommands { visit(next, path + [next.name]) }
    }
    visit(root, [root.name])
    _nodes = nodes
  }

  /// The script for a shell.
  package func text(for shell: Shell) -> String {
    switch shell {
    case .bash: _bash
    case .zsh: _zsh
    case .fish: _fish
    }
  }

  private static func _takesFile(_ option: OptionSyntax) -> Bool {
    ["FILE", "DIRECTORY", "PATH"].contains(option.valueName) && option.choices.isEmpty
  }

  private func _flags(_ node: Node) -> [String] {
    node.options.map { "--\($0.name)" } + (node.path.count == 1 ? ["--version"] : []) + ["--help"]
  }

  /// The sources of names that the tool's commands have.
  private var _sources: [StoreNames] {
    let used = Set(
      _nodes.flatMap { $0.options.compactMap(\.names) + $0.command.operands.compactMap(\.names) })
    return StoreNames.allCases.filter(used.contains)
  }

  // MARK: bash

  private var _bash: String {
    let function = "_\(_identifier)"
    var text = "# bash completion of \(_tool). In ~/.bashrc: source <(\(_tool) completion bash)\n"
    text += _sources.map { $0.bash(function) }.joined()
    text +=
      "\(function)() {\n  local names word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path= next i\n"
    text += "  COMPREPLY=()\n  for ((i = 1; i < COMP_CWORD; i++)); do\n"
    text += "    next=\"${path:+$path }${COMP_WORDS[i]}\"\n    case $next in\n"
    text += "      \(_keys.map { "'\($0)'" }.joined(separator: "|"))) path=$next ;;\n    esac\n  done\n"
    text += "  case \"$path:$before\" in\n"
    for node in _nodes {
      for option in node.options where option.valueName != nil {
        let label = "'\(node.key):--\(option.name)'"
        if !option.choices.isEmpty {
          text +=
            "    \(label)) COMPREPLY=($(compgen -W '\(option.choices.joined(separator: " "))' -- \"$word\")); return ;;\n"
        } else if let names = option.names {
          // Of a list the last element.
          text +=
            "    \(label)) names=$(\(function)_\(names.rawValue)); compopt -o nospace; "
            + "COMPREPLY=($(compgen -P \"${word%\"${word##*,}\"}\" -W \"$names\" -- \"${word##*,}\")); return ;;\n"
        } else if Self._takesFile(option) {
          text += "    \(label)) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
        } else {
          text += "    \(label)) return ;;\n"
        }
      }
    }
    text += "  esac\n  case $path in\n"
    for node in _nodes {
      let commands = node.command.subcommands.map(\.name).joined(separator: " ")
      text += "    '\(node.key)')\n"
      text +=
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '\(_flags(node).joined(separator: " "))' -- \"$word\"))\n"
      if !commands.isEmpty {
        text += "      else COMPREPLY=($(compgen -W '\(commands)' -- \"$word\"))\n"
      } else if let choices = node.command.operands.first?.choices, !choices.isEmpty {
        text += "      else COMPREPLY=($(compgen -W '\(choices.joined(separator: " "))' -- \"$word\"))\n"
      } else if let names = node.command.operands.compactMap(\.names).first {
        text +=
          "      elif names=$(\(function)_\(names.rawValue)); [[ -n $names ]]; then "
          + "COMPREPLY=($(compgen -W \"$names\" -- \"$word\"))\n"
          + "      else compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))\n"
      } else if !node.command.operands.isEmpty {
        text += "      else compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))\n"
      }
      text += "      fi ;;\n"
    }
    return text + "  esac\n}\ncomplete -F \(function) \(_tool)\n"
  }

  private var _keys: [String] { _nodes.map(\.key).filter { !$0.isEmpty } }

  private var _identifier: String { String(_tool.map { $0.isLetter || $0.isNumber ? $0 : "_" }) }

  // MARK: zsh

  private func _zshFunction(_ node: Node) -> String {
    "_"
      + ([_identifier] + node.path.dropFirst()).joined(separator: "_").map { $0 == "-" ? "_" : "\($0)" }
      .joined()
  }

  /// Text between single quotes in an argument of `_arguments`, where brackets and colons are special.
  private static func _zshText(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("'", with: "'\\''").replacing("[", with: "\\[").replacing(
      "]", with: "\\]"
    )
    .replacing(":", with: "\\:")
  }

  private var _zsh: String {
    var text =
      "#compdef \(_tool)\n# zsh completion of \(_tool): put this file, as _\(_tool), where $fpath leads.\n\n"
    let prefix = "_\(_identifier)"
    text += _sources.map { $0.zsh(prefix, tool: _tool) }.joined()
    for node in _nodes {
      text += "\(_zshFunction(node))() {\n"
      var lines = node.options.map { option in
        let repeats = option.repeats ? "*" : ""
        var line = "'\(repeats)--\(option.name)[\(Self._zshText(option.summary))]"
        if let value = option.valueName {
          let values =
            !option.choices.isEmpty
            ? "(\(option.choices.joined(separator: " ")))"
            : option.names.map { "\(prefix)_\($0.rawValue)" } ?? (Self._takesFile(option) ? "_files" : " ")
          line += ":\(value):\(values)"
        }
        return line + "'"
      }
      if node.path.count == 1 { lines.append("'--version[Show the version.]'") }
      lines.append("'--help[Show help.]'")
      if node.command.subcommands.isEmpty {
        for operand in node.command.operands {
          let values =
            !operand.choices.isEmpty
            ? "(\(operand.choices.joined(separator: " ")))"
            : operand.names.map { "\(prefix)_\($0.rawValue)" } ?? "_files"
          lines.append("':\(operand.name):\(values)'")
        }
        text += "  _arguments \\\n    " + lines.joined(separator: " \\\n    ") + "\n}\n\n"
        continue
      }
      text +=
        "  local context state state_descr line\n  typeset -A opt_args\n  _arguments -C \\\n    "
        + lines.joined(separator: " \\\n    ")
      text += " \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n"
      text += "    command)\n      local -a commands=(\n"
      for next in node.command.subcommands {
        text += "        '\(next.name):\(Self._zshText(next.summary))'\n"
      }
      text += "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n"
      for next in node.command.subcommands {
        text +=
          "        \(next.name)) \(_zshFunction(Node(path: node.path + [next.name], command: next))) ;;\n"
      }
      text += "      esac ;;\n  esac\n}\n\n"
    }
    return text + "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then \(_zshFunction(_nodes[0])) \"$@\"\n"
      + "else compdef \(_zshFunction(_nodes[0])) \(_tool)\nfi\n"
  }

  // MARK: fish

  private static func _fishText(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }

  /// The condition that the command line has reached this node; for a node with subcommands, that no further
  /// word follows.
  private func _fishCondition(_ node: Node) -> String {
    let place = [node.command.subcommands.isEmpty ? "within" : "is"] + node.path.dropFirst()
    return "__\(_tool)_" + place.joined(separator: " ")
  }

  /// Functions that determine which node the command line has reached. They compare the positions of words,
  /// since one name may be a command in several groups, or that of a file.
  private var _fishFunctions: String {
    """
    function __\(_tool)_words
        set -l words (commandline -opc)
        set -e words[1]
        string match --invert -- '-*' $words
    end

    function __\(_tool)_is
        set -l words (__\(_tool)_words)
        test "$words" = "$argv"
    end

    function __\(_tool)_within
        set -l words (__\(_tool)_words)
        set -l count (count $argv)
        test (count $words) -ge $count; and test "$words[1..$count]" = "$argv"
    end


    """
  }

  private var _fish: String {
    var text = "# fish completion of \(_tool): put this into ~/.config/fish/completions/\(_tool).fish\n"
    text +=
      _fishFunctions + _sources.map { $0.fish("__\(_tool)", tool: _tool) }.joined()
      + "complete -c \(_tool) -f\n"
    for node in _nodes {
      let lead = "complete -c \(_tool) -n \(Self._fishText(_fishCondition(node)))"
      for next in node.command.subcommands {
        text += "\(lead) -a \(next.name) -d \(Self._fishText(next.summary))\n"
      }
      for option in node.options {
        var line = "\(lead) -l \(option.name) -d \(Self._fishText(option.summary))"
        if option.valueName != nil {
          line +=
            !option.choices.isEmpty
            ? " -x -a \(Self._fishText(option.choices.joined(separator: " ")))"
            : option.names.map { names in
              names == .properties
                ? " -x -a '(__fish_complete_list , \"__\(_tool)_\(names.rawValue)\")'"
                : " -x -a '(__\(_tool)_\(names.rawValue))'"
            } ?? (Self._takesFile(option) ? " -r -F" : " -x")
        }
        text += line + "\n"
      }
      text += "\(lead) -l help -d 'Show help.'\n"
      if node.command.subcommands.isEmpty, let operand = node.command.operands.first {
        text +=
          operand.choices.isEmpty
          ? "\(lead) -F\n"
            + (node.command.operands.compactMap(\.names).first.map {
              "\(lead) -a '(__\(_tool)_\($0.rawValue))'\n"
            } ?? "")
          : "\(lead) -a \(Self._fishText(operand.choices.joined(separator: " ")))\n"
      }
    }
    return text
  }
}
