import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata model diff`.
  static let diff = Command(
    CommandSyntax(
      "diff", summary: "Say what changed between two models, and whether lightweight migration carries it.",
      discussion: [
        "Compares first what decides whether a store opens: models with equal version hashes are the same model for stores, and "
          + "what else differs, such as indexes, class names and default values, is noted.",
        "Says for each change what becomes of the data in existing stores, and what a number may lose whose type changes. "
          + "With --strict the code is 65 if lightweight migration cannot carry the change, may fail, or may lose data.",
      ],
      examples: [
        "coredata model diff Books.xcdatamodeld/Books.xcdatamodel 'Books.xcdatamodeld/Books 2.xcdatamodel'",
        "coredata model diff Books.sqlite Books.xcdatamodeld --strict",
      ],
      options: [jsonOption, .flag("strict", "Fail for what is lost or needs a mapping model.")],
      operands: [
        CommandSyntax.Operand("OLD", "The model that stores have now."),
        CommandSyntax.Operand("NEW", "The model that they are to have."),
      ], exitCodes: [.success, .usage, .badInput, .noInput])
  ) { arguments, environment in
    let diff = SchemaDiff(
      from: try ModelInput.load(arguments.operands[0]), to: try ModelInput.load(arguments.operands[1]))
    let report = DiffReport(diff)
    try environment.output(
      arguments.has("json")
        ? report.json.text() + "\n"
        : report.text(usesColor: environment.outputTerminal.usesColor))
    if arguments.has("strict") {
      let harmful = diff.changes.filter { [.blocked, .loses, .fails].contains($0.verdict) }
      if !harmful.isEmpty {
        throw ToolFailure(
          .badInput,
          "\(counted(harmful.count, "change")) may lose data, may fail, or \(harmful.count == 1 ? "needs" : "need") a mapping model."
        )
      }
    }
  }
}

/// A comparison in words.
struct DiffReport {
  private let _diff: SchemaDiff

  init(_ diff: SchemaDiff) { _diff = diff }

  private var _canInfer: Bool { !_diff.changes.contains { $0.verdict == .blocked } }

  func text(usesColor: Bool) -> String {
    if _diff.changes.isEmpty { return "No differences.\n" }
    if _diff.isSameVersion { return _notes(usesColor: usesColor) }
    var table = TextTable([
      TextTable.Column("where", .left), TextTable.Column("change", .left),
      TextTable.Column("migration", .left),
      TextTable.Column("why", .left),
    ])
    for change in _diff.changes {
      table.add([
        .init(change._place), .init(change.what), .init(change.verdict._shown), .init(change.why),
      ])
    }
    let harm = [
      (SchemaChange.Verdict.loses, "loses data", "lose data"),
      (.fails, "fails at objects without a value", "fail at objects without a value"),
    ].compactMap { verdict, one, several in
      let count = _diff.changes.count { $0.verdict == verdict }
      return count == 0 ? nil : "; \(counted(count, "change")) \(count == 1 ? one : several)"
    }
    let end =
      _canInfer
      ? "Lightweight migration can carry this\(harm.joined()).\n"
      : "Lightweight migration cannot carry this: see the changes that need a mapping model.\n"
    return table.text(usesColor: usesColor) + end
  }

  private func _notes(usesColor: Bool) -> String {
    var table = TextTable([
      TextTable.Column("where", .left), TextTable.Column("note", .left), TextTable.Column("why", .left),
    ])
    for change in _diff.changes {
      table.add([.init(change._place), .init(change.what), .init(change.why)])
    }
    return "The same model: all version hashes are equal, so that stores of one open with the other.\n\n"
      + table.text(usesColor: usesColor)
  }

  var json: JSONText {
    .object([
      ("isSameModel", .boolean(_diff.isSameVersion)), ("isLightweight", .boolean(_canInfer)),
      (
        "changes",
        .array(
          _diff.changes.map {
            .object([
              ("entity", .string($0.entity)), ("property", $0.property.map(JSONText.string) ?? .null),
              ("change", .string($0.what)), ("verdict", .string($0.verdict.rawValue)),
              ("why", .string($0.why)),
            ])
          })
      ),
    ])
  }
}

extension SchemaChange {
  fileprivate var _place: String { property.map { "\(entity).\($0)" } ?? entity }
}

extension SchemaChange.Verdict {
  fileprivate var _shown: String {
    switch self {
    case .free: "nothing to do"
    case .inferred: "inferred"
    case .loses: "inferred, loses data"
    case .fails: "inferred, fails at objects without a value"
    case .blocked: "needs a mapping model"
    }
  }
}
