import CoreDataPostgreSQLBinding

/// Compares the contents of a schema with what a model needs, and a role's rights with those that a store
/// needs.
///
/// This allows a role without the right to create tables to open a schema that its owner has created, and
/// reports differences when a store is opened instead of during a save.
struct PostgreSQLSchemaCheck {
  private let _expected: PostgreSQLSchema
  private let _schema: String
  private let _connection: PostgreSQLConnection

  init(_ expected: PostgreSQLSchema, schema: String, on connection: PostgreSQLConnection) {
    _expected = expected
    _schema = schema
    _connection = connection
  }

  /// Throws if something is missing.
  ///
  /// - Parameter isReadOnly: Whether the store is only read.
  /// - Throws: `PostgreSQLStoreError.incomplete`.
  func run(isReadOnly: Bool) throws {
    let missing = try missing(isReadOnly: isReadOnly)
    if !missing.isEmpty { throw PostgreSQLStoreError.incomplete(schema: _schema, missing: missing) }
  }

  /// Returns what is missing, a sentence each.
  func missing(isReadOnly: Bool) throws -> [String] {
    var missing = try _columns()
    missing += try _rights(isReadOnly ? [.select] : [.select, .insert, .update, .delete])
    missing += try _functions()
    if !isReadOnly {
      missing += try _required() + _keys() + _sequences() + _triggers()
    }
    return missing
  }

  /// Runs a query about the schema; its parameters are the schema's name and lists of text.
  private func _ask(_ sql: String, _ lists: [[String]]) throws -> PostgreSQLResult {
    var parameters = PostgreSQLParameters()
    parameters.add(_schema)
    for list in lists {
      var array = PostgreSQLArray(.textArray, capacity: list.count)
      for text in list { array.add(text) }
      parameters.add(array)
    }
    return try _connection.run(sql, parameters, isRepeated: false)
  }

  // MARK: Tables

  private func _columns() throws -> [String] {
    let columns = _expected.expectedColumns
    let found = try _ask(
      """
      SELECT e.r, e.c, e.t, c.oid IS NULL, a.attname IS NULL, a.atttypid <> e.t::regtype, \
      pg_catalog.format_type(a.atttypid, a.atttypmod) FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY \
      AS e(r, c, t, x, n) LEFT JOIN pg_catalog.pg_class c ON c.relname = e.r AND c.relkind IN ('r', 'p') AND c.relnamespace = \
      (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1::text) \
      LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = e.c AND a.attnum > 0 AND NOT a.attisdropped \
      WHERE a.attname IS NULL OR a.atttypid <> e.t::regtype OR e.x <> '' AND a.attcollation NOT IN \
      (SELECT oid FROM pg_catalog.pg_collation WHERE collname IN ('C', 'POSIX')) ORDER BY e.n
      """,
      [
        columns.map(\.relation), columns.map(\.name), columns.map(\.type),
        columns.map { $0.isText ? "C" : "" },
      ])
    var result: [String] = []
    for row in 0..<found.rowCount {
      let (table, column, type) = (found.string(row, 0), found.string(row, 1), found.string(row, 2))
      let text: String
      if found.int64(row, 3) != 0 {
        text = "there is no table '\(table)'"
      } else if found.int64(row, 4) != 0 {
        text = "the table '\(table)' has no column '\(column)' (\(type))"
      } else if found.int64(row, 5) != 0 {
        text = "the column '\(table).\(column)' is \(found.string(row, 6)) instead of \(type)"
      } else {
        text = "the column '\(table).\(column)' has another collation than \"C\""
      }
      if result.last != text { result.append(text) }
    }
    return result
  }

  /// Returns columns that are NOT NULL without default and that saves do not set.
  private func _required() throws -> [String] {
    let columns = _expected.expectedColumns
    let found = try _ask(
      """
      SELECT c.relname::text, a.attname::text FROM pg_catalog.pg_attribute a \
      JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND c.relname = ANY($2::text[]) \
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1::text \
      WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' \
      AND NOT EXISTS (SELECT 1 FROM unnest($2::text[], $3::text[]) e(r, c) WHERE e.r = c.relname AND e.c = a.attname)
      """, [columns.map(\.relation), columns.map(\.name)])
    return (0..<found.rowCount).map {
      "the column '\(found.string($0, 0)).\(found.string($0, 1))' is none of the model's, and must have a value"
    }
  }

  private func _keys() throws -> [String] {
    let keys = _expected.expectedKeys
    let found = try _ask(
      """
      SELECT e.r, e.k::text[]::text FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS e(r, k, n) \
      JOIN pg_catalog.pg_class c ON c.relname = e.r AND c.relkind IN ('r', 'p') AND c.relnamespace = \
      (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1::text) \
      WHERE NOT EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid \
      AND i.indpred IS NULL AND i.indnatts = i.indnkeyatts \
      AND (SELECT pg_catalog.array_agg(a.attname::text ORDER BY a.attname::text COLLATE "C") FROM pg_catalog.pg_attribute a \
      WHERE a.attrelid = c.oid AND a.attnum = ANY(i.indkey)) = \
      (SELECT pg_catalog.array_agg(x ORDER BY x COLLATE "C") FROM pg_catalog.unnest(e.k::text[]) x)) ORDER BY e.n
      """, [keys.map(\.relation), keys.map { PostgreSQLNames.list($0.columns.map(PostgreSQLNames.quoted)) }])
    return (0..<found.rowCount).map {
      "the table '\(found.string($0, 0))' has no unique index on \(found.string($0, 1))"
    }
  }

  // MARK: Other objects

  private func _sequences() throws -> [String] {
    let found = try _ask(
      """
      SELECT e.s, c.oid IS NULL FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS e(s, n) \
      LEFT JOIN pg_catalog.pg_class c ON c.relname = e.s AND c.relkind = 'S' AND c.relnamespace = \
      (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1::text) \
      WHERE c.oid IS NULL OR NOT pg_catalog.has_sequence_privilege(c.oid, 'USAGE') ORDER BY e.n
      """, [_expected.expectedSequences])
    return (0..<found.rowCount).map {
      found.int64($0, 1) != 0
        ? "there is no sequence '\(found.string($0, 0))'"
        : "the role has no right to USAGE of the sequence '\(found.string($0, 0))'"
    }
  }

  private func _functions() throws -> [String] {
    let found = try _ask(
      """
      SELECT e.f, pg_catalog.count(DISTINCT p.oid) < pg_catalog.count(DISTINCT e.n) FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS e(f, n) \
      LEFT JOIN \(PostgreSQLCatalog.functions) ON p.proname = e.f \
      GROUP BY e.f HAVING pg_catalog.count(DISTINCT p.oid) < pg_catalog.count(DISTINCT e.n) \
      OR pg_catalog.bool_or(NOT pg_catalog.has_function_privilege(p.oid, 'EXECUTE')) ORDER BY pg_catalog.min(e.n)
      """, [_expected.functionNames])
    return (0..<found.rowCount).map {
      found.int64($0, 1) != 0
        ? "there is no function '\(found.string($0, 0))', or not all forms of it"
        : "the role has no right to EXECUTE the function '\(found.string($0, 0))'"
    }
  }

  private func _triggers() throws -> [String] {
    let names = _expected.triggerNames
    if names.isEmpty { return [] }
    let found = try _ask(
      """
      SELECT e.t FROM pg_catalog.unnest($2::text[]) WITH ORDINALITY AS e(t, n) WHERE NOT EXISTS (\
      SELECT 1 FROM \(PostgreSQLCatalog.relations) JOIN pg_catalog.pg_trigger t ON t.tgrelid = c.oid \
      WHERE t.tgname = e.t AND t.tgenabled <> 'D') ORDER BY e.n
      """, [names])
    return (0..<found.rowCount).map { "there is no trigger '\(found.string($0, 0))', or it is disabled" }
  }

  // MARK: Rights

  private func _rights(_ kinds: [PostgreSQLRight]) throws -> [String] {
    var (relations, rights): ([String], [String]) = ([], [])
    for expected in _expected.expectedRights {
      for right in expected.rights where kinds.contains(right) {
        relations.append(expected.relation)
        rights.append(right.rawValue)
      }
    }
    let found = try _ask(
      """
      SELECT e.r, pg_catalog.string_agg(e.p, ', ' ORDER BY e.n) FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS e(r, p, n) \
      JOIN pg_catalog.pg_class c ON c.relname = e.r AND c.relkind IN ('r', 'p') AND c.relnamespace = \
      (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1::text) \
      WHERE NOT pg_catalog.has_table_privilege(c.oid, e.p) GROUP BY e.r ORDER BY pg_catalog.min(e.n)
      """, [relations, rights])
    return (0..<found.rowCount).map {
      "the role has no right to \(found.string($0, 1)) in the table '\(found.string($0, 0))'"
    }
  }
}
