import CoreData
import CoreDataModelSchema

/// The names that another version of the model gives to tables, columns and join tables whose content it takes over as it is.
///
/// A migration renames them first. What then has the name and the type that the version expects stays where it is, and
/// the rest is copied; see `KeptTables`.
struct PostgreSQLRenaming {
  /// The old mapping, with the new names.
  let mapping: StoreMapping
  /// What renames the tables, in execution order.
  let statements: [String]

  /// - Parameters:
  ///   - plan: The plan from the old mapping as it is; nil to rename nothing.
  ///   - old: The old mapping.
  init(_ plan: MigrationPlan?, of old: StoreMapping, in database: PostgreSQLMigrationDatabase) {
    guard let plan else {
      mapping = old
      statements = []
      return
    }
    var tables = plan.old.tables
    var joins = plan.old.joins
    var statements: [String] = []
    // A name that is in use stays with its table: the other one is copied.
    var names = Set(tables.map(\.name) + joins.map(\.name))
    func rename(_ name: String, to other: String) -> String {
      guard name != other, names.insert(other).inserted else { return name }
      statements.append("ALTER TABLE \(name) RENAME TO \(Self._plain(other))")
      return other
    }
    let values = MigratedValues(plan: plan, database: database)
    for flow in plan.flows where flow.isWhole && flow.offset == 0 {
      guard plan.flows.count(where: { $0.oldRoot == flow.oldRoot || $0.newRoot == flow.newRoot }) == 1,
        let number = tables.firstIndex(where: { $0.rootNumber == flow.oldRoot })
      else { continue }
      let old = tables[number]
      let name = rename(old.name, to: plan.new.table(of: flow.newRoot).name)
      let columns = Self._columns(of: old, values.columns(of: flow), plan.new.table(of: flow.newRoot))
      statements += Self._statements(name, old.columns.map(\.name), columns)
      tables[number] = TableMapping(
        rootNumber: old.rootNumber, name: name,
        columns: zip(old.columns, columns).map {
          TableColumn(name: $1, declaredType: $0.declaredType, content: $0.content)
        }, hasSubentities: old.hasSubentities)
      if name != old.name {
        let sequences = [old, tables[number]].map(PostgreSQLKeys.sequence)
        statements.append("ALTER SEQUENCE \(sequences[0]) RENAME TO \(Self._plain(sequences[1]))")
      }
    }
    for number in plan.new.joins.indices {
      guard let source = KeptTables.source(ofJoin: number, plan) else { continue }
      let (old, new) = (plan.old.joins[source.join], plan.new.joins[number])
      let (here, there) = (
        new.ends(ownerIsFirst: !source.isFlipped), new.ends(ownerIsFirst: source.isFlipped)
      )
      guard old.isReflexive == new.isReflexive, (old.secondOrder == nil) == (here.order == nil),
        (old.firstOrder == nil) == (there.order == nil)
      else { continue }
      var join = old
      join.names = [rename(old.name, to: new.name)]
      (join.first, join.second, join.secondOrder, join.firstOrder) = (
        here.owner, here.member, here.order, there.order
      )
      func columns(_ join: JoinTable) -> [String] {
        [join.first, join.second] + [join.firstOrder, join.secondOrder].compactMap { $0 }
      }
      statements += Self._statements(join.name, columns(old), columns(join))
      joins[source.join] = join
    }
    mapping = plan.old.with(tables, joins)
    self.statements = statements
  }

  /// Returns the new names of a table's columns: those of the new columns that take over their values.
  private static func _columns(
    of old: TableMapping, _ pieces: [[SQLPiece]], _ new: TableMapping
  ) -> [String] {
    let numbers = Dictionary(
      old.columns.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    var names = old.columns.map(\.name)
    var taken: Set<Int> = []
    for (column, pieces) in zip(new.columns, pieces) {
      let sources = Set(pieces.filter { $0 != .null })
      guard sources.count == 1, let source = numbers[sources.first!.sql],
        old.columns[source].declaredType == column.declaredType, taken.insert(source).inserted
      else { continue }
      names[source] = column.name
    }
    // A column that no new one takes over gives way.
    let wanted = Set(taken.map { names[$0] })
    for index in names.indices where !taken.contains(index) && wanted.contains(names[index]) {
      names[index] = _free(names, wanted, "_former")
    }
    return names
  }

  /// Returns a name that no column has.
  private static func _free(_ names: [String], _ others: Set<String>, _ prefix: String) -> String {
    var number = 1
    while true {
      let name = PostgreSQLNames.quoted("\(prefix)_\(number)")
      if !names.contains(name), !others.contains(name) { return name }
      number += 1
    }
  }

  /// Returns the statements that rename columns; those whose names others get take another one in between.
  private static func _statements(_ table: String, _ old: [String], _ new: [String]) -> [String] {
    let changed = old.indices.filter { old[$0] != new[$0] }
    let wanted = Set(changed.map { new[$0] })
    var now = old
    var statements: [String] = []
    func rename(_ index: Int, to name: String) {
      statements.append("ALTER TABLE \(table) RENAME COLUMN \(now[index]) TO \(name)")
      now[index] = name
    }
    for index in changed where wanted.contains(old[index]) {
      rename(index, to: _free(now, Set(new), "_moving"))
    }
    for index in changed { rename(index, to: new[index]) }
    return statements
  }

  /// Returns the quoted name of a relation without its schema.
  private static func _plain(_ qualified: String) -> String {
    PostgreSQLNames.quoted(PostgreSQLNames.parts(qualified).name)
  }
}
