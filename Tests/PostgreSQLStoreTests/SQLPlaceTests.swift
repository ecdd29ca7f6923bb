import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// The places where the store builds SQL text. A new place fails the test until its pieces are reviewed and
/// listed.
@Suite struct SQLPlaceTests {
  /// Files with SQL text, and the number of pieces in each.
  private static let _places: [String: Int] = [
    "PostgreSQLAdministration+Contraction.swift": 1,
    "PostgreSQLAdministration.swift": 5,
    "PostgreSQLBatchUpdate.swift": 4,
    "PostgreSQLCapabilities.swift": 1,
    "PostgreSQLCaseRules.swift": 3,
    "PostgreSQLCatalog.swift": 1,
    "PostgreSQLChangeFeed.swift": 1,
    "PostgreSQLCollations.swift": 1,
    "PostgreSQLContraction.swift": 2,
    "PostgreSQLDeletionTriggers.swift": 7,
    "PostgreSQLDialect.swift": 4,
    "PostgreSQLEarlierVersions.swift": 3,
    "PostgreSQLEpochs.swift": 12,
    "PostgreSQLExpansion.swift": 6,
    "PostgreSQLFunctions.swift": 4,
    "PostgreSQLHistoryEntry.swift": 3,
    "PostgreSQLHistoryFollower.swift": 1,
    "PostgreSQLHistoryMigration.swift": 7,
    "PostgreSQLIndex.swift": 2,
    "PostgreSQLIndexBuilding.swift": 6,
    "PostgreSQLKeys.swift": 2,
    "PostgreSQLMetadata.swift": 3,
    "PostgreSQLMigratingStore.swift": 16,
    "PostgreSQLOpening.swift": 9,
    "PostgreSQLOwnTables.swift": 8,
    "PostgreSQLPresence.swift": 2,
    "PostgreSQLReceipt.swift": 1,
    "PostgreSQLReceiptPruning.swift": 1,
    "PostgreSQLRelation.swift": 2,
    "PostgreSQLRenaming.swift": 3,
    "PostgreSQLReplica.swift": 2,
    "PostgreSQLTableChanges.swift": 10,
    "PostgreSQLRewriting.swift": 8,
    "PostgreSQLRowLinks.swift": 4,
    "PostgreSQLRowReader.swift": 1,
    "PostgreSQLSave+Constraints.swift": 2,
    "PostgreSQLSave+Derived.swift": 1,
    "PostgreSQLSave+Locks.swift": 5,
    "PostgreSQLSave+Rules.swift": 2,
    "PostgreSQLSave+ToMany.swift": 7,
    "PostgreSQLSave.swift": 1,
    "PostgreSQLSaveTransaction.swift": 1,
    "PostgreSQLSchema+Comments.swift": 1,
    "PostgreSQLSchema+TextIndexes.swift": 4,
    "PostgreSQLSchema+Views.swift": 3,
    "PostgreSQLSchema.swift": 6,
    "PostgreSQLSchemaCheck.swift": 7,
    "PostgreSQLScript.swift": 3,
    "PostgreSQLSession.swift": 2,
    "PostgreSQLStoreCheck.swift": 7,
    "PostgreSQLStoreCopy.swift": 1,
    "PostgreSQLStoreEngine+History.swift": 5,
    "PostgreSQLStoreEngine+Marking.swift": 4,
    "PostgreSQLTimelines.swift": 3,
    "PostgreSQLBlockers.swift": 1,
    "PostgreSQLStoreEngine+Notifying.swift": 1,
    "PostgreSQLStoreKind.swift": 2,
    "PostgreSQLStoreLock.swift": 2,
    "PostgreSQLTableTraits.swift": 7,
    "PostgreSQLTriggers.swift": 35,
    "PostgreSQLTypes.swift": 7,
    "PostgreSQLWritePlans.swift": 14,
  ]

  private static let _keywords: Set<Substring> = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "LISTEN", "COMMENT", "WHERE", "FROM",
    "VALUES",
    "GROUP", "ORDER", "JOIN",
  ]

  /// Text that becomes part of SQL: quoted names, numbers of the model, and other pieces of SQL. Values of
  /// the database or of a predicate are never among them.
  private static let _pieces: Set<String> = [
    "$0",
    "$0.column.name",
    "$0.name",
    "PostgreSQLCatalog.functions",
    "PostgreSQLCatalog.relations",
    "PostgreSQLEpochs.models(_address.schema)",
    "PostgreSQLError._rowsNotWritten",
    "PostgreSQLEpochs.models(_beside)",
    "PostgreSQLEpochs.models(schema)",
    "PostgreSQLEpochs.table(schema)",
    "PostgreSQLKeys.blockSize",
    "PostgreSQLKeys.countedPart",
    "PostgreSQLKeys.sequence(of: original)",
    "PostgreSQLKeys.sequence(of: table)",
    "PostgreSQLNames.body(body)",
    "PostgreSQLNames.bytes(_metadata)",
    "PostgreSQLNames.bytes(_model)",
    "PostgreSQLNames.literal",
    "PostgreSQLNames.literal(PostgreSQLKeys.sequence(of: table))",
    "PostgreSQLNames.literal(_locale)",
    "PostgreSQLNames.literal(comment.text)",
    "PostgreSQLNames.literal(name)",
    "PostgreSQLNames.literal(sequence)",
    "PostgreSQLNames.literal(text)",
    "PostgreSQLNames.quoted(_schemaName)",
    "PostgreSQLNames.quoted(address.schema)",
    "PostgreSQLNames.quoted(engine.channel)",
    "PostgreSQLNames.quoted(found.string(row, 0))",
    "PostgreSQLNames.quoted(found.string(row, 1))",
    "PostgreSQLNames.quoted(name)",
    "PostgreSQLNames.quoted(old.owner)",
    "PostgreSQLNames.quoted(other)",
    "PostgreSQLNames.quoted(schema)",
    "PostgreSQLNames.quoted(table)",
    "PostgreSQLNames.quoted(table.name)",
    "PostgreSQLTriggers.report",
    "Self._alike",
    "Self._largestLocked",
    "Self._plain(other)",
    "Self._plain(sequences[1])",
    "Self._portion",
    "Self.epoch",
    "Self.table(schema)",
    "_changed",
    "_changes",
    "_column",
    "_columns",
    "_columns(table)",
    "_columns(table, after: present)",
    "_epoch",
    "_family",
    "_history",
    "_isDeterministic",
    "_list(parameter, kind)",
    "_mapping.table(of: destination).name",
    "_mapping.table(of: layout.entityNumber).name",
    "_mapping.table(of: table.key).name",
    "_other",
    "_parent._s",
    "_place",
    "_position",
    "_qualified(name)",
    "_s",
    "_start",
    "_table",
    "_target(grant, now)",
    "_value",
    "_word(relation.kind)",
    "actions.joined(separator:",
    "age",
    "aliases",
    "all.bracketed(escape)",
    "arguments",
    "arrays",
    "arrays.count + 1",
    "barrier",
    "body",
    "cases",
    "catalog",
    "change",
    "child",
    "column",
    "columns",
    "columns.joined(separator:",
    "columns.map {",
    "columns.name",
    "condition",
    "conditions.count + 1",
    "conditions.joined(separator:",
    "constraint.columns.joined(separator:",
    "constraint.table",
    "content",
    "deletion",
    "differs",
    "digest",
    "elements.joined(separator:",
    "elements[0]",
    "elements[1]",
    "ends.member",
    "ends.owner",
    "entities.joined(separator:",
    "entity",
    "entity.storedNumber.old",
    "epoch",
    "epochs.current",
    "epochs.writesFrom",
    "event",
    "first",
    "folded",
    "former.viewName(of: table)",
    "from",
    "function",
    "index.table",
    "insertion",
    "isUnique ?",
    "join",
    "join.first",
    "join.name",
    "join.second",
    "kept",
    "key",
    "keys",
    "kind",
    "kind.rawValue",
    "last.number",
    "last.transaction",
    "layout.entityNumber",
    "list",
    "list.joined(separator: \", \")",
    "list.joined(separator:",
    "lists.values",
    "mapped",
    "mapping.numbers.stored(for: layout.entityNumber)",
    "mapping.table(of: number).name",
    "mapping.table(of: root).name",
    "member",
    "members",
    "models(schema)",
    "name",
    "names.joined(separator:",
    "now[index]",
    "number",
    "numbers",
    "object",
    "order",
    "orders",
    "other",
    "owner",
    "parts.joined(separator:",
    "plan.old.joins[$0].name",
    "plan.old.tables[$0].name",
    "portion",
    "position",
    "prefix",
    "property.map(PostgreSQLNames.literal) ?? \"NULL\"",
    "quotedSchema",
    "reader.lists.values",
    "receipt",
    "result",
    "role",
    "root",
    "rows",
    "runs",
    "s",
    "schema",
    "schema.viewName(of: table)",
    "select",
    "sequence",
    "sequences[0]",
    "set",
    "settings.joined(separator:",
    "source",
    "sql",
    "sql: cast",
    "sql: from",
    "sql: order",
    "start",
    "subject",
    "table",
    "table(schema)",
    "table.columns",
    "table.columns[column].name",
    "table.columns[key].name",
    "table.first",
    "table.from",
    "table.member",
    "table.name",
    "table.owner",
    "table.second",
    "tables",
    "target",
    "target.columns[back].name",
    "target.name",
    "terms.joined(separator:",
    "total",
    "unnest",
    "unset",
    "value",
    "values.joined(separator:",
    "view",
    "viewName",
    "volatility",
    "wait",
    "wanted",
    #"PostgreSQLNames.body(" SELECT \(body) ")"#,
    #"PostgreSQLNames.literal("Number of the object's entity: " + numbers.joined(separator: ", "))"#,
    #"_plan.newKey(of: "\"key\"", entity: "\"entity\"")"#,
    #"_plan.newNumber(of: "\"entity\"")"#,
    #"aliases.joined(separator: ", ")"#,
    #"arrays.joined(separator: ", ")"#,
    #"columns.joined(separator: ", ")"#,
    #"conditions.joined(separator: " AND ")"#,
    #"isStrict ? " STRICT" : """#,
    #"names.joined(separator: ", ")"#,
    #"numbers.joined(separator: ", ")"#,
    #"sets.joined(separator: ", ")"#,
    #"settings.joined(separator: ", ")"#,
  ]

  /// The module's sources.
  private static var _sources: [URL] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources/CoreDataPostgreSQL")
    let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap {
      $0 as? URL
    }
    return files?.filter { $0.pathExtension == "swift" } ?? []
  }

  @Test func `every place that makes SQL text is known`() throws {
    var places: [String: Int] = [:]
    var pieces: Set<String> = []
    for file in Self._sources {
      for literal in Self._literals(in: try String(contentsOf: file, encoding: .utf8))
      where !Self._keywords.isDisjoint(with: literal.split { !$0.isASCII || !$0.isLetter }) {
        places[file.lastPathComponent, default: 0] += 1
        pieces.formUnion(Self._interpolations(in: literal))
      }
    }
    #expect(places == Self._places, "look at what is new, and add it here")
    #expect(pieces.subtracting(Self._pieces).sorted() == [], "what is this, and can it hold a value?")
  }

  /// Words before a parenthesis that are SQL's own, and not a function that is looked for by name: among them `normalize` with a
  /// form, and `unnest` with several arrays.
  private static let _syntax: Set<Substring> = [
    "as", "bit", "by", "coalesce", "extract", "greatest", "in", "normalize", "nullif", "over", "unnest",
  ]

  // Another function of the name in 'public' or the schema of an extension, with parameters that fit better, would be called
  // with the rights of the program.
  @Test func `the server's functions are called by their schema`() throws {
    var found: [String] = []
    for file in Self._sources {
      for literal in Self._literals(in: try String(contentsOf: file, encoding: .utf8)) {
        let sql = Self._interpolations(in: literal).reduce(literal) { $0.replacing("\\(\($1))", with: "?") }
        for match in sql.matches(of: /(?:^|[^.\w"\\])([a-z][a-z_0-9]+)\(/)
        where !Self._syntax.contains(match.1) {
          found.append("\(file.lastPathComponent): \(match.1)")
        }
        if sql.contains(/(?:^|[^.\w])unnest\([^,?)]*\)/) { found.append("\(file.lastPathComponent): unnest") }
      }
    }
    #expect(found == [])
  }

  /// Returns the string literals of a source.
  private static func _literals(in source: String) -> [String] {
    let quotes = "\"\"\""
    var result: [String] = []
    for (number, part) in source.components(separatedBy: quotes).enumerated() {
      if number % 2 == 1 {
        result.append(part)
        continue
      }
      for line in part.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for match in line.matches(of: /"((?:[^"\\]|\\.)*)"/) { result.append(String(match.1)) }
      }
    }
    return result
  }

  @Test(arguments: ["SQL_ASCII", "LATIN1"])
  func `a database that is not in UTF8 is refused`(_ encoding: String) throws {
    let server = try #require(PostgreSQLServer.shared)
    let session = try ServerSession(server.newURL())
    let name = "text_\(encoding.lowercased())"
    try session.connection.execute("DROP DATABASE IF EXISTS \(name)")
    try session.connection.execute(
      "CREATE DATABASE \(name) ENCODING '\(encoding)' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    var components = try #require(
      URLComponents(url: server.directURL(server.newURL()), resolvingAgainstBaseURL: false))
    components.path = "/\(name)"
    let url = try #require(components.url)
    let error = #expect(throws: CocoaError.self) { try ServerStack(at: url) }
    #expect(error?.errorCode == NSPersistentStoreOpenError)
    #expect("\(error as Any)".contains("is \(encoding), and a store needs UTF8"), "\(error as Any)")
  }

  /// Returns the text between `\(` and `)`.
  private static func _interpolations(in literal: String) -> [String] {
    var result: [String] = []
    var rest = Substring(literal)
    while let start = rest.range(of: "\\(") {
      var depth = 1
      var end = start.upperBound
      while end < rest.endIndex, depth > 0 {
        if rest[end] == "(" { depth += 1 }
        if rest[end] == ")" { depth -= 1 }
        end = rest.index(after: end)
      }
      result.append(String(rest[start.upperBound..<end].dropLast()))
      rest = rest[end...]
    }
    return result
  }
}
