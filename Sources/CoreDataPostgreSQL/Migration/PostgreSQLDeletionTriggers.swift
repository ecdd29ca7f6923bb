import CoreData
import CoreDataModelSchema

/// The triggers that apply the delete rules which programs with other versions of the model do not know.
///
/// Such a program deletes an object and leaves alone what relationships of other versions link to it. The triggers clear or
/// delete that at its COMMIT, when all that it writes itself is written: a program that has applied a rule itself leaves
/// nothing to do. Those for newer relationships do not run for programs that know the rules, which say their epoch
/// in each transaction; all run for deletions by other SQL, too. A migration or contraction that ends older versions
/// drops them.
///
/// Deny can no longer be checked then and clears the link, as Nullify does. So does Cascade of a relationship that the
/// newer version has left out, unless it has left out the destination, too: to newer programs the objects are of their own.
struct PostgreSQLDeletionTriggers {
  /// A transaction setting that has the epoch of the writing program.
  static let epoch = "coredata.epoch"
  /// A regular expression of the names of the triggers, and of their functions.
  static let names = "^_rule_[0-9]+_[0-9]+$"

  private struct Rule: Hashable {
    let entity: Int
    let slot: Int
  }

  private let _mapping: StoreMapping
  private let _s: String
  private let _epoch: Int64
  /// Whether the rules are of the older version, and for all programs.
  private let _isHidden: Bool
  /// The entities of the other version.
  private let _known: Set<String>
  private var _rules: [Rule] = []

  /// Returns the statements for an expansion, to be run once the tables exist.
  ///
  /// - Parameters:
  ///   - old: The version of the model that programs go on with.
  ///   - new: The version that adds to it, and hides what it leaves out.
  ///   - epoch: The epoch of the new version.
  static func statements(
    from old: StoreMapping, to new: StoreMapping, epoch: Int64, schema: String
  ) -> [String] {
    let added = Self(beside: old.layout, new, epoch, schema, isHidden: false)._functions
    let hidden = Self(beside: new.layout, old, epoch, schema, isHidden: true)._functions
    return (added + hidden).enumerated().flatMap { place, make in make("_rule_\(epoch)_\(place)") }
  }

  /// Collects the rules of a version that another one does not know.
  private init(
    beside other: ModelLayout, _ mapping: StoreMapping, _ epoch: Int64, _ schema: String, isHidden: Bool
  ) {
    _mapping = mapping
    _s = PostgreSQLNames.quoted(schema)
    _epoch = epoch
    _isHidden = isHidden
    let known = Dictionary(
      other.schema.entities.map { ($0.name, Set($0.relationships.map(\.name))) },
      uniquingKeysWith: { first, _ in first })
    _known = Set(known.keys)
    var listed: Set<Rule> = []
    for layout in mapping.layout.layouts {
      guard let relationships = known[layout.entityName] else { continue }
      for slot in layout.slots.indices where layout.slots[slot].owner == layout.entityNumber {
        if relationships.contains(layout.slots[slot].name) { continue }
        _add(Rule(entity: layout.entityNumber, slot: slot), &listed)
      }
    }
    // What a trigger deletes, no program deletes: all of its rules are the server's.
    var next = 0
    while next < _rules.count {
      let rule = _rules[next]
      next += 1
      guard let relationship = _relationship(rule), _cascades(relationship) else { continue }
      for number in mapping.layout.layout(numbered: relationship.destination).family {
        let layout = mapping.layout.layout(numbered: number)
        for slot in layout.slots.indices { _add(Rule(entity: layout.slots[slot].owner, slot: slot), &listed) }
      }
    }
  }

  private func _cascades(_ relationship: PropertyLayout.Relationship) -> Bool {
    let destination = _mapping.layout.layout(numbered: relationship.destination)
    return relationship.deleteRule == .cascade
      && !(_isHidden && _known.contains(destination.entityName))
  }

  private mutating func _add(_ rule: Rule, _ listed: inout Set<Rule>) {
    let description = _mapping.layout.layout(numbered: rule.entity).slots[rule.slot]
    guard description.relationship != nil, !description.isTransient, !description.isHidden,
      listed.insert(rule).inserted
    else { return }
    _rules.append(rule)
  }

  private func _relationship(_ rule: Rule) -> PropertyLayout.Relationship? {
    _mapping.layout.layout(numbered: rule.entity).slots[rule.slot].relationship
  }

  /// What makes the function and the trigger of each table whose rows have such rules, with a name for both.
  private var _functions: [(_ name: String) -> [String]] {
    let tables = Dictionary(grouping: _rules) { _mapping.layout.layout(numbered: $0.entity).rootNumber }
    return tables.sorted { $0.key < $1.key }.compactMap { root, rules in
      let actions = rules.flatMap(_actions)
      if actions.isEmpty { return nil }
      let body = " BEGIN \(actions.map { $0 + ";" }.joined(separator: " ")) RETURN NULL; END "
      let table = _mapping.table(of: root).name
      let condition =
        _isHidden
        ? ""
        : """
         WHEN (COALESCE(NULLIF(pg_catalog.current_setting('\(Self.epoch)', true), ''), '0')::pg_catalog.int8 < \(_epoch))
        """
      return { name in
        let name = PostgreSQLNames.quoted(name)
        return [
          """
          CREATE FUNCTION \(_s).\(name)() RETURNS trigger LANGUAGE plpgsql AS \(PostgreSQLNames.body(body))
          """,
          """
          CREATE CONSTRAINT TRIGGER \(name) AFTER DELETE ON \(table) \
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW\(condition) EXECUTE FUNCTION \(_s).\(name)()
          """,
        ]
      }
    }
  }

  // MARK: Actions

  /// The statements that apply one rule to a deleted row.
  private func _actions(_ rule: Rule) -> [String] {
    guard let relationship = _relationship(rule) else { return [] }
    let cascades = _cascades(relationship)
    switch _mapping.storage(of: rule.slot, in: rule.entity) {
    case .manyToMany(let index, let ownerIsFirst, let destination):
      let join = _mapping.joins[index]
      let (owner, member, _) = join.ends(ownerIsFirst: ownerIsFirst)
      let members = "SELECT j.\(member) FROM \(join.name) j WHERE j.\(owner) = OLD.\"id\""
      return (cascades ? [_deletion(destination, "t.\"id\" IN (\(members))")] : [])
        + (join.isReflexive ? [owner, member] : [owner]).map {
          "DELETE FROM \(join.name) WHERE \($0) = OLD.\"id\""
        }
    case .oneToMany(let destination, let inverse):
      return _pointing(destination, inverse, relationship)
    case .toOne(let column, _, _, let destination):
      if let inverse = relationship.inverseSlot,
        _mapping.layout.layout(numbered: destination).slots[inverse].isToOne
      {
        return _pointing(destination, inverse, relationship)
      }
      let target = "OLD.\(_mapping.column(column, of: rule.entity).name)"
      return cascades ? [_deletion(destination, "t.\"id\" = \(target)")] : []
    case .none, .attribute, .composite: return []
    }
  }

  /// The statement for the rows whose to-one points at the deleted one.
  private func _pointing(
    _ destination: Int, _ inverse: Int, _ relationship: PropertyLayout.Relationship
  ) -> [String] {
    let end = _mapping.layout.layout(numbered: destination).slots[inverse]
    guard case .toOne(let key, let entity, let order, _) = _mapping.storage(of: inverse, in: destination),
      relationship.deleteRule != .noAction || end.isHidden
    else { return [] }
    let table = _mapping.table(of: destination)
    let condition = "t.\(table.columns[key].name) = OLD.\"id\""
    if _cascades(relationship) { return [_deletion(destination, condition)] }
    let list = [key, entity, order].compactMap { $0.map { "\(table.columns[$0].name) = NULL" } }
    // A row that the same transaction has written has its next version already.
    let change = """
      UPDATE \(table.name) t SET \(list.joined(separator: ", ")), \
      "version" = "version" + (t.xmin <> pg_catalog.pg_current_xact_id()::pg_catalog.xid)::pg_catalog.int4 \
      WHERE \(condition)
      """
    return [end.isHidden ? change : _recorded(change, .update, end.name)]
  }

  private func _deletion(_ destination: Int, _ condition: String) -> String {
    _recorded("DELETE FROM \(_mapping.table(of: destination).name) t WHERE \(condition)", .delete, nil)
  }

  /// A statement that changes rows, and adds that to the history if the transaction has recorded one.
  private func _recorded(_ change: String, _ kind: HistoryChangeRecord.Kind, _ property: String?) -> String {
    """
    WITH w AS (\(change) RETURNING t."id", t."entity"), c AS (UPDATE \(_s)."_history_counter" SET \
    "changes" = "changes" + (SELECT pg_catalog.count(*) FROM w) \
    WHERE xmin = pg_catalog.pg_current_xact_id()::pg_catalog.xid AND EXISTS (SELECT 1 FROM w) \
    RETURNING "n", "changes") \
    INSERT INTO \(_s)."_history_change" ("transaction", "number", "kind", "entity", "key", "properties") \
    SELECT c."n", c."changes" - pg_catalog.row_number() OVER () + 1, \(kind.rawValue), w."entity", w."id", \
    \(property.map(PostgreSQLNames.literal) ?? "NULL") FROM c, w
    """
  }
}
