import CoreData
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata store history`.
  static let history = Command(
    CommandSyntax(
      "history", summary: "List the transactions in a store's persistent history, with their changes.",
      discussion: ["A store has a history if its program asked for one with NSPersistentHistoryTrackingKey."],
      examples: [
        "coredata store history Books.sqlite --limit 10",
        "coredata store history Books.sqlite --since 2024-02-29 --entity Book --json",
      ],
      options: [
        StoreArguments.model,
        .value("since", "DATE", "Only transactions after this moment, such as 2024-02-29T12:00:00Z."),
        .value("author", "NAME", "Only transactions of this author."),
        OptionSyntax.value("entity", "NAME", "Only changes of objects of this entity and its subentities.")
          .completed(with: .entities),
        .value("limit", "N", "The last so many transactions."), StoreArguments.zone,
        StoreArguments.json,
      ], operands: [StoreArguments.store], exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    try StoreArguments.expectFile(
      arguments,
      "Copies have no history. A program reads it by NSPersistentHistoryChangeRequest, and psql in the tables _history and "
        + "_history_change.")
    let zone = try StoreArguments.zone(arguments)
    let since = try StoreArguments.moment("since", arguments, in: zone)?.begin
    let limit = try arguments.integer("limit", in: 1...Int(Int32.max))
    let author = arguments.text("author")
    let input = try StoreInput(arguments, environment)
    try input.reading { reader in
      let entity = try arguments.text("entity").map { try reader.layout.entity(named: $0) }
      guard let all = try reader.history(after: since, isWanted: { author == nil || $0.author == author })
      else {
        throw ToolFailure(.badInput, "'\(input.name)' has no history: its program did not ask for one.")
      }
      let listing = HistoryListing(
        HistoryListing.chosen(all, of: entity).suffix(limit ?? .max), ValueText(reader.layout, zone), zone)
      try environment.output(
        arguments.has("json") ? listing.json.text() + "\n" : listing.text(environment.outputTerminal))
    }
  }
}

/// Transactions in words.
struct HistoryListing {
  private let _transactions: [StoredTransaction]
  private let _text: ValueText
  private let _zone: TimeZoneText

  init(_ transactions: some Sequence<StoredTransaction>, _ text: ValueText, _ zone: TimeZoneText) {
    _transactions = Array(transactions)
    (_text, _zone) = (text, zone)
  }

  /// Transactions with changes of an entity's objects, reduced to those changes; all for nil.
  static func chosen(_ all: [StoredTransaction], of entity: PropertyLayout?) -> [StoredTransaction] {
    guard let entity else { return all }
    return all.map { $0.keeping { entity.family.contains($0.reference.entity) } }.filter {
      !$0.changes.isEmpty
    }
  }

  func text(_ terminal: Terminal) -> String {
    if _transactions.isEmpty { return "No transactions.\n" }
    let help = HelpText(width: terminal.isInteractive ? terminal.width : 100)
    var text = ""
    for transaction in _transactions {
      let facts = [
        "\(transaction.number)", _zone.shown(transaction.moment), transaction.bundleID,
        transaction.processID,
        transaction.author.map { "by \($0)" } ?? "", transaction.contextName.map { "in \($0)" } ?? "",
      ].filter { !$0.isEmpty }
      let head = help.wrapped(facts.joined(separator: "  "), indent: 0).joined(separator: "\n")
      text += TextStyle.bold.applied(to: head, usesColor: terminal.usesColor) + "\n"
      for change in transaction.changes {
        var words = "\(change.kind.rawValue) \(_text.identifier(change.reference))"
        if !change.properties.isEmpty { words += ": \(change.properties.joined(separator: ", "))" }
        let kept = change.tombstone.filter { $0.value != .null }.map {
          "\($0.attribute.name) = \(_text.shown($0.value, of: $0.attribute))"
        }
        if !kept.isEmpty { words += ", of which is kept \(kept.joined(separator: ", "))" }
        text += help.wrapped(words, indent: 2).joined(separator: "\n") + "\n"
      }
    }
    return text + "\(counted(_transactions.count, "transaction")), "
      + "\(counted(_transactions.reduce(0) { $0 + $1.changes.count }, "change")).\n"
  }

  var json: JSONText {
    .array(
      _transactions.map { transaction in
        .object([
          ("number", .integer(Int(transaction.number))),
          ("timestamp", .string(_zone.text(transaction.moment))),
          ("author", transaction.author.map(JSONText.string) ?? .null),
          ("contextName", transaction.contextName.map(JSONText.string) ?? .null),
          ("bundleID", .string(transaction.bundleID)), ("processID", .string(transaction.processID)),
          ("changes", .array(transaction.changes.map(_json))),
        ])
      })
  }

  private func _json(_ change: StoredChange) -> JSONText {
    .object([
      ("kind", .string(change.kind.rawValue)), ("object", .string(_text.identifier(change.reference))),
      ("properties", .array(change.properties.map(JSONText.string))),
      (
        "kept",
        .object(
          change.tombstone.map {
            ($0.attribute.name, _text.plain($0.value, of: $0.attribute).map(JSONText.string) ?? .null)
          })
      ),
    ])
  }
}
