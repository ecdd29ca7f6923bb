import CoreDataPostgreSQLBinding

/// The owners, rights and comments of tables, sequences and views of a schema.
///
/// A migration recreates tables. It reads these traits before, and applies them to the new tables afterwards.
struct PostgreSQLTableTraits {
  private struct Relation {
    let owner: String
    /// The catalog's letter for the kind: table, view or sequence.
    let kind: String
  }

  private struct Grant: Hashable {
    let relation: String
    /// Nil for a right to the whole relation.
    let column: String?
    let right: String
    /// Nil for PUBLIC.
    let role: String?
    let isGrantable: Bool
  }

  private struct Place: Hashable {
    let relation: String
    /// Nil for the relation itself.
    let column: String?
  }

  private let _connection: PostgreSQLConnection
  private let _schema: String
  private var _relations: [String: Relation] = [:]
  private var _grants: Set<Grant> = []
  private var _comments: [Place: String] = [:]

  /// Reads the current traits.
  init(_ schema: String, on connection: PostgreSQLConnection) throws {
    _schema = schema
    _connection = connection
    try _readRelations()
    try _readGrants()
    try _readComments()
  }

  private func _ask(_ sql: String) throws -> PostgreSQLResult {
    var parameters = PostgreSQLParameters()
    parameters.add(_schema)
    return try _connection.run(sql, parameters, isRepeated: false)
  }

  private mutating func _readRelations() throws {
    let found = try _ask(
      """
      SELECT c.relname::text, pg_catalog.pg_get_userbyid(c.relowner)::text, c.relkind::text \
      FROM \(PostgreSQLCatalog.relations) WHERE c.relkind IN ('r', 'p', 'v', 'S')
      """)
    for row in 0..<found.rowCount {
      _relations[found.string(row, 0)] = Relation(owner: found.string(row, 1), kind: found.string(row, 2))
    }
  }

  private mutating func _readGrants() throws {
    let found = try _ask(
      """
      SELECT g.r, g.c, x.privilege_type::text, pg_catalog.pg_get_userbyid(x.grantee)::text, x.grantee = 0, x.is_grantable \
      FROM (SELECT c.relname::text, NULL, c.relowner, c.relacl FROM \(PostgreSQLCatalog.relations) \
      WHERE c.relkind IN ('r', 'p', 'v', 'S') \
      UNION ALL SELECT c.relname::text, a.attname::text, c.relowner, a.attacl FROM \(PostgreSQLCatalog.relations) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND c.relkind IN ('r', 'p', 'v') \
      WHERE NOT a.attisdropped AND a.attacl IS NOT NULL) AS g(r, c, o, acl) \
      CROSS JOIN LATERAL pg_catalog.aclexplode(g.acl) x WHERE x.grantee <> g.o
      """)
    for row in 0..<found.rowCount {
      _grants.insert(
        Grant(
          relation: found.string(row, 0), column: found.isNull(row, 1) ? nil : found.string(row, 1),
          right: found.string(row, 2), role: found.int64(row, 4) != 0 ? nil : found.string(row, 3),
          isGrantable: found.int64(row, 5) != 0))
    }
  }

  private mutating func _readComments() throws {
    let found = try _ask(
      """
      SELECT c.relname::text, a.attname::text, d.description FROM \(PostgreSQLCatalog.relations) \
      JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.classoid = 'pg_catalog.pg_class'::regclass \
      LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid AND d.objsubid > 0 \
      WHERE c.relkind IN ('r', 'p', 'v', 'S')
      """)
    for row in 0..<found.rowCount {
      let place = Place(
        relation: found.string(row, 0), column: found.isNull(row, 1) ? nil : found.string(row, 1))
      _comments[place] = found.string(row, 2)
    }
  }

  // MARK: Applying

  /// Applies the traits to the relations that exist now.
  ///
  /// - Parameters:
  ///   - names: Former names of renamed relations, by their new names.
  ///   - kept: Relations that are the old ones, and have their owners and rights.
  ///   - made: Comments that the store had created itself. Only others are restored.
  func apply(renamed names: [String: String], kept: Set<String> = [], made: [PostgreSQLComment]) throws {
    func former(_ relation: String) -> String { names[relation] ?? relation }
    let owners = try PostgreSQLTableTraits(_schema, on: _connection)
    for (name, relation) in owners._relations.sorted(by: { $0.key < $1.key }) {
      // A table's sequence follows its owner.
      guard let old = _relations[former(name)], old.owner != relation.owner, relation.kind != "S" else {
        continue
      }
      try _connection.execute(
        "ALTER \(_word(relation.kind)) \(_qualified(name)) OWNER TO \(PostgreSQLNames.quoted(old.owner))")
    }
    let now = try PostgreSQLTableTraits(_schema, on: _connection)
    let columns = try _columns()
    for name in now._relations.keys.sorted() where _relations[former(name)] != nil && !kept.contains(name) {
      let wanted = Set(
        _grants.filter { $0.relation == former(name) }.map {
          Grant(
            relation: name, column: $0.column, right: $0.right, role: $0.role, isGrantable: $0.isGrantable)
        })
      let present = now._grants.filter { $0.relation == name }
      // Default privileges may have granted new tables more rights.
      for grant in present.subtracting(wanted) { try _revoke(grant, now) }
      for grant in wanted.subtracting(present)
      where grant.column.map({ columns.contains(Place(relation: name, column: $0)) }) ?? true {
        try _grant(grant, now)
      }
    }
    let own = Set(made.map { Comment(place: Place(relation: $0.relation, column: $0.column), text: $0.text) })
    for place in columns where _relations[former(place.relation)] != nil {
      let old = Place(relation: former(place.relation), column: place.column)
      guard let text = _comments[old], !own.contains(Comment(place: old, text: text)),
        now._comments[place] != text, let kind = now._relations[place.relation]?.kind
      else { continue }
      let name = _qualified(place.relation)
      let object =
        place.column.map { "COLUMN \(name).\(PostgreSQLNames.quoted($0))" } ?? "\(_word(kind)) \(name)"
      try _connection.execute("COMMENT ON \(object) IS \(PostgreSQLNames.literal(text))")
    }
  }

  private struct Comment: Hashable {
    let place: Place
    let text: String
  }

  /// Returns all relations and their columns.
  private func _columns() throws -> Set<Place> {
    let found = try _ask(
      """
      SELECT c.relname::text, a.attname::text FROM \(PostgreSQLCatalog.relations) \
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND c.relkind IN ('r', 'p', 'v', 'S') \
      WHERE a.attnum > 0 AND NOT a.attisdropped
      """)
    var result: Set<Place> = []
    for row in 0..<found.rowCount {
      result.insert(Place(relation: found.string(row, 0), column: nil))
      result.insert(Place(relation: found.string(row, 0), column: found.string(row, 1)))
    }
    return result
  }

  private func _word(_ kind: String) -> String {
    switch kind {
    case "v": "VIEW"
    case "S": "SEQUENCE"
    default: "TABLE"
    }
  }

  private func _qualified(_ name: String) -> String {
    "\(PostgreSQLNames.quoted(_schema)).\(PostgreSQLNames.quoted(name))"
  }

  private func _target(_ grant: Grant, _ now: PostgreSQLTableTraits) -> String {
    let column = grant.column.map { " (\(PostgreSQLNames.quoted($0)))" } ?? ""
    let kind = now._relations[grant.relation]?.kind == "S" ? "SEQUENCE " : ""
    return "\(grant.right)\(column) ON \(kind)\(_qualified(grant.relation))"
  }

  private func _grant(_ grant: Grant, _ now: PostgreSQLTableTraits) throws {
    let role = grant.role.map(PostgreSQLNames.quoted) ?? "PUBLIC"
    let option = grant.isGrantable ? " WITH GRANT OPTION" : ""
    try _connection.execute("GRANT \(_target(grant, now)) TO \(role)\(option)")
  }

  private func _revoke(_ grant: Grant, _ now: PostgreSQLTableTraits) throws {
    let role = grant.role.map(PostgreSQLNames.quoted) ?? "PUBLIC"
    try _connection.execute("REVOKE \(_target(grant, now)) FROM \(role)")
  }
}

/// A comment on a table, view or column of a store.
struct PostgreSQLComment: Sendable {
  let relation: String
  /// Nil for a comment on the relation itself.
  let column: String?
  let text: String
}
