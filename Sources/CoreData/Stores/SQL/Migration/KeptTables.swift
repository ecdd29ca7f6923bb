import CoreDataModelSchema

/// The tables that a migration keeps, because their rows change only by added columns, and the join tables
/// whose links are unchanged.
///
/// Copying a table rewrites each row and rebuilds each index. A table is kept if all its rows move to one new
/// table, of the same name, with the same keys and values. In a database that alters tables, it may also lose columns.
package struct KeptTables {
  /// A column to add to a kept table, with its value in the existing rows.
  package struct Addition {
    package let column: TableColumn
    let value: SQLPiece
    /// The value of all rows, where the database sets it with the column.
    package let constant: MigrationValue?
  }

  /// By old root number.
  private var _additions: [Int: [Addition]] = [:]
  /// Numbers of old join tables, and of the new ones that they become.
  private var _joins: [Int: Int] = [:]

  /// Keeps nothing.
  init() {}

  /// Finds the tables that can be kept.
  ///
  init(_ values: MigratedValues) {
    let plan = values.plan
    for flow in plan.flows {
      guard flow.isWhole, flow.offset == 0,
        plan.flows.count(where: { $0.oldRoot == flow.oldRoot || $0.newRoot == flow.newRoot }) == 1
      else { continue }
      _additions[flow.oldRoot] = Self._additions(plan, flow, values)
    }
    for number in plan.new.joins.indices {
      if let old = Self._join(becoming: number, plan) { _joins[old] = number }
    }
  }

  /// Returns the columns to add to the table of an old root; nil if its rows are copied.
  package func additions(toRoot root: Int) -> [Addition]? { _additions[root] }

  /// Whether the table of an old root is kept.
  package func keeps(root: Int) -> Bool { _additions[root] != nil }
  /// Whether a column of a new root's table is in a kept table and keeps its values.
  func keeps(_ column: String, ofNewRoot root: Int, _ plan: MigrationPlan) -> Bool {
    guard let flow = plan.flows.first(where: { $0.newRoot == root }),
      let additions = additions(toRoot: flow.oldRoot)
    else { return false }
    return !additions.contains { $0.column.name == column }
  }
  /// Whether an old join table is kept, by its number in the old mapping.
  package func keeps(join number: Int) -> Bool { _joins[number] != nil }
  /// Whether a new join table is an old one, by its number in the new mapping.
  package func keeps(newJoin number: Int) -> Bool { _joins.values.contains(number) }

  // MARK: Tables

  private static func _additions(
    _ plan: MigrationPlan, _ flow: MigrationPlan.Flow, _ values: MigratedValues
  ) -> [Addition]? {
    let (old, new) = (plan.old.table(of: flow.oldRoot), plan.new.table(of: flow.newRoot))
    guard old.name == new.name, old.hasSubentities == new.hasSubentities,
      values.database.altersTables || Set(old.columns.map(\.name)).isSubset(of: new.columns.map(\.name))
    else { return nil }
    let used = flow.pairs.map { _columns(of: $0.old, plan.old) }
    var additions: [Addition] = []
    let wanted = flow.pairs.map { _columns(of: $0.new, plan.new) }
    for ((number, column), pieces) in zip(new.columns.enumerated(), values.columns(of: flow)) {
      guard let index = old.columns.firstIndex(where: { $0.name == column.name }) else {
        let constant = values.database.altersTables && Set(pieces).count == 1 ? pieces[0].constant : nil
        additions.append(
          Addition(
            column: column, value: constant == nil ? values.chosen(pieces, in: flow) : .null,
            constant: constant))
        continue
      }
      guard old.columns[index] == column else { return nil }
      let isSame = flow.pairs.indices.allSatisfy { pair in
        if pieces[pair] == SQLPiece(sql: column.name) { return true }
        // Null where the rows of an entity have no value anyway. A column with a default may have one in rows of entities
        // without the attribute, which must not show when they get it.
        return pieces[pair] == .null && !used[pair].contains(index)
          && !(values.database.altersTables && wanted[pair].contains(number))
      }
      guard isSame else { return nil }
    }
    return additions
  }

  /// The columns of a table in which an entity's rows have values.
  private static func _columns(of layout: PropertyLayout, _ mapping: StoreMapping) -> Set<Int> {
    var columns: Set<Int> = []
    for slot in layout.slots.indices {
      switch mapping.storage(of: slot, in: layout.entityNumber) {
      case .attribute(let column): columns.insert(column)
      case .composite(let leaves): columns.formUnion(leaves.map(\.column))
      case .toOne(let key, let entity, let order, _):
        columns.formUnion([key, entity, order].compactMap { $0 })
      case .none, .oneToMany, .manyToMany: break
      }
    }
    return columns
  }

  // MARK: Join tables

  /// An old join table whose links are exactly those of a new one.
  package struct Source: Hashable {
    /// Its number in the old mapping.
    package let join: Int
    /// Whether its first column is for the end of the new one's second.
    package let isFlipped: Bool
  }

  /// Returns the old join table with all links of a new one and no others; nil if there is none.
  package static func source(ofJoin number: Int, _ plan: MigrationPlan) -> Source? {
    var found: Set<Source> = []
    var owners: Set<Int> = []
    for pair in plan.flows.flatMap(\.pairs) {
      for slot in pair.new.slots.indices {
        guard
          case .manyToMany(number, true, let destination) = plan.new.storage(
            of: slot, in: pair.new.entityNumber)
        else { continue }
        guard let source = plan.relationshipSource(of: slot, in: pair),
          case .manyToMany(let old, let ownerIsFirst, let was) = plan.old.storage(
            of: source, in: pair.old.entityNumber),
          plan.flow(from: pair.old.entityNumber, to: pair.new.entityNumber)?.offset == 0,
          plan.flow(from: was, to: destination)?.offset == 0
        else { return nil }
        found.insert(Source(join: old, isFlipped: !ownerIsFirst))
        owners.insert(pair.old.entityNumber)
      }
    }
    guard let source = found.first, found.count == 1 else { return nil }
    let formerOwners = plan.old.layout.layouts.filter { layout in
      layout.slots.indices.contains {
        if case .manyToMany(source.join, !source.isFlipped, _) = plan.old.storage(
          of: $0, in: layout.entityNumber)
        {
          true
        } else {
          false
        }
      }
    }
    return Set(formerOwners.map(\.entityNumber)) == owners ? source : nil
  }

  /// Returns the old join table that becomes a new one as it is; nil if the links must be copied.
  private static func _join(becoming number: Int, _ plan: MigrationPlan) -> Int? {
    guard let source = source(ofJoin: number, plan) else { return nil }
    let (before, after) = (plan.old.joins[source.join], plan.new.joins[number])
    let (here, there) = (before.ends(ownerIsFirst: !source.isFlipped), after.ends(ownerIsFirst: true))
    let (back, forth) = (before.ends(ownerIsFirst: source.isFlipped), after.ends(ownerIsFirst: false))
    let isSame =
      before.name == after.name && here == there && back.order == forth.order
      && before.isReflexive == after.isReflexive
    return isSame ? source.join : nil
  }
}
