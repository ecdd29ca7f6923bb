import CoreDataModelSchema

/// Copies the rows of a store's old tables to those for another version of its model, as far as the change can be inferred.
///
/// Everything happens inside the caller's transaction. No object is made; the database copies the rows.
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

  /// The old table that holds an entity's rows.
  package func away(of entity: Int) -> String {
    let root = old.layout.layout(numbered: entity).rootNumber
    return database.away(table: old.tables.firstIndex { $0.rootNumber == root }!)
  }
}
