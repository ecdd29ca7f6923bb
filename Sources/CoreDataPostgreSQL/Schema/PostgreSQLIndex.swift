/// An index on columns of a table.
struct PostgreSQLIndex: Hashable, Sendable {
  struct Term: Hashable, Sendable {
    /// In quotes.
    let column: String
    var isDescending = false
    /// Whether rows without a value come first.
    var beginsWithNull = false

    var text: String {
      column + (isDescending ? " DESC" : "")
        + (isDescending == beginsWithNull ? "" : beginsWithNull ? " NULLS FIRST" : " NULLS LAST")
    }

    /// As in `pg_index.indoption`.
    var option: Int { (isDescending ? 1 : 0) + (beginsWithNull ? 2 : 0) }
  }

  /// With its schema, in quotes.
  let table: String
  let terms: [Term]
  var isUnique = false

  private var _place: String { "\(table) (\(terms.map(\.text).joined(separator: ", ")))" }

  /// Creates the index while writers of the table wait.
  var statement: String { "CREATE \(isUnique ? "UNIQUE " : "")INDEX ON \(_place)" }

  /// The index as one says it: `book (title, year)`.
  var name: String {
    let columns = terms.map { PostgreSQLNames.plain($0.column) }
    return "\(PostgreSQLNames.parts(table).name) (\(columns.joined(separator: ", ")))"
  }

  /// Creates the index while programs read and write the table; not inside a transaction.
  var concurrentStatement: String { "CREATE INDEX CONCURRENTLY ON \(_place)" }
}
