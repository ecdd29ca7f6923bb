/// The syntax of a command and its help texts.
package struct CommandSyntax: Sendable {
  /// An argument that is not an option.
  package struct Operand: Sendable {
    package let name: String
    package let isOptional: Bool
    /// Whether any number may be given, for one operand of a command.
    package let repeats: Bool
    package let summary: String
    /// The permitted words, if they are few; shells complete these, and otherwise file names.
    package let choices: [String]
    /// What shells complete it with, once a store is on the command line.
    package let names: StoreNames?

    package init(
      _ name: String, isOptional: Bool = false, repeats: Bool = false, choices: [String] = [],
      names: StoreNames? = nil, _ summary: String
    ) {
      self.names = names
      self.name = name
      self.isOptional = isOptional
      self.repeats = repeats
      self.choices = choices
      self.summary = summary
    }
  }

  package let name: String
  /// One line.
  package let summary: String
  /// Paragraphs that help shows below the options.
  package let discussion: [String]
  /// Example command lines for help, verbatim.
  package let examples: [String]
  package let options: [OptionSyntax]
  package let operands: [Operand]
  package let subcommands: [CommandSyntax]
  /// Codes with which the command can end, for help.
  package let exitCodes: [ExitCode]

  package init(
    _ name: String, summary: String, discussion: [String] = [], examples: [String] = [],
    options: [OptionSyntax] = [], operands: [Operand] = [], subcommands: [CommandSyntax] = [],
    exitCodes: [ExitCode] = []
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.examples = examples
    self.options = options
    self.operands = operands
    self.subcommands = subcommands
    self.exitCodes = exitCodes
  }

  /// The same command with one more command below it.
  func adding(_ command: CommandSyntax) -> CommandSyntax {
    CommandSyntax(
      name, summary: summary, discussion: discussion, examples: examples, options: options,
      operands: operands, subcommands: subcommands + [command], exitCodes: exitCodes)
  }
}
