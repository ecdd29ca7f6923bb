import CoreDataModelSchema

/// Copies the rows of a store's old tables to those of another model version, as far as the mapping can be
/// inferred.
///
/// Runs inside the caller's transaction. The database copies the rows; no objects are created.
package struct TableMigration {
  let database: any MigrationDatabase
  package let plan: MigrationPlan
  package let kept: KeptTables

  var old: StoreMapping { plan.old }
  var new: StoreMapping { plan.new }
  var keyColumn: String { database.keyColumn }
  var entityColumn: String { database.entityColumn }
  var versionColumn: String { database.versionColumn }

  /// - Parameter keepsTables: Whether tables stay where only columns are added. Otherwise all are copied.
  package init(_ plan: MigrationPlan, in database: any MigrationDatabase, keepsTables: Bool = false) {
    self.plan = plan
    self.database = database
    kept = keepsTables ? KeptTables(MigratedValues(plan: plan, database: database)) : KeptTables()
  }

  /// Returns the name of the old table with an entity's rows: a temporary one, unless the table is kept.
  package func away(of entity: Int) -> String {
    let root = old.layout.layout(numbered: entity).rootNumber
    if kept.keeps(root: root) { return old.table(of: root).name }
    return database.away(table: old.tables.firstIndex { $0.rootNumber == root }!)
  }

  /// Returns the name of an old join table: a temporary one, unless the table is kept.
  func away(join number: Int) -> String {
    kept.keeps(join: number) ? old.joins[number].name : database.away(join: number)
  }

  /// Returns the number that rows of an old entity have in the table of that name.
  func storedNumber(of pair: MigrationPlan.Pair) -> Int {
    kept.keeps(root: pair.old.rootNumber)
      ? new.numbers.stored(for: pair.new.entityNumber) : old.numbers.stored(for: pair.old.entityNumber)
  }
}
