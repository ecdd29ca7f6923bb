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

  private static let _one = Column("one", "boolean", " DEFAULT true CHECK (\"one\")")

  static let all = [
    PostgreSQLOwnTable(
      name: "_metadata", columns: [_one, Column("uuid", "uuid"), Column("content", "bytea")], key: ["one"],
      rights: [.select]),
    PostgreSQLOwnTable(
      name: "_model_cache", columns: [_one, Column("content", "bytea")], key: ["one"], rights: [.select]),
    PostgreSQLOwnTable(
      name: "_receipt",
      columns: [Column("id", "uuid"), Column("written", "timestamptz", " DEFAULT now()")], key: ["id"],
      rights: [.insert]),
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

  /// Returns statements that create all of them in a schema, given its quoted name.
  static func statements(_ s: String) -> [String] {
    all.map { table in
      let columns = table.columns.map {
        "\(PostgreSQLNames.quoted($0.name)) \($0.type)\($0.isRequired ? " NOT NULL" : "")\($0.rest)"
      }
      let key = table.key.map(PostgreSQLNames.quoted).joined(separator: ", ")
      return """
        CREATE TABLE \(s).\(PostgreSQLNames.quoted(table.name)) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)))
        """
    } + [historyReference(s), "INSERT INTO \(s).\"_history_counter\" DEFAULT VALUES"]
  }

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
