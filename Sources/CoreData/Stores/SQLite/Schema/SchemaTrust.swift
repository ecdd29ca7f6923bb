import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Lets the triggers of R-tree indexes run when objects are saved.
///
/// SQLite does not run a trigger that writes to a virtual table unless the schema is trusted, and a file's
/// schema is not. A file whose R-trees are maintained by triggers of exactly Core Data's text is trusted as
/// far as these, and the triggers of the model's derived attributes: any other trigger or view in it then makes
/// the statements fail that would run it.
struct SchemaTrust: Sendable {
  /// Texts of the triggers of derived attributes, without needless quotes.
  private let _derived: Set<String>

  /// Nil for a file without such an R-tree, whose schema remains untrusted.
  init?(_ mapping: StoreMapping, on connection: Connection) throws {
    guard try ForeignSchema.hasVirtualTables(connection),
      try !ForeignSchema(connection).spatialIndexes.isEmpty
    else { return nil }
    _derived = DerivedTriggers(mapping).texts
  }

  /// Trusts what is known in the file as this connection sees it.
  func apply(to connection: Connection) throws {
    let spatial = try ForeignSchema(connection).spatialIndexes
    guard !spatial.isEmpty else { return }
    let known = _derived.union(spatial.flatMap(\.triggers).map { SchemaText.bare($0.sql) })
    var names: Set<String> = []
    var reasons: [String: String] = [:]
    try connection.query("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'") { row in
      let (name, sql) = (row.string(0), row.string(1))
      if known.contains(SchemaText.bare(sql)) {
        names.insert(name)
      } else if let function = try ForeignSchema.missingFunction(in: sql, connection) {
        reasons[name] = ForeignSchema.reason(function)
      }
    }
    try connection.trustSchema(triggers: names, reasons: reasons)
  }
}
