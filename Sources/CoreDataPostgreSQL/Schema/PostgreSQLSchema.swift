import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// The tables of a store as statements: what makes a new one, and what `coredata postgres schema` can print.
struct PostgreSQLSchema {
  private let _mapping: StoreMapping
  private let _schema: String
  private let _s: String
  private let _derivations: PostgreSQLDerivations

  init(_ mapping: StoreMapping, _ derivations: PostgreSQLDerivations, schema: String) {
    _mapping = mapping
    _derivations = derivations
    _schema = schema
    _s = PostgreSQLNames.quoted(schema)
  }

  /// All statements, in the order in which they are run.
  var statements: [String] {
    ["CREATE SCHEMA IF NOT EXISTS \(_s)"] + _ownTables + functions + tables + indexes + triggers
  }

  /// Triggers of derived attributes, with their functions.
  var triggers: [String] {
    PostgreSQLTriggers(_mapping, _derivations, schema: _schema).statements
  }

  /// Functions and collations: what a store of an older version, or another locale, lacks.
  var functions: [String] {
    PostgreSQLFunctions.statements(schema: _schema)
      + PostgreSQLCollations.all.map { $0.statement(schema: _schema) }
  }

  private var _ownTables: [String] {
    [
      """
      CREATE TABLE \(_s)."_metadata" ("one" boolean PRIMARY KEY DEFAULT true CHECK ("one"), "uuid" uuid NOT NULL, \
      "content" bytea NOT NULL)
      """,
      "CREATE TABLE \(_s).\"_model_cache\" (\"one\" boolean PRIMARY KEY DEFAULT true CHECK (\"one\"), \"content\" bytea NOT NULL)",
      "CREATE TABLE \(_s).\"_receipt\" (\"id\" uuid PRIMARY KEY, \"written\" timestamptz NOT NULL DEFAULT now())",
      """
      CREATE TABLE \(_s)."_history" ("number" bigint PRIMARY KEY, "time" double precision NOT NULL, "author" text, \
      "context" text, "bundle" text, "process" text)
      """,
      """
      CREATE TABLE \(_s)."_history_change" ("transaction" bigint NOT NULL REFERENCES \(_s)."_history" ON DELETE CASCADE, \
      "number" bigint NOT NULL, "kind" smallint NOT NULL, "entity" smallint NOT NULL, "key" bigint NOT NULL, \
      "properties" text, "tombstone" bytea, PRIMARY KEY ("transaction", "number"))
      """,
      """
      CREATE TABLE \(_s)."_history_counter" ("one" boolean PRIMARY KEY DEFAULT true CHECK ("one"), \
      "n" bigint NOT NULL DEFAULT 0, "changes" bigint NOT NULL DEFAULT 0)
      """,
      "INSERT INTO \(_s).\"_history_counter\" DEFAULT VALUES",
      """
      CREATE TABLE \(_s)."_name" ("entity" text NOT NULL, "property" text NOT NULL, "relation" text NOT NULL, \
      "columns" text[] NOT NULL, PRIMARY KEY ("entity", "property"))
      """,
    ]
  }

  /// Tables and sequences of the model, empty.
  var tables: [String] {
    var result: [String] = []
    for table in _mapping.tables {
      let columns = table.columns.map { ", \($0.name) \($0.declaredType)" }.joined()
      result.append(
        """
        CREATE TABLE \(table.name) ("id" bigint PRIMARY KEY, "entity" smallint NOT NULL, \
        "version" bigint NOT NULL\(columns))
        """)
      result.append(
        """
        CREATE SEQUENCE \(PostgreSQLKeys.sequence(of: table)) AS bigint INCREMENT BY \(PostgreSQLKeys.blockSize) \
        OWNED BY \(table.name)."id"
        """)
    }
    for join in _mapping.joins {
      let orders = [join.firstOrder, join.secondOrder].compactMap { $0 }.map { ", \($0) bigint" }.joined()
      result.append(
        """
        CREATE TABLE \(join.name) (\(join.first) bigint NOT NULL, \(join.second) bigint NOT NULL\(orders), \
        PRIMARY KEY (\(join.first), \(join.second)))
        """)
      result.append("CREATE INDEX ON \(join.name) (\(join.second), \(join.first))")
    }
    return result
  }

  // MARK: Indexes

  /// Indexes, and comments on what there is.
  var indexes: [String] { _indexes + _comments }

  private var _indexes: [String] {
    var result: [String] = []
    var known = Set<String>()
    func add(_ statement: String) { if known.insert(statement).inserted { result.append(statement) } }
    for layout in _mapping.layout.layouts {
      let number = layout.entityNumber
      let table = _mapping.table(of: number)
      // Every to-one is followed backwards.
      for slot in layout.toOneSlots where layout.slots[slot].owner == number {
        if case .toOne(let column, _, _, _) = _mapping.storage(of: slot, in: number) {
          add("CREATE INDEX ON \(table.name) (\(table.columns[column].name))")
        }
      }
      for slots in layout.uniquenessConstraints {
        let names = slots.compactMap { _column($0, number) }
        if names.count == slots.count {
          add("CREATE UNIQUE INDEX ON \(table.name) (\(names.joined(separator: ", ")))")
        }
      }
      guard let entity = _mapping.layout.schema.entities.first(where: { $0.name == layout.entityName }) else {
        continue
      }
      for attribute in entity.attributes where attribute.isIndexed {
        if let slot = layout.slot(named: attribute.name), let name = _column(slot, number) {
          add("CREATE INDEX ON \(table.name) (\(name) NULLS FIRST)")
        }
      }
      for index in entity.indexes where index.partialIndexPredicate == nil {
        let terms = index.elements.compactMap { element -> String? in
          guard let property = element.property, !element.isRTree, let slot = layout.slot(named: property)
          else {
            return nil
          }
          return _column(slot, number).map {
            "\($0)\(element.isAscending ? " NULLS FIRST" : " DESC NULLS LAST")"
          }
        }
        if !terms.isEmpty, terms.count == index.elements.count {
          add("CREATE INDEX ON \(table.name) (\(terms.joined(separator: ", ")))")
        }
      }
    }
    return result
  }

  private func _column(_ slot: Int, _ number: Int) -> String? {
    let table = _mapping.table(of: number)
    switch _mapping.storage(of: slot, in: number) {
    case .attribute(let column): return table.columns[column].name
    case .toOne(let column, _, _, _): return table.columns[column].name
    case .none, .oneToMany, .manyToMany, .composite: return nil
    }
  }

  // MARK: Comments

  private var _comments: [String] {
    var result: [String] = []
    for table in _mapping.tables {
      let root = _mapping.layout.layout(numbered: table.rootNumber)
      let numbers = root.family.map { "\($0) \(_mapping.layout.layout(numbered: $0).entityName)" }
      result.append(
        "COMMENT ON TABLE \(table.name) IS \(PostgreSQLNames.literal("Objects of the entity \(root.entityName)"))"
      )
      result.append(
        """
        COMMENT ON COLUMN \(table.name)."entity" IS \
        \(PostgreSQLNames.literal("Number of the object's entity: " + numbers.joined(separator: ", ")))
        """)
      result.append(
        "COMMENT ON COLUMN \(table.name).\"version\" IS 'Raised by every save; what a save was based on must still be here'"
      )
    }
    for layout in _mapping.layout.layouts {
      let table = _mapping.table(of: layout.entityNumber)
      for slot in layout.slots.indices where layout.slots[slot].owner == layout.entityNumber {
        guard let name = _column(slot, layout.entityNumber) else { continue }
        var text = "\(layout.entityName).\(layout.slots[slot].name)"
        if layout.slots[slot].type == .date { text += ", in seconds since 2001-01-01 00:00 UTC" }
        result.append("COMMENT ON COLUMN \(table.name).\(name) IS \(PostgreSQLNames.literal(text))")
      }
    }
    return result
  }

  // MARK: Names

  /// What each property is called in the database: kept there, so that other programs and later versions find it.
  func writeNames(to connection: PostgreSQLConnection) throws {
    var (entities, properties, relations, columns) = (
      PostgreSQLArray(.textArray), PostgreSQLArray(.textArray), PostgreSQLArray(.textArray),
      PostgreSQLArray(.textArray)
    )
    for layout in _mapping.layout.layouts {
      let table = _mapping.table(of: layout.entityNumber)
      for slot in layout.slots.indices where layout.slots[slot].owner == layout.entityNumber {
        let names: [String]
        var relation = table.name
        switch _mapping.storage(of: slot, in: layout.entityNumber) {
        case .attribute(let column): names = [table.columns[column].name]
        case .composite(let leaves): names = leaves.map { table.columns[$0.column].name }
        case .toOne(let column, let entity, let order, _):
          names = [column, entity, order].compactMap { $0.map { table.columns[$0].name } }
        case .manyToMany(let join, _, _):
          relation = _mapping.joins[join].name
          names = [_mapping.joins[join].first, _mapping.joins[join].second]
        case .none, .oneToMany: continue
        }
        entities.add(layout.entityName)
        properties.add(layout.slots[slot].name)
        relations.add(relation)
        columns.add(PostgreSQLNames.list(names))
      }
    }
    var parameters = PostgreSQLParameters()
    for array in [entities, properties, relations, columns] { parameters.add(array) }
    try connection.run(
      """
      INSERT INTO \(_s)."_name" ("entity", "property", "relation", "columns") \
      SELECT e, p, r, c::text[] FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n(e, p, r, c)
      """, parameters, isRepeated: false)
  }
}
