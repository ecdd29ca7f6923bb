import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// The schema of a store as SQL statements: used to create a store, and printed by `coredata postgres
/// schema`.
struct PostgreSQLSchema {
  let mapping: StoreMapping
  /// The store's own tables: fewer for a store of an older version of the package that is only read.
  var ownTables = PostgreSQLOwnTable.all
  private let _schema: String
  /// Quoted name of the schema.
  let quotedSchema: String
  private let _derivations: PostgreSQLDerivations

  init(_ mapping: StoreMapping, _ derivations: PostgreSQLDerivations, schema: String) {
    self.mapping = mapping
    _derivations = derivations
    _schema = schema
    quotedSchema = PostgreSQLNames.quoted(schema)
  }

  /// Returns all statements, in execution order.
  func statements(_ rules: PostgreSQLCaseRules) -> [String] {
    ["CREATE SCHEMA IF NOT EXISTS \(quotedSchema)"] + PostgreSQLOwnTable.statements(quotedSchema)
      + functions(rules) + tables + indexes + triggers + views
  }

  /// Triggers of derived attributes, with their functions.
  var triggers: [String] { _triggers.statements }

  var triggerNames: [String] { _triggers.names }

  private var _triggers: PostgreSQLTriggers {
    PostgreSQLTriggers(mapping, _derivations, schema: _schema)
  }

  /// Names of the functions for predicates, one for each overload.
  var functionNames: [String] { PostgreSQLFunctions.names }

  /// Returns statements for functions and collations, which stores of an older version or another locale may
  /// lack. Without ICU there are no collations. To be run in a transaction.
  func functions(_ rules: PostgreSQLCaseRules) -> [String] {
    // The server would look for the functions that a body calls among those of the same names in all schemas,
    // and so take the longer the more stores a database has.
    let functions =
      ["SET LOCAL check_function_bodies = off"] + PostgreSQLFunctions.statements(schema: _schema, rules)
    switch rules {
    case .icu: return functions + PostgreSQLCollations.all.map { $0.statement(schema: _schema) }
    case .tables: return functions
    }
  }

  /// Tables and sequences of the model, without rows.
  var tables: [String] { mapping.tables.flatMap(statements) + mapping.joins.flatMap(statements) }

  /// Returns statements that create a table with its sequence.
  func statements(for table: TableMapping) -> [String] {
    let columns = table.columns.map { ", \($0.name) \($0.declaredType)" }.joined()
    // Each save steps the version of what it changes, in which no index has a part: with room on its page a row is written
    // beside its old version, and no index is.
    return [
      """
      CREATE TABLE \(table.name) ("id" bigint PRIMARY KEY, "entity" smallint NOT NULL, \
      "version" bigint NOT NULL\(columns)) WITH (fillfactor = 90)
      """,
      """
      CREATE SEQUENCE \(PostgreSQLKeys.sequence(of: table)) AS bigint INCREMENT BY \(PostgreSQLKeys.blockSize) \
      OWNED BY \(table.name)."id"
      """,
    ]
  }

  /// Returns statements that create a join table with its index.
  func statements(for join: JoinTable) -> [String] {
    let orders = [join.firstOrder, join.secondOrder].compactMap { $0 }.map { ", \($0) bigint" }.joined()
    return [
      """
      CREATE TABLE \(join.name) (\(join.first) bigint NOT NULL, \(join.second) bigint NOT NULL\(orders), \
      PRIMARY KEY (\(join.first), \(join.second)))
      """,
      "CREATE INDEX ON \(join.name) (\(join.second), \(join.first))",
    ]
  }

  // MARK: Indexes

  /// Indexes and comments.
  var indexes: [String] { columnIndexes.map(\.statement) + textIndexes + comments.map(statement) }

  /// The indexes on columns, which are all but those on folded text.
  var columnIndexes: [PostgreSQLIndex] {
    var result: [PostgreSQLIndex] = []
    var known = Set<PostgreSQLIndex>()
    func add(_ index: PostgreSQLIndex) { if known.insert(index).inserted { result.append(index) } }
    for constraint in uniqueColumns {
      add(
        PostgreSQLIndex(
          table: constraint.table, terms: constraint.columns.map { PostgreSQLIndex.Term(column: $0) },
          isUnique: true))
    }
    for layout in mapping.layout.layouts {
      let number = layout.entityNumber
      let table = mapping.table(of: number)
      // Inverses and delete rules look up every to-one by its target.
      for slot in layout.toOneSlots where layout.slots[slot].owner == number {
        if case .toOne(let column, _, _, _) = mapping.storage(of: slot, in: number) {
          add(PostgreSQLIndex(table: table.name, terms: [.init(column: table.columns[column].name)]))
        }
      }
      guard let entity = mapping.layout.schema.entities.first(where: { $0.name == layout.entityName }) else {
        continue
      }
      for attribute in entity.attributes where attribute.isIndexed {
        if let slot = layout.slot(named: attribute.name), let name = column(slot, number) {
          add(PostgreSQLIndex(table: table.name, terms: [.init(column: name, beginsWithNull: true)]))
        }
      }
      for index in entity.indexes where index.partialIndexPredicate == nil {
        let terms = index.elements.compactMap { element -> PostgreSQLIndex.Term? in
          guard let property = element.property, !element.isRTree, let slot = layout.slot(named: property)
          else {
            return nil
          }
          return column(slot, number).map {
            .init(column: $0, isDescending: !element.isAscending, beginsWithNull: element.isAscending)
          }
        }
        if !terms.isEmpty, terms.count == index.elements.count {
          add(PostgreSQLIndex(table: table.name, terms: terms))
        }
      }
    }
    return result
  }

  /// Columns of each uniqueness constraint, with the table's name.
  var uniqueColumns: [(table: String, columns: [String])] {
    mapping.layout.layouts.flatMap { layout in
      layout.uniquenessConstraints.compactMap { slots in
        let names = slots.compactMap { column($0, layout.entityNumber) }
        return names.count == slots.count ? (mapping.table(of: layout.entityNumber).name, names) : nil
      }
    }
  }

  func column(_ slot: Int, _ number: Int) -> String? {
    let table = mapping.table(of: number)
    switch mapping.storage(of: slot, in: number) {
    case .attribute(let column): return table.columns[column].name
    case .toOne(let column, _, _, _): return table.columns[column].name
    case .none, .oneToMany, .manyToMany, .composite: return nil
    }
  }

  // MARK: Names

  /// The name of a property in the database.
  struct Name: Hashable {
    let entity: String
    let property: String
    let relation: String
    let columnNames: [String]
    /// The names of the columns as the text of an array.
    var columns: String { PostgreSQLNames.list(columnNames) }
  }

  /// The names of all properties, stored in the database for other programs and later versions.
  var names: [Name] {
    var result: [Name] = []
    for layout in mapping.layout.layouts {
      let table = mapping.table(of: layout.entityNumber)
      for slot in layout.slots.indices where layout.slots[slot].owner == layout.entityNumber {
        let names: [String]
        var relation = table.name
        switch mapping.storage(of: slot, in: layout.entityNumber) {
        case .attribute(let column): names = [table.columns[column].name]
        case .composite(let leaves): names = leaves.map { table.columns[$0.column].name }
        case .toOne(let column, let entity, let order, _):
          names = [column, entity, order].compactMap { $0.map { table.columns[$0].name } }
        case .manyToMany(let join, _, _):
          relation = mapping.joins[join].name
          names = [mapping.joins[join].first, mapping.joins[join].second]
        case .none, .oneToMany: continue
        }
        result.append(
          Name(
            entity: layout.entityName, property: layout.slots[slot].name, relation: relation,
            columnNames: names))
      }
    }
    return result
  }

  func writeNames(to connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    for field in [\Name.entity, \.property, \.relation, \.columns] {
      var array = PostgreSQLArray(.textArray)
      for name in names { array.add(name[keyPath: field]) }
      parameters.add(array)
    }
    try connection.run(
      """
      INSERT INTO \(quotedSchema)."_name" ("entity", "property", "relation", "columns") \
      SELECT e, p, r, c::text[] FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n(e, p, r, c)
      """, parameters, isRepeated: false)
  }
}
