import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Synchronization

/// How one value of a row becomes an element of a column's array.
enum PostgreSQLWriteCell: Sendable {
  case attribute(slot: Int)
  /// An element of a composite, by its index path.
  case element(slot: Int, path: [Int])
  case key(slot: Int)
  /// Number of the entity of a to-one's destination.
  case entity(slot: Int)
  /// A derived attribute: the result of a function of the value in a slot.
  case derived(from: Int, Derivation.TextFunction?)
  /// The time of writing.
  case moment

  /// The slot of the value; nil for the time of writing.
  var slot: Int? {
    switch self {
    case .attribute(let slot), .element(let slot, _), .key(let slot), .entity(let slot),
      .derived(let slot, _):
      slot
    case .moment: nil
    }
  }
}

/// A column that a statement writes.
struct PostgreSQLWriteColumn: Sendable {
  let name: String
  let type: PostgreSQLType
  let cell: PostgreSQLWriteCell
}

/// An INSERT or UPDATE of rows of one entity, with an array for each column.
struct PostgreSQLWritePlan: Sendable {
  struct Statement: Sendable {
    let sql: String
    /// Fails on the server unless it writes as many rows as one more parameter says: the result of a statement that is sent
    /// together with COMMIT comes too late, and a trigger may keep a row from being written.
    let countedSQL: String

    fileprivate init(_ sql: String, _ parameterCount: Int) {
      self.sql = sql
      let wanted = "$\(parameterCount + 1)::int8"
      // A text that is no number, and says what is wrong.
      countedSQL = """
        WITH w AS (\(sql) RETURNING 1) \
        SELECT (pg_catalog.count(*) || ' of ' || \(wanted) || '\(PostgreSQLError._rowsNotWritten)')::int4 FROM w \
        HAVING pg_catalog.count(*) <> \(wanted)
        """
    }
  }

  /// For any number of rows. The server plans it anew each time, for as many as the arrays have.
  private let _many: Statement
  /// For one row, with the same parameters. The server keeps the plan, which no other values would change.
  private let _one: Statement
  /// For rows of one version that get another one and nothing else: their keys, and the two versions, which are no arrays.
  let step: Statement?
  let columns: [PostgreSQLWriteColumn]

  /// - Parameter parameterCount: The number of parameters of the statements.
  init(
    many: String, one: String, step: String? = nil, parameterCount: Int, columns: [PostgreSQLWriteColumn]
  ) {
    (_many, _one) = (Statement(many, parameterCount), Statement(one, parameterCount))
    self.step = step.map { Statement($0, 3) }
    self.columns = columns
  }

  /// Returns the statement for a number of rows.
  func statement(_ count: Int) -> Statement { count == 1 ? _one : _many }

  func sql(_ count: Int) -> String { statement(count).sql }

  /// Returns the first elements of parameters, which are arrays of these types.
  static func elements(_ types: [PostgreSQLType]) -> [String] {
    types.enumerated().map { "($\($0.offset + 1)::\($0.element.name))[1]" }
  }
}

extension PostgreSQLError {
  fileprivate static let _rowsNotWritten = " locked rows were written"

  /// Whether a statement has written fewer rows than it was to: they are in another version, or the server keeps them from being written.
  var isOfRowsNotWritten: Bool { state == "22P02" && message.contains(Self._rowsNotWritten) }
}

/// The statements that saves run, created once for each entity and set of changed slots.
final class PostgreSQLWritePlans: Sendable {
  private struct Key: Hashable {
    let entity: Int
    let slots: SlotSet
  }

  private let _mapping: StoreMapping
  private let _derivations: PostgreSQLDerivations
  let inserts: [PostgreSQLWritePlan]
  /// COPY commands for the same columns in the same order, after entity, key and version, by entity number -
  /// 1.
  let copies: [String]
  /// Further deletions that accompany deleted rows, whose keys are the first parameter, by entity number - 1.
  let cleanups: [[String]]
  private let _updates = Mutex<[Key: PostgreSQLWritePlan]>([:])

  init(_ mapping: StoreMapping, _ derivations: PostgreSQLDerivations) {
    _mapping = mapping
    _derivations = derivations
    inserts = mapping.layout.layouts.map { Self._insert($0, mapping, derivations) }
    copies = zip(mapping.layout.layouts, inserts).map { layout, plan in
      let names = ["\"entity\"", "\"id\"", "\"version\""] + plan.columns.map(\.name)
      return
        "COPY \(mapping.table(of: layout.entityNumber).name) (\(names.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
    }
    cleanups = mapping.layout.layouts.map { Self._cleanups($0, mapping) }
  }

  /// Returns the UPDATE that sets these slots of an entity. To-many slots set no column.
  func update(_ slots: SlotSet, of number: Int) -> PostgreSQLWritePlan {
    let key = Key(entity: number, slots: slots)
    return _updates.withLock { plans in
      if let known = plans[key] { return known }
      let plan = _update(slots, of: number)
      plans[key] = plan
      return plan
    }
  }

  /// Returns the UPDATE that recomputes the attributes derived from these slots, for rows given by key; nil
  /// if there are none.
  func derived(of slots: SlotSet, in number: Int) -> PostgreSQLWritePlan? {
    let layout = _mapping.layout.layout(numbered: number)
    let table = _mapping.table(of: number)
    let columns = _derivations.own(of: number, changed: slots).compactMap {
      Self._column($0, layout, table, _mapping)
    }
    if columns.isEmpty { return nil }
    let arrays = columns.enumerated().map { "$\($0.offset + 2)::\($0.element.type.name)" }
    let aliases = columns.indices.map { "c\($0)" }
    let sets = columns.enumerated().map { "\($0.element.name) = n.c\($0.offset)" }
    let elements = PostgreSQLWritePlan.elements([.int8Array] + columns.map(\.type))
    let settings = zip(columns, elements.dropFirst()).map { "\($0.name) = \($1)" }
    return PostgreSQLWritePlan(
      many: """
        UPDATE \(table.name) t SET \(sets.joined(separator: ", ")) \
        FROM unnest($1::int8[], \(arrays.joined(separator: ", "))) AS n(k, \(aliases.joined(separator: ", "))) \
        WHERE t."id" = n.k
        """,
      one: "UPDATE \(table.name) SET \(settings.joined(separator: ", ")) WHERE \"id\" = \(elements[0])",
      parameterCount: elements.count, columns: columns)
  }

  private static func _insert(
    _ layout: PropertyLayout, _ mapping: StoreMapping, _ derivations: PostgreSQLDerivations
  ) -> PostgreSQLWritePlan {
    let table = mapping.table(of: layout.entityNumber)
    let own = derivations.own[layout.entityNumber - 1]
    let derived = derivations.distantSlots[layout.entityNumber - 1].union(own.map(\.slot))
    let columns =
      layout.slots.indices.filter { !derived.contains($0) }.flatMap { _columns($0, layout, table, mapping) }
      + own.compactMap { _column($0, layout, table, mapping) }
    let names = ["\"id\"", "\"version\""] + columns.map(\.name)
    let types = [PostgreSQLType.int8Array, .int8Array] + columns.map(\.type)
    let arrays = types.enumerated().map { "$\($0.offset + 1)::\($0.element.name)" }.joined(separator: ", ")
    let aliases = names.indices.map { "c\($0)" }
    let insertion = "INSERT INTO \(table.name) (\"entity\", \(names.joined(separator: ", ")))"
    let number = mapping.numbers.stored(for: layout.entityNumber)
    let elements = PostgreSQLWritePlan.elements(types)
    return PostgreSQLWritePlan(
      many: """
        \(insertion) SELECT \(number), \(aliases.joined(separator: ", ")) FROM unnest(\(arrays)) \
        AS n(\(aliases.joined(separator: ", ")))
        """, one: "\(insertion) VALUES (\(number), \(elements.joined(separator: ", ")))",
      parameterCount: types.count, columns: columns)
  }

  private func _update(_ slots: SlotSet, of number: Int) -> PostgreSQLWritePlan {
    let layout = _mapping.layout.layout(numbered: number)
    let table = _mapping.table(of: number)
    let own = _derivations.own(of: number, changed: slots)
    let derived = _derivations.distantSlots[number - 1].union(_derivations.own[number - 1].map(\.slot))
    let columns =
      layout.slots.indices.filter { slots.contains($0) && !derived.contains($0) }.flatMap {
        Self._columns($0, layout, table, _mapping)
      } + own.compactMap { Self._column($0, layout, table, _mapping) }
    let types = [PostgreSQLType.int8Array, .int8Array, .int8Array] + columns.map(\.type)
    let arrays = types.enumerated().map { "$\($0.offset + 1)::\($0.element.name)" }.joined(separator: ", ")
    let aliases = types.indices.map { "c\($0)" }.joined(separator: ", ")
    let sets =
      ["\"version\" = n.c2"] + columns.enumerated().map { "\($0.element.name) = n.c\($0.offset + 3)" }
    let elements = PostgreSQLWritePlan.elements(types)
    let settings = zip(["\"version\""] + columns.map(\.name), elements.dropFirst(2)).map { "\($0) = \($1)" }
    return PostgreSQLWritePlan(
      many: """
        UPDATE \(table.name) t SET \(sets.joined(separator: ", ")) FROM unnest(\(arrays)) AS n(\(aliases)) \
        WHERE t."id" = n.c0 AND t."version" = n.c1
        """,
      one: """
        UPDATE \(table.name) SET \(settings.joined(separator: ", ")) \
        WHERE "id" = \(elements[0]) AND "version" = \(elements[1])
        """,
      step: columns.isEmpty
        ? """
        UPDATE \(table.name) SET "version" = $3::int8 WHERE "id" = ANY($1::int8[]) AND "version" = $2::int8
        """ : nil, parameterCount: types.count, columns: columns)
  }

  private static func _cleanups(_ layout: PropertyLayout, _ mapping: StoreMapping) -> [String] {
    var result: [String] = []
    for slot in layout.slots.indices {
      switch mapping.storage(of: slot, in: layout.entityNumber) {
      case .manyToMany(let index, let ownerIsFirst, _):
        let join = mapping.joins[index]
        let owner = join.ends(ownerIsFirst: ownerIsFirst).owner
        result.append("DELETE FROM \(join.name) WHERE \(owner) = ANY($1::int8[])")
        if join.isReflexive {
          result.append("DELETE FROM \(join.name) WHERE \(join.second) = ANY($1::int8[])")
        }
      case .oneToMany(let destination, let inverse)
      where mapping.layout.layout(numbered: destination).slots[inverse].isHidden:
        guard case .toOne(let key, let entity, _, _) = mapping.storage(of: inverse, in: destination) else {
          continue
        }
        let table = mapping.table(of: destination)
        let names = [key, entity].compactMap { $0.map { table.columns[$0].name } }
        let list = names.map { "\($0) = NULL" }.joined(separator: ", ")
        result.append("UPDATE \(table.name) SET \(list) WHERE \(table.columns[key].name) = ANY($1::int8[])")
      default: break
      }
    }
    return result
  }

  /// Returns the columns of a slot, with their values.
  private static func _columns(
    _ slot: Int, _ layout: PropertyLayout, _ table: TableMapping, _ mapping: StoreMapping
  ) -> [PostgreSQLWriteColumn] {
    switch mapping.storage(of: slot, in: layout.entityNumber) {
    case .attribute(let column): return [_column(table.columns[column], .attribute(slot: slot))]
    case .toOne(let column, let entityColumn, _, _):
      return [_column(table.columns[column], .key(slot: slot))]
        + (entityColumn.map { [_column(table.columns[$0], .entity(slot: slot))] } ?? [])
    case .composite(let leaves):
      return leaves.map { _column(table.columns[$0.column], .element(slot: slot, path: $0.path)) }
    case .none, .oneToMany, .manyToMany: return []
    }
  }

  /// Returns the column of a derived attribute that depends on its own row.
  private static func _column(
    _ own: PostgreSQLDerivations.Own, _ layout: PropertyLayout, _ table: TableMapping, _ mapping: StoreMapping
  ) -> PostgreSQLWriteColumn? {
    guard case .attribute(let column) = mapping.storage(of: own.slot, in: layout.entityNumber) else {
      return nil
    }
    let cell = own.source.map { PostgreSQLWriteCell.derived(from: $0, own.function) } ?? .moment
    return _column(table.columns[column], cell)
  }

  private static func _column(_ column: TableColumn, _ cell: PostgreSQLWriteCell) -> PostgreSQLWriteColumn {
    let type: PostgreSQLType =
      switch column.declaredType {
      case "smallint": .int2Array
      case "integer": .int4Array
      case "boolean": .boolArray
      case "double precision": .float8Array
      case "numeric": .numericArray
      case "uuid": .uuidArray
      case "bytea": .bytesArray
      case "bigint": .int8Array
      default: .textArray
      }
    return PostgreSQLWriteColumn(name: column.name, type: type, cell: cell)
  }
}
