/// One option of a command: its syntax and help text.
package struct OptionSyntax: Sendable {
  /// Without the leading dashes.
  package let name: String
  /// The letter of its short form, without the dash.
  package let short: Character?
  /// Name of the value in help; nil if the option is a flag.
  package let valueName: String?
  package let summary: String
  /// Whether the option may be given more than once.
  package let repeats: Bool
  /// Whether help omits it.
  package let isHidden: Bool
  /// The permitted values, if they are few; shells complete them.
  package let choices: [String]
  /// Name of a flag's optional value in help; nil without one. It is given as `--name=value` only.
  package var optionalValueName: String? = nil
  /// What shells complete its value with, if a store is on the command line.
  package var names: StoreNames? = nil

  /// The same option, for whose value shells offer names of the store on the command line.
  package func completed(with names: StoreNames) -> OptionSyntax {
    var copy = self
    copy.names = names
    return copy
  }

  /// An option that takes a value, as `--name value` or `--name=value`.
  package static func value(
    _ name: String, _ valueName: String, short: Character? = nil, repeats: Bool = false,
    isHidden: Bool = false, choices: [String] = [], _ summary: String
  ) -> OptionSyntax {
    OptionSyntax(
      name: name, short: short, valueName: valueName, summary: summary, repeats: repeats, isHidden: isHidden,
      choices: choices)
  }

  /// An option whose value is one of a few words.
  package static func choice<Choice>(
    _ name: String, _ valueName: String, _ type: Choice.Type, _ summary: String
  ) -> OptionSyntax where Choice: CaseIterable & RawRepresentable, Choice.RawValue == String {
    OptionSyntax(
      name: name, short: nil, valueName: valueName, summary: summary, repeats: false, isHidden: false,
      choices: Choice.allCases.map(\.rawValue))
  }

  /// An option without a value.
  package static func flag(_ name: String, _ summary: String) -> OptionSyntax {
    OptionSyntax(
      name: name, short: nil, valueName: nil, summary: summary, repeats: false, isHidden: false, choices: [])
  }

  /// A flag that may have a value as well, `--name` or `--name=value`, and may be given more than once.
  package static func flag(_ name: String, optionalValue: String, _ summary: String) -> OptionSyntax {
    OptionSyntax(
      name: name, short: nil, valueName: nil, summary: summary, repeats: true, isHidden: false, choices: [],
      optionalValueName: optionalValue)
  }

  /// The form in help: `--stops FILE`, `-o, --output FILE`.
  package var spelling: String {
    (short.map { "-\($0), " } ?? "") + "--" + name + (valueName.map { " " + $0 } ?? "")
      + (optionalValueName.map { "[=\($0)]" } ?? "")
  }

  /// Whether a word of a command line, without its value, names the option.
  func isNamed(by word: String) -> Bool { word == "--" + name || short.map { word == "-\($0)" } ?? false }
}
