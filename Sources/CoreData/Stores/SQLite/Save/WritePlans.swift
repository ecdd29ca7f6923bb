import CoreDataModelSchema
import CoreDataSQLiteBinding
import Synchronization

/// One bound value of an INSERT or UPDATE.
enum WriteCell: Sendable {
  case attribute(slot: Int, ColumnContent)
  /// Takes two parameters if the destination's entity is stored as well.
  case toOne(slot: Int, hasEntity: Bool)
  /// One element of a composite attribute, by its path of element numbers.
  case element(slot: Int, path: [Int], ColumnContent)
}

/// INSERT of a row of one entity: key, entity, version, then `cells`.
struct InsertPlan: Sendable {
  let sql: SQLText
  let cells: [WriteCell]
}

/// UPDATE of some columns of a row: `cells`, new version, key, old version.
struct UpdatePlan: Sendable {
  let sql: SQLText
  let cells: [WriteCell]
  /// Selects, by key, the cells among these that may reference external data files; nil if none may.
  let files: SQLText?
}

/// DELETE of rows and their dependents; each statement takes an array of keys first, and `sql` the rows'
/// version second.
struct DeletePlan: Sendable {
  let sql: SQLText
  let unversioned: SQLText
  /// Selects the keys of the rows that exist.
  let existing: SQLText
  /// Deletes the rows' pairs in join tables, and clears hidden references to them.
  let cleanups: [SQLText]
  /// Selects, by key, the cells that may reference external data files; nil if none may.
  let files: SQLText?
}

/// The statements by which delete rules find and clear a to-one; each takes an array of keys.
struct LinkPlan: Sendable {
  /// The entity that declares the to-one. If a row's entity can differ, `find` selects that after the key.
  let entity: Int
  let hasEntity: Bool
  /// Selects the rows that point at the keys.
  let find: SQLText
  /// Clears the to-one of the rows that point at the keys, and increments their versions.
  let clear: SQLText
  /// Clears the to-one of the rows with the keys.
  let clearUnversioned: SQLText

  /// Nil for a slot that is not a stored to-one.
  init?(_ slot: Int, _ layout: PropertyLayout, _ mapping: StoreMapping) {
    guard
      case .toOne(let column, let entityColumn, let orderColumn, _) = mapping.storage(
        of: slot, in: layout.entityNumber)
    else { return nil }
    let table = mapping.table(of: layout.entityNumber)
    entity = layout.entityNumber
    hasEntity = table.hasSubentities
    let name = table.columns[column].name
    let isMember = "IN \(ValueArray.members)"
    let list = [column, entityColumn, orderColumn].compactMap {
      $0.map { "\(table.columns[$0].name) = NULL" }
    }
    .joined(separator: ", ")
    find = SQLText(
      "SELECT Z_PK\(hasEntity ? ", Z_ENT" : "") FROM \(table.name) WHERE \(name) \(isMember)")
    clear = SQLText(
      "UPDATE \(table.name) SET \(list), Z_OPT = IFNULL(Z_OPT, 0) + 1 WHERE \(name) \(isMember)")
    clearUnversioned = SQLText("UPDATE \(table.name) SET \(list) WHERE Z_PK \(isMember)")
  }
}

/// The statements of one to-many relationship, from its owner's perspective.
struct ToManyPlan: Sendable {
  /// The members' to-one is hidden, so the owner's changes write it. `add`: owner key, (owner entity,) member key;
  /// `remove`: member key, owner key.
  struct Hidden: Sendable {
    let add: SQLText
    let remove: SQLText
    let hasEntity: Bool
  }

  /// For an ordered relationship. `read`: owner key, returns member and order; `place`: member key, owner key,
  /// returns order; `write`: order, member key, owner key; `forget`: member key.
  struct Order: Sendable {
    let read: SQLText
    let place: SQLText
    let write: SQLText
    let forget: SQLText?
  }

  let hidden: Hidden?
  let order: Order?
}

/// The statements of a join table; both take first and second.
struct JoinPlan: Sendable {
  let insert: SQLText
  let delete: SQLText
}

/// Keys of a table: `highest` takes the root's Z_ENT, `store` that and the new Z_MAX.
struct KeyPlan: Sendable {
  let highest: SQLText
  let store: SQLText
}

/// The SQL for saving rows of one entity.
final class EntityPlans: Sendable {
  let insert: InsertPlan
  let delete: DeletePlan
  /// By slot.
  let links: [LinkPlan?]
  /// By slot.
  let toManys: [ToManyPlan?]
  /// Selects the version of a row by key.
  let version: SQLText

  fileprivate init(
    insert: InsertPlan, delete: DeletePlan, links: [LinkPlan?], toManys: [ToManyPlan?], version: SQLText
  ) {
    self.insert = insert
    self.delete = delete
    self.links = links
    self.toManys = toManys
    self.version = version
  }
}

/// All SQL for saving. An entity's statements are created when the first of its rows is saved, and its UPDATEs once for
/// each set of columns.
final class WritePlans: Sendable {
  let joins: [JoinPlan]
  private let _mapping: StoreMapping
  private let _keys: [Int: KeyPlan]
  /// By entity number - 1.
  private let _entities: Mutex<[EntityPlans?]>
  private let _updates = Mutex<[UpdateKey: UpdatePlan]>([:])

  private struct UpdateKey: Hashable {
    let entity: Int
    let slots: SlotSet
  }

  init(_ mapping: StoreMapping) {
    _mapping = mapping
    _entities = Mutex(Array(repeating: nil, count: mapping.layout.layouts.count))
    joins = mapping.joins.map { join in
      JoinPlan(
        insert: SQLText("INSERT OR IGNORE INTO \(join.name)(\(join.first), \(join.second)) VALUES(?, ?)"),
        delete: SQLText("DELETE FROM \(join.name) WHERE \(join.first) = ? AND \(join.second) = ?"))
    }
    _keys = Dictionary(
      uniqueKeysWithValues: mapping.tables.map { table in
        // Also considers the highest existing key: another program may not have maintained Z_MAX.
        let highest = """
          SELECT MAX(IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?), 0), \
          IFNULL((SELECT MAX(Z_PK) FROM \(table.name)), 0))
          """
        return (
          table.rootNumber,
          KeyPlan(
            highest: SQLText(highest), store: SQLText("UPDATE Z_PRIMARYKEY SET Z_MAX = ?2 WHERE Z_ENT = ?1"))
        )
      })
  }

  /// Returns the statements of the entity with this number.
  func entity(_ number: Int) -> EntityPlans {
    _entities.withLock { entities in
      if let known = entities[number - 1] { return known }
      let plans = _make(_mapping.layout.layout(numbered: number))
      entities[number - 1] = plans
      return plans
    }
  }

  private func _make(_ layout: PropertyLayout) -> EntityPlans {
    let slots = layout.slots.indices
    return EntityPlans(
      insert: Self._insert(layout, _mapping), delete: Self._delete(layout, _mapping),
      links: slots.map { LinkPlan($0, layout, _mapping) },
      toManys: slots.map { Self._toMany($0, layout, _mapping) },
      version: SQLText(
        "SELECT Z_OPT FROM \(_mapping.table(of: layout.entityNumber).name) WHERE Z_PK = ?"))
  }

  func keys(ofRoot number: Int) -> KeyPlan { _keys[number]! }

  /// Returns the UPDATE that sets these slots of an entity. To-many slots set no column.
  func update(_ slots: SlotSet, of entityNumber: Int) -> UpdatePlan {
    let key = UpdateKey(entity: entityNumber, slots: slots)
    return _updates.withLock { plans in
      if let known = plans[key] { return known }
      let plan = _makeUpdate(slots, of: entityNumber)
      plans[key] = plan
      return plan
    }
  }

  // MARK: Making plans

  private static func _insert(_ layout: PropertyLayout, _ mapping: StoreMapping) -> InsertPlan {
    let table = mapping.table(of: layout.entityNumber)
    var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
    var cells: [WriteCell] = []
    for slot in layout.slots.indices {
      let (names, parts) = _cells(slot, layout, table, mapping)
      columns += names
      cells += parts
    }
    let marks = Array(repeating: "?", count: columns.count).joined(separator: ", ")
    return InsertPlan(
      sql: SQLText("INSERT INTO \(table.name)(\(columns.joined(separator: ", "))) VALUES(\(marks))"),
      cells: cells)
  }

  private func _makeUpdate(_ slots: SlotSet, of entityNumber: Int) -> UpdatePlan {
    let layout = _mapping.layout.layout(numbered: entityNumber)
    let table = _mapping.table(of: entityNumber)
    var columns: [String] = []
    var cells: [WriteCell] = []
    for slot in layout.slots.indices where slots.contains(slot) {
      let (names, parts) = Self._cells(slot, layout, table, _mapping)
      columns += names
      cells += parts
    }
    let files = Self._files(slots, layout, table, _mapping)
    columns.append("Z_OPT")
    let list = columns.map { "\($0) = ?" }.joined(separator: ", ")
    return UpdatePlan(
      sql: SQLText("UPDATE \(table.name) SET \(list) WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?"), cells: cells,
      files: files)
  }

  /// Returns the columns and values of a slot; empty for values that the store computes.
  private static func _cells(
    _ slot: Int, _ layout: PropertyLayout, _ table: TableMapping, _ mapping: StoreMapping
  ) -> ([String], [WriteCell]) {
    if layout.slots[slot].isDerived { return ([], []) }
    switch mapping.storage(of: slot, in: layout.entityNumber) {
    case .attribute(let column):
      return ([table.columns[column].name], [.attribute(slot: slot, table.columns[column].content)])
    case .toOne(let column, let entityColumn, _, _):
      let names = [column, entityColumn].compactMap { $0.map { table.columns[$0].name } }
      return (names, [.toOne(slot: slot, hasEntity: entityColumn != nil)])
    case .composite(let leaves):
      return (
        leaves.map { table.columns[$0.column].name },
        leaves.map { .element(slot: slot, path: $0.path, table.columns[$0.column].content) }
      )
    case .none, .oneToMany, .manyToMany: return ([], [])
    }
  }

  private static func _files(
    _ slots: SlotSet?, _ layout: PropertyLayout, _ table: TableMapping, _ mapping: StoreMapping
  ) -> SQLText? {
    let names = layout.slots.indices.compactMap { slot -> String? in
      guard slots?.contains(slot) ?? true,
        case .attribute(let column) = mapping.storage(of: slot, in: layout.entityNumber),
        table.columns[column].content == .externalData
      else { return nil }
      return table.columns[column].name
    }
    return names.isEmpty
      ? nil : SQLText("SELECT \(names.joined(separator: ", ")) FROM \(table.name) WHERE Z_PK = ?")
  }

  private static func _delete(_ layout: PropertyLayout, _ mapping: StoreMapping) -> DeletePlan {
    let table = mapping.table(of: layout.entityNumber)
    let isMember = "IN \(ValueArray.members)"
    var cleanups: [SQLText] = []
    for slot in layout.slots.indices {
      switch mapping.storage(of: slot, in: layout.entityNumber) {
      case .manyToMany(let index, let ownerIsFirst, _):
        let join = mapping.joins[index]
        for column in join.isReflexive
          ? [join.first, join.second] : [join.ends(ownerIsFirst: ownerIsFirst).owner]
        {
          cleanups.append(SQLText("DELETE FROM \(join.name) WHERE \(column) \(isMember)"))
        }
      case .oneToMany(let destination, let inverse)
      where mapping.layout.layout(numbered: destination).slots[inverse].isHidden:
        guard case .toOne(let key, let entity, _, _) = mapping.storage(of: inverse, in: destination) else {
          continue
        }
        let columns = mapping.table(of: destination).columns
        let names = [key, entity].compactMap { $0.map { columns[$0].name } }
        let list = names.map { "\($0) = NULL" }.joined(separator: ", ")
        let name = mapping.table(of: destination).name
        cleanups.append(SQLText("UPDATE \(name) SET \(list) WHERE \(columns[key].name) \(isMember)"))
      default: break
      }
    }
    return DeletePlan(
      sql: SQLText("DELETE FROM \(table.name) WHERE Z_PK \(isMember) AND IFNULL(Z_OPT, 0) = ?"),
      unversioned: SQLText("DELETE FROM \(table.name) WHERE Z_PK \(isMember)"),
      existing: SQLText("SELECT Z_PK FROM \(table.name) WHERE Z_PK \(isMember)"),
      cleanups: cleanups, files: _files(nil, layout, table, mapping))
  }

  private static func _toMany(_ slot: Int, _ layout: PropertyLayout, _ mapping: StoreMapping) -> ToManyPlan? {
    guard let table = MemberTable(slot: slot, in: layout, mapping) else { return nil }
    let (name, owner, member) = (table.name, table.owner, table.member)
    let order = table.position.map { position in
      ToManyPlan.Order(
        read: SQLText("SELECT \(member), \(position) FROM \(name) WHERE \(owner) = ?"),
        place: SQLText("SELECT \(position) FROM \(name) WHERE \(member) = ?1 AND \(owner) = ?2"),
        write: SQLText("UPDATE \(name) SET \(position) = ?1 WHERE \(member) = ?2 AND \(owner) = ?3"),
        forget: table.isOfMembers
          ? SQLText("UPDATE \(name) SET \(position) = NULL WHERE \(member) = ? AND \(owner) IS NULL") : nil)
    }
    guard case .oneToMany(let destination, let inverse) = mapping.storage(of: slot, in: layout.entityNumber),
      case .toOne(_, let entity, _, _) = mapping.storage(of: inverse, in: destination),
      mapping.layout.layout(numbered: destination).slots[inverse].isHidden
    else { return ToManyPlan(hidden: nil, order: order) }
    let entityName = entity.map { mapping.column($0, of: destination).name }
    let set = "\(owner) = ?" + (entityName.map { ", \($0) = ?" } ?? "")
    let unset = "\(owner) = NULL" + (entityName.map { ", \($0) = NULL" } ?? "")
    return ToManyPlan(
      hidden: ToManyPlan.Hidden(
        add: SQLText("UPDATE \(name) SET \(set) WHERE \(member) = ?"),
        remove: SQLText("UPDATE \(name) SET \(unset) WHERE \(member) = ? AND \(owner) = ?"),
        hasEntity: entityName != nil), order: order)
  }
}
