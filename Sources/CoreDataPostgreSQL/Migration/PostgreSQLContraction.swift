import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// Ends the earlier versions of a store's model, and drops what it has for their programs only: hidden tables and columns, and
/// the triggers that apply rules for them.
///
/// Runs inside the caller's transaction, after a barrier: a save in flight ends before it, and a later one of such a program is
/// refused. No row of the present version is read or written.
struct PostgreSQLContraction {
  private let _connection: PostgreSQLConnection
  private let _schemaName: String
  private let _present: StoreMapping

  /// - Parameter present: The mapping of the store's version.
  init(_ connection: PostgreSQLConnection, schema: String, _ present: StoreMapping) {
    _connection = connection
    _schemaName = schema
    _present = present
  }

  /// What would be dropped.
  func hidden() throws -> PostgreSQLHiddenParts {
    try PostgreSQLEarlierVersions(_connection, schema: _schemaName).hidden(beside: _present)
  }

  func run() throws {
    let hidden = try hidden()
    let schema = PostgreSQLSchema(
      _present, try PostgreSQLDerivations(_present.layout), schema: _schemaName)
    let traits = try PostgreSQLTableTraits(_schemaName, on: _connection)
    try PostgreSQLEpochs.holdSaves(_connection, schema: _schemaName)
    try PostgreSQLRewriting.dropTriggers(
      _connection, schema: _schemaName, named: PostgreSQLDeletionTriggers.names)
    let cut = _present.tables.filter { hidden.columns[$0.name] != nil }
    // Views name the columns that they have.
    for table in cut {
      try _connection.execute("DROP VIEW IF EXISTS \(schema.viewName(of: table)) CASCADE")
    }
    try _connection.execute(inOrder: hidden.removals)
    for table in cut { try _connection.execute(inOrder: schema.view(of: table)) }
    try _forgetHistory()
    try PostgreSQLEpochs.endEarlier(_connection, schema: _schemaName)
    let kept = _present.tables.flatMap { [$0.name, PostgreSQLKeys.sequence(of: $0)] }
    try traits.apply(
      renamed: [:], kept: Set((kept + _present.joins.map(\.name)).map(schema.relation)), made: schema.comments
    )
  }

  /// Deletes the changes of entities that are dropped, whose numbers no version has any more.
  private func _forgetHistory() throws {
    let numbers = _present.layout.layouts.map { String(_present.numbers.stored(for: $0.entityNumber)) }
    try _connection.execute(
      """
      DELETE FROM \(PostgreSQLNames.quoted(_schemaName))."_history_change" \
      WHERE "entity" NOT IN (\(numbers.joined(separator: ", ")))
      """)
  }
}
