/// An invalid command line; its description is a sentence for the user.
package enum UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  case unknownCommand(String, in: String, suggestion: String?)
  case unknownOption(String, command: String, suggestion: String?)
  case missingValue(option: String, valueName: String)
  case unexpectedValue(option: String, value: String)
  case repeatedOption(String)
  case unexpectedOperand(String, command: String)
  case missingOperand(String, command: String)
  case notANumber(option: String, text: String)
  case outOfRange(option: String, number: Int, allowed: ClosedRange<Int>)
  case unknownChoice(option: String, text: String, choices: [String], suggestion: String?)
  case notAURL(option: String, form: String)
  case conflict(String, String)
  /// An option that is useless without another.
  case missingCompanion(String, String)
  case wrongForm(option: String, text: String, form: String)

  package var description: String {
    switch self {
    case .unknownCommand(let name, let parent, let suggestion):
      "'\(parent)' has no command '\(name)'.\(_meant(suggestion, or: "See '\(parent) --help'."))"
    case .unknownOption(let option, let command, let suggestion):
      "'\(command)' has no option '\(option)'.\(_meant(suggestion, or: "See '\(command) --help'."))"
    case .missingValue(let option, let valueName):
      "Option '\(option)' needs a value: '\(option) \(valueName)'."
    case .unexpectedValue(let option, let value):
      "Option '\(option)' takes no value, but was given '\(value)'."
    case .repeatedOption(let option):
      "Option '\(option)' was given more than once; it can be given once only."
    case .unexpectedOperand(let operand, let command):
      "'\(command)' does not know what to do with '\(operand)'. See '\(command) --help'."
    case .missingOperand(let operand, let command):
      "'\(command)' needs \(operand). See '\(command) --help'."
    case .notANumber(let option, let text):
      "Option '\(option)' needs a whole number, but was given '\(text)'."
    case .outOfRange(let option, let number, let allowed):
      allowed.upperBound == .max
        ? "Option '\(option)' must be at least \(allowed.lowerBound), but was given \(number)."
        : "Option '\(option)' must be from \(allowed.lowerBound) to \(allowed.upperBound), "
          + "but was given \(number)."
    case .unknownChoice(let option, let text, let choices, let suggestion):
      "Option '\(option)' does not know '\(text)'."
        + _meant(suggestion, or: "It knows \(choices.joined(separator: ", ")).")
    case .notAURL(let option, let form):
      // Without the value, which may contain a password.
      "'\(option)' takes a URL of the form \(form)."
    case .conflict(let one, let other):
      "Options '\(one)' and '\(other)' cannot be given together."
    case .missingCompanion(let option, let other):
      "Option '\(option)' needs '\(other)' as well."
    case .wrongForm(let option, let text, let form):
      "Option '\(option)' needs the form '\(form)', but was given '\(text)'."
    }
  }

  private func _meant(_ suggestion: String?, or otherwise: String) -> String {
    suggestion.map(SpellingSuggestion.question) ?? " " + otherwise
  }
}
