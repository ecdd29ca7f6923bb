import CoreDataToolKit

/// The parsed command line of a run.
struct LoadOptions: Sendable {
  /// The scenarios to run, in the order given.
  let scenarios: [ScenarioName]
  /// Time for each, in seconds.
  let seconds: Int

  /// - Throws: `UsageError` for a scenario that does not exist.
  init(_ arguments: ParsedArguments) throws(UsageError) {
    if arguments.has("short"), arguments.has("seconds") { throw .conflict("--short", "--seconds") }
    seconds = try arguments.integer("seconds", in: 1...86_400) ?? (arguments.has("short") ? 4 : 60)
    var named: [ScenarioName] = []
    for word in arguments.operands {
      guard let name = ScenarioName(rawValue: word) else {
        let all = ScenarioName.allCases.map(\.rawValue)
        throw .unknownChoice(
          option: "SCENARIO", text: word, choices: all,
          suggestion: SpellingSuggestion.nearest(to: word, among: all))
      }
      if !named.contains(name) { named.append(name) }
    }
    scenarios = named.isEmpty ? ScenarioName.allCases : named
  }
}
