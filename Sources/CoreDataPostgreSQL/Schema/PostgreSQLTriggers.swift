import CoreData
import CoreDataModelSchema

/// The triggers that maintain attributes derived from other rows.
///
/// Each runs once per statement, however many rows the statement writes. It locks the rows to update in key
/// order, and computes them in a separate statement, which sees the commits that the lock waited for.
struct PostgreSQLTriggers {
  /// A transaction setting that lists the rows which triggers have written, as `entity:key,…`.
  static let report = "coredata.derived"

  private let _mapping: StoreMapping
  private let _s: String
  private let _derivations: PostgreSQLDerivations

  init(_ mapping: StoreMapping, _ derivations: PostgreSQLDerivations, schema: String) {
    _mapping = mapping
    _derivations = derivations
    _s = PostgreSQLNames.quoted(schema)
  }

  /// Functions and triggers, to be run once the tables exist.
  var statements: [String] {
    _derivations.distant.enumerated().flatMap { Writer(self, $0.offset, $0.element)?.statements ?? [] }
  }

  /// Names of the triggers.
  var names: [String] {
    _derivations.distant.enumerated().flatMap { Writer(self, $0.offset, $0.element)?.names ?? [] }
  }

  /// Statements that recompute all rows, for use after a migration.
  var refreshes: [String] {
    _derivations.distant.enumerated().compactMap { Writer(self, $0.offset, $0.element)?.refresh }
  }

  /// The triggers of one attribute.
  private struct Writer {
    private let _parent: PostgreSQLTriggers
    private let _number: Int
    private let _layout: PropertyLayout
    private let _table: String
    private let _column: String
    /// SQL for the value of the row `t`.
    private var _value = ""
    private(set) var statements: [String] = []
    private(set) var names: [String] = []

    init?(_ parent: PostgreSQLTriggers, _ number: Int, _ attribute: PostgreSQLDerivations.Distant) {
      _parent = parent
      _number = number
      let mapping = parent._mapping
      _layout = mapping.layout.layout(numbered: attribute.entity)
      let table = mapping.table(of: attribute.entity)
      guard case .attribute(let column) = mapping.storage(of: attribute.slot, in: attribute.entity) else {
        return nil
      }
      _table = table.name
      _column = table.columns[column].name
      switch attribute.derivation.source {
      case .distant(let toOne, let source):
        guard case .toOne(let key, _, _, let destination) = mapping.storage(of: toOne, in: attribute.entity),
          let source = _name(source, destination)
        else { return nil }
        _distant(
          table.columns[key].name, mapping.table(of: destination).name, source, attribute.derivation.function)
      case .members(let toMany, let function, let source):
        guard _members(toMany, function, source) else { return nil }
      case .moment, .attribute: return nil
      }
    }

    /// Recomputes the attribute in all rows of the entity.
    var refresh: String { "UPDATE \(_table) t SET \(_column) = \(_value) WHERE true\(_family)" }

    private func _name(_ slot: Int, _ number: Int) -> String? {
      guard case .attribute(let column) = _parent._mapping.storage(of: slot, in: number) else { return nil }
      return _parent._mapping.column(column, of: number).name
    }

    /// Restricts to rows of the entity that has the attribute.
    private var _family: String {
      guard _layout.entityNumber != _layout.rootNumber else { return "" }
      let numbers = _layout.family.map { String(_parent._mapping.numbers.stored(for: $0)) }
      return " AND t.\"entity\" IN (\(numbers.joined(separator: ", ")))"
    }

    /// Adds a trigger on `source` that updates the rows of these keys.
    private mutating func _trigger(_ suffix: String, on source: String, _ event: String, _ keys: String) {
      let plain = "_derive_\(_number)_\(suffix)"
      names.append(plain)
      let name = PostgreSQLNames.quoted(plain)
      let tables =
        switch event {
        case "INSERT": "NEW TABLE AS new_rows"
        case "DELETE": "OLD TABLE AS old_rows"
        default: "OLD TABLE AS old_rows NEW TABLE AS new_rows"
        }
      let body = """
        DECLARE found bigint[]; written text; BEGIN \
        found := ARRAY(\(keys)); \
        IF pg_catalog.cardinality(found) > 0 THEN \
        PERFORM 1 FROM \(_table) t WHERE t."id" = ANY(found)\(_family) ORDER BY t."id" FOR UPDATE; \
        WITH w AS (UPDATE \(_table) t SET \(_column) = \(_value) WHERE t."id" = ANY(found)\(_family) \
        AND t.\(_column) IS DISTINCT FROM \(_value) RETURNING t."id", t."entity") \
        SELECT pg_catalog.string_agg(w."entity" || ':' || w."id", ',') INTO written FROM w; \
        IF written IS NOT NULL THEN PERFORM pg_catalog.set_config('\(PostgreSQLTriggers.report)', \
        pg_catalog.concat_ws(',', nullif(pg_catalog.current_setting('\(PostgreSQLTriggers.report)', true), ''), written), true); END IF; \
        END IF; RETURN NULL; END
        """
      statements.append(
        "CREATE OR REPLACE FUNCTION \(_parent._s).\(name)() RETURNS trigger LANGUAGE plpgsql "
          + "AS \(PostgreSQLNames.body(" \(body) "))")
      statements.append(
        """
        CREATE TRIGGER \(name) AFTER \(event) ON \(source) REFERENCING \(tables) FOR EACH STATEMENT \
        EXECUTE FUNCTION \(_parent._s).\(name)()
        """)
    }

    /// Returns keys of rows in which one of these columns has changed.
    private func _changed(_ select: String, _ columns: [String]) -> String {
      let differs = columns.map { "n.\($0) IS DISTINCT FROM o.\($0)" }.joined(separator: " OR ")
      return "SELECT \(select) FROM new_rows n JOIN old_rows o ON o.\"id\" = n.\"id\" WHERE \(differs)"
    }

    // MARK: Kinds

    private mutating func _distant(
      _ key: String, _ target: String, _ source: String, _ function: Derivation.TextFunction?
    ) {
      let column = "d.\(source)"
      let value =
        switch function {
        case .uppercase: "\(_parent._s).upper_case(\(column))"
        case .lowercase: "\(_parent._s).lower_case(\(column))"
        case .canonical, nil: column
        }
      _value = "(SELECT \(value) FROM \(target) d WHERE d.\"id\" = t.\(key))"
      let table = _table
      func owners(_ keys: String) -> String { "SELECT t.\"id\" FROM \(table) t WHERE t.\(key) IN (\(keys))" }
      _trigger(
        "own_insert", on: _table, "INSERT", "SELECT n.\"id\" FROM new_rows n WHERE n.\(key) IS NOT NULL")
      _trigger("own_update", on: _table, "UPDATE", _changed("n.\"id\"", [key]))
      _trigger("insert", on: target, "INSERT", owners("SELECT n.\"id\" FROM new_rows n"))
      _trigger("update", on: target, "UPDATE", owners(_changed("n.\"id\"", [source])))
    }

    private mutating func _members(_ toMany: Int, _ function: String, _ attribute: Int?) -> Bool {
      let mapping = _parent._mapping
      switch mapping.storage(of: toMany, in: _layout.entityNumber) {
      case .oneToMany(let destination, let inverse):
        guard case .toOne(let key, _, _, _) = mapping.storage(of: inverse, in: destination) else {
          return false
        }
        let child = mapping.table(of: destination)
        let keyName = child.columns[key].name
        guard let attribute else {
          _owned(child.name, keyName, nil, "pg_catalog.COUNT(*)")
          return true
        }
        guard let source = _name(attribute, destination) else { return false }
        _owned(child.name, keyName, source, Self._total(function, "d.\(source)"))
        return true
      case .manyToMany(let index, let ownerIsFirst, let destination):
        let join = mapping.joins[index]
        let ends = join.ends(ownerIsFirst: ownerIsFirst)
        var source: String?
        if let attribute {
          source = _name(attribute, destination)
          if source == nil { return false }
        }
        _paired(
          join.name, ends.owner, ends.member, mapping.table(of: destination).name, source,
          source.map { Self._total(function, "d.\($0)") } ?? "pg_catalog.COUNT(*)")
        return true
      case .none, .attribute, .toOne, .composite: return false
      }
    }

    private static func _total(_ function: String, _ value: String) -> String {
      function == "SUM" ? "COALESCE(pg_catalog.SUM(\(value)), 0)" : "pg_catalog.\(function)(\(value))"
    }

    private mutating func _owned(_ child: String, _ key: String, _ source: String?, _ total: String) {
      _value = "(SELECT \(total) FROM \(child) d WHERE d.\(key) = t.\"id\")"
      func some(_ rows: String) -> String {
        "SELECT DISTINCT r.\(key) FROM \(rows) r WHERE r.\(key) IS NOT NULL"
      }
      _trigger("insert", on: child, "INSERT", some("new_rows"))
      _trigger("delete", on: child, "DELETE", some("old_rows"))
      let columns = [key] + (source.map { [$0] } ?? [])
      _trigger(
        "update", on: child, "UPDATE",
        "SELECT k FROM (\(_changed("n.\(key) AS k", columns)) UNION \(_changed("o.\(key)", columns))) c WHERE k IS NOT NULL"
      )
      _trigger("own_insert", on: _table, "INSERT", "SELECT n.\"id\" FROM new_rows n")
    }

    private mutating func _paired(
      _ join: String, _ owner: String, _ member: String, _ target: String, _ source: String?, _ total: String
    ) {
      let members = source == nil ? "" : " JOIN \(target) d ON d.\"id\" = j.\(member)"
      _value = "(SELECT \(total) FROM \(join) j\(members) WHERE j.\(owner) = t.\"id\")"
      _trigger("insert", on: join, "INSERT", "SELECT DISTINCT r.\(owner) FROM new_rows r")
      _trigger("delete", on: join, "DELETE", "SELECT DISTINCT r.\(owner) FROM old_rows r")
      if let source {
        _trigger(
          "update", on: target, "UPDATE",
          "SELECT DISTINCT j.\(owner) FROM \(join) j WHERE j.\(member) IN (\(_changed("n.\"id\"", [source])))"
        )
      }
      _trigger("own_insert", on: _table, "INSERT", "SELECT n.\"id\" FROM new_rows n")
    }
  }
}
