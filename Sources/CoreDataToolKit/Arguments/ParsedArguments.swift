/// The arguments of a command, validated against its syntax.
package struct ParsedArguments: Sendable, Equatable {
  /// Values by option name, in the order given; a flag has an empty list.
  package let values: [String: [String]]
  package let operands: [String]

  package init(values: [String: [String]] = [:], operands: [String] = []) {
    self.values = values
    self.operands = operands
  }

  /// Whether the option was given.
  package func has(_ option: String) -> Bool { values[option] != nil }

  /// The option's value, nil if it was not given.
  package func text(_ option: String) -> String? { values[option]?.last }

  /// The option's value as a whole number, nil if it was not given.
  package func integer(_ option: String, in allowed: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = text(option) else { return nil }
    guard let number = Int(text) else { throw .notANumber(option: "--" + option, text: text) }
    guard allowed.contains(number) else {
      throw .outOfRange(option: "--" + option, number: number, allowed: allowed)
    }
    return number
  }

  /// The option's value as one of a few words, nil if it was not given.
  package func choice<Choice>(_ option: String) throws(UsageError) -> Choice?
  where Choice: CaseIterable & RawRepresentable, Choice.RawValue == String {
    guard let text = text(option) else { return nil }
    return try _choice(option, text)
  }

  /// The option's values as words of a few, separated by commas or in several options; nil if it was not
  /// given. A word given twice counts once.
  package func choices<Choice>(_ option: String) throws(UsageError) -> [Choice]?
  where Choice: CaseIterable & RawRepresentable & Equatable, Choice.RawValue == String {
    guard let texts = values[option] else { return nil }
    var chosen: [Choice] = []
    for text in texts {
      for word in text.split(separator: ",", omittingEmptySubsequences: false) {
        let trimmed = word.drop { $0 == " " }
        let choice: Choice = try _choice(option, String(trimmed))
        if !chosen.contains(choice) { chosen.append(choice) }
      }
    }
    return chosen
  }

  private func _choice<Choice>(_ option: String, _ text: String) throws(UsageError) -> Choice
  where Choice: CaseIterable & RawRepresentable, Choice.RawValue == String {
    if let choice = Choice(rawValue: text) { return choice }
    let all = Choice.allCases.map(\.rawValue)
    throw .unknownChoice(
      option: "--" + option, text: text, choices: all,
      suggestion: SpellingSuggestion.nearest(to: text, among: all))
  }
}
