import CoreDataModelSchema

/// Copies the rows of a store's old tables to those of another model version, as far as the mapping can be
/// inferred.
///
/// Runs inside the caller's transaction. The database copies the rows; no objects are created.
package struct TableMigration {
  let database: any MigrationDatabase
  package let plan: MigrationPlan

  var old: StoreMapping { plan.old }
  var new: StoreMapping { plan.new }
  var keyColumn: String { database.keyColumn }
  var entityColumn: String { database.entityColumn }
  var versionColumn: String { database.versionColumn }

  package init(_ plan: MigrationPlan, in database: any MigrationDatabase) {
    self.plan = plan
    self.database = database
  }

  /// Returns the temporary name of the old table with an entity's rows.
  package func away(of entity: Int) -> String {
    let root = old.layout.layout(numbered: entity).rootNumber
    return database.away(table: old.tables.firstIndex { $0.rootNumber == root }!)
  }
}
