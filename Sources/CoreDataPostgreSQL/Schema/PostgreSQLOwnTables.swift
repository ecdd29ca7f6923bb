/// A table that every store has, independent of its model.
struct PostgreSQLOwnTable: Sendable {
  struct Column: Sendable {
    let name: String
    let type: String
    /// The rest of the declaration, after the type.
    let rest: String
    /// Whether the column is NOT NULL.
    let isRequired: Bool

    init(_ name: String, _ type: String, _ rest: String = "", isRequired: Bool = true) {
      self.name = name
      self.type = type
      self.rest = rest
      self.isRequired = isRequired
    }
  }

  let name: String
  let columns: [Column]
  /// Names of the columns of the primary key.
  let key: [String]
  /// Rights that a role needs to read and write objects.
  let rights: [PostgreSQLRight]
  /// Further rights that a role should have: without them a program leaves out what they are for.
  var wishedRights: [PostgreSQLRight] = []

  private static let _one = Column("one", "boolean", " DEFAULT true CHECK (\"one\")")

  static let all = [
    PostgreSQLOwnTable(
      name: "_metadata", columns: [_one, Column("uuid", "uuid"), Column("content", "bytea")], key: ["one"],
      rights: [.select]),
    PostgreSQLOwnTable(
      name: "_model_cache", columns: [_one, Column("content", "bytea")], key: ["one"], rights: [.select]),
    PostgreSQLOwnTable(
      name: "_receipt",
      columns: [
        Column("id", "uuid"), Column("written", "timestamptz", " DEFAULT pg_catalog.now()"),
        Column("epoch", "bigint"),
      ], key: ["id"], rights: [.insert], wishedRights: [.select, .delete]),
    PostgreSQLOwnTable(
      name: "_epoch",
      columns: [
        _one, Column("current", "bigint"), Column("writes_from", "bigint"), Column("reads_from", "bigint"),
      ], key: ["one"], rights: [.select]),
    PostgreSQLOwnTable(
      name: "_model",
      columns: [
        Column("epoch", "bigint"), Column("digest", "text"), Column("content", "bytea"),
        Column("applied", "timestamptz", " DEFAULT pg_catalog.now()"),
        Column("by", "text", " DEFAULT current_user"),
      ], key: ["epoch"], rights: [.select]),
    PostgreSQLOwnTable(
      name: "_type",
      columns: [
        Column("number", "smallint"), Column("name", "text"), Column("since", "bigint"),
        Column("retired", "bigint", isRequired: false),
      ], key: ["number"], rights: [.select]),
    PostgreSQLOwnTable(
      name: "_history",
      columns: [
        Column("number", "bigint"), Column("time", "double precision"),
        Column("author", "text", isRequired: false), Column("context", "text", isRequired: false),
        Column("bundle", "text", isRequired: false), Column("process", "text", isRequired: false),
      ], key: ["number"], rights: [.select, .insert, .delete]),
    PostgreSQLOwnTable(
      name: "_history_change",
      columns: [
        Column("transaction", "bigint"), Column("number", "bigint"), Column("kind", "smallint"),
        Column("entity", "smallint"), Column("key", "bigint"),
        Column("properties", "text", isRequired: false), Column("tombstone", "bytea", isRequired: false),
      ], key: ["transaction", "number"], rights: [.select, .insert]),
    PostgreSQLOwnTable(
      name: "_history_counter",
      columns: [_one, Column("n", "bigint", " DEFAULT 0"), Column("changes", "bigint", " DEFAULT 0")],
      key: ["one"], rights: [.select, .update]),
    PostgreSQLOwnTable(
      name: "_name",
      columns: [
        Column("entity", "text"), Column("property", "text"), Column("relation", "text"),
        Column("columns", "text[]"),
      ], key: ["entity", "property"], rights: [.select]),
  ]

  /// Tables that an older version of the package has not made.
  static let added: Set<String> = ["_epoch", "_model", "_type"]

  /// Those that reads need and that every version of the package has made.
  static var former: [PostgreSQLOwnTable] { all.filter { !added.contains($0.name) && $0.name != "_receipt" } }

  /// Returns the statement that creates the table in a schema, given its quoted name.
  func statement(_ s: String) -> String {
    let columns = columns.map {
      "\(PostgreSQLNames.quoted($0.name)) \($0.type)\($0.isRequired ? " NOT NULL" : "")\($0.rest)"
    }
    let key = key.map(PostgreSQLNames.quoted).joined(separator: ", ")
    return """
      CREATE TABLE \(s).\(PostgreSQLNames.quoted(name)) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)))
      """
  }

  /// Returns statements that create all of them in a schema, given its quoted name.
  static func statements(_ s: String) -> [String] {
    all.map { $0.statement(s) }
      + [receiptIndex(s), historyReference(s), "INSERT INTO \(s).\"_history_counter\" DEFAULT VALUES"]
  }

  /// Returns the statement that creates the index by which old receipts are found.
  static func receiptIndex(_ s: String) -> String { "CREATE INDEX ON \(s).\"_receipt\" (\"written\")" }

  /// Returns the statement by which changes are deleted along with their transaction.
  static func historyReference(_ s: String) -> String {
    """
    ALTER TABLE \(s)."_history_change" ADD FOREIGN KEY ("transaction") REFERENCES \(s)."_history" ON DELETE CASCADE
    """
  }
}

/// A right of a role to a table.
enum PostgreSQLRight: String, Sendable {
  case select = "SELECT"
  case insert = "INSERT"
  case update = "UPDATE"
  case delete = "DELETE"
}
