extension Command {
  /// `TOOL completion SHELL`: writes a shell's completion script for the tool's command lines.
  static func completion(of tool: CommandSyntax) -> Command {
    let own = CommandSyntax(
      "completion", summary: "Write a script that makes a shell complete command lines.",
      discussion: [
        "bash: put 'source <(\(tool.name) completion bash)' into ~/.bashrc.",
        "zsh: write it to a file named _\(tool.name) in a directory of $fpath.",
        "fish: write it to ~/.config/fish/completions/\(tool.name).fish.",
      ],
      examples: ["source <(\(tool.name) completion bash)"],
      operands: [
        CommandSyntax.Operand(
          "SHELL", choices: CompletionScript.Shell.allCases.map(\.rawValue), "bash, zsh or fish.")
      ], exitCodes: [.success, .usage])
    let whole = tool.adding(own)
    return Command(own) { arguments, environment in
      let word = arguments.operands[0]
      guard let shell = CompletionScript.Shell(rawValue: word) else {
        throw ToolFailure(
          .usage,
          "There is no completion for '\(word)'."
            + SpellingSuggestion.question(
              about: word, among: CompletionScript.Shell.allCases.map(\.rawValue),
              or: " There is for bash, zsh and fish."))
      }
      try environment.output(CompletionScript(whole).text(for: shell))
    }
  }
}
