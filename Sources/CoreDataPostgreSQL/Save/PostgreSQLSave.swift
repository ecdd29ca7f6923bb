import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// One save, as a sequence of passes inside a transaction: locks and conflicts, deletions, updates,
/// insertions, to-many relationships, delete rules. Each pass runs one statement per entity, not one per row. Statements
/// without an answer that matters are sent along with the next one that has one, or with the commit.
final class PostgreSQLSave {
  let engine: PostgreSQLStoreEngine
  let connection: PostgreSQLConnection
  private let _changes: ChangeSet?
  /// Keys of the inserted objects.
  private(set) var insertedKeys: [Int64] = []
  private var _keysByID: [ObjectIdentifier: Int64]?
  /// Root entities of tables whose rows were deleted while locking.
  var deletedRoots: Set<Int> = []
  /// The to-ones that were cleared because they pointed at deleted rows, and the rows that rules cascaded to.
  var cutSlots: [ObjectKey: SlotSet] = [:]
  var cascaded: [ObjectKey] = []
  /// The updates that apply to a newer row than their base, with that row.
  private(set) var overtaken: [VersionConflict] = []
  private var _newerRows: [Int: [Int64: Row]] = [:]

  /// - Parameter changes: The changes to save; nil for a batch, which has its own rows and only shares the
  ///   encoding.
  init(_ changes: ChangeSet?, engine: PostgreSQLStoreEngine, connection: PostgreSQLConnection) {
    _changes = changes
    self.engine = engine
    self.connection = connection
  }

  var mapping: StoreMapping { engine.mapping }

  var changes: ChangeSet {
    guard let _changes else { preconditionFailure("a batch has no change set") }
    return _changes
  }

  /// Acquires the keys of inserted objects, outside the transaction. They are lost if it fails.
  func acquireKeys() throws {
    insertedKeys = Array(repeating: 0, count: changes.inserted.count)
    var missing: [Int: [Int]] = [:]
    for (index, insertion) in changes.inserted.enumerated() {
      let layout = try layout(of: insertion.id)
      if let key = insertion.id.key {
        insertedKeys[index] = key.reference
      } else {
        missing[layout.rootNumber, default: []].append(index)
      }
    }
    for (root, indices) in missing {
      let keys = try engine.keys.acquire(indices.count, root: root, on: connection)
      for (index, key) in zip(indices, keys) { insertedKeys[index] = key }
    }
  }

  /// Writes everything except the commit.
  ///
  /// - Parameters:
  ///   - isCareful: Whether rows may swap values of a uniqueness constraint, and violations are detected
  ///     before anything is written.
  ///   - locksFirst: Whether the rows are locked, and their versions compared, before anything is written.
  ///   - entry: The history's record of the save; nil if no history is kept.
  /// - Throws: `StoreConflictError`, `StoreConstraintError`, `PostgreSQLStoreError`; a unique violation as
  ///   `PostgreSQLError` if not careful, and an error that `isOfRowsNotWritten` if rows are not locked first.
  func run(isCareful: Bool, locksFirst: Bool, recordingIn entry: PostgreSQLHistoryEntry?) throws {
    // A rejected insertion may be of a row that another context has inserted again; the repetition finds it.
    let conflicts =
      try (locksFirst ? lockRows(deletes: entry == nil) : []) + (isCareful ? rowsInsertedAgain() : [])
    if !conflicts.isEmpty { throw StoreConflictError(conflicts: conflicts) }
    try entry?.recordDeletions(of: changes.deleted.compactMap(\.id.key))
    try _delete()
    if isCareful {
      try clearExchangedValues()
      let violations = try violations()
      if !violations.isEmpty { throw StoreConstraintError(violations: violations) }
    }
    try _update()
    try _insert()
    try writeToManys()
    try followRules(recordingIn: entry)
    guard let entry else { return }
    for (index, insertion) in changes.inserted.enumerated() {
      entry.recordInsertion(of: insertedKeys[index], entity: insertion.id.space.layout.entityNumber)
    }
    recordUpdates(in: entry)
  }

  /// Whether a save changes one row beside those that it inserts, few enough to be sent again.
  static func mayWriteUnlocked(_ changes: ChangeSet) -> Bool {
    changes.updated.count == 1 && changes.deleted.isEmpty && changes.locked.isEmpty && changes.rows.isEmpty
      && changes.inserted.count < _fewestCopied && !changes.isJoint && changes.work == nil
  }

  /// Whether all of the save's own statements may be sent with the commit: a failure then finds no temporary ID that
  /// is linked already.
  var mayEndWithCommit: Bool { !changes.isJoint && changes.inserted.allSatisfy(\.id.isPermanent) }

  /// Sets the permanent IDs of temporary ones; call right before the commit.
  func linkIDs() {
    for (index, insertion) in changes.inserted.enumerated() where !insertion.id.isPermanent {
      let space = engine.spaces[insertion.id.space.layout.entityNumber - 1]
      insertion.id.link(to: NSManagedObjectID(ObjectKey(space: space, reference: insertedKeys[index])))
    }
  }

  // MARK: Newer rows

  /// Applies an update to a newer row than its base.
  func rebase(_ update: ChangeSet.Update, on row: Row) {
    overtaken.append(VersionConflict(id: update.id, base: update.base, persisted: row))
    _newerRows[update.id.space.layout.rootNumber, default: [:]][update.id.key!.reference] = row
  }

  /// The versions of a row before and after an update.
  private func _versions(_ update: ChangeSet.Update) -> (before: Int64, after: Int64) {
    guard !overtaken.isEmpty,
      let row = _newerRows[update.id.space.layout.rootNumber]?[update.id.key!.reference]
    else {
      // Of another history no row is as it was read.
      let before = PostgreSQLVersion.expected(update.base.version, on: connection.timeline)
      return (before, _stored(update.row.version))
    }
    return (_stored(row.version), _stored(row.version.next))
  }

  private func _stored(_ version: Int64) -> Int64 {
    PostgreSQLVersion.stored(version, on: connection.timeline)
  }

  // MARK: Objects

  /// Returns the layout of an object, which must belong to this store's model.
  func layout(of id: NSManagedObjectID) throws -> PropertyLayout {
    let layout = id.space.layout
    let layouts = mapping.layout.layouts
    if layout.entityNumber <= layouts.count, layouts[layout.entityNumber - 1] === layout { return layout }
    guard layout.entityNumber <= layouts.count,
      layouts[layout.entityNumber - 1].entityName == layout.entityName
    else {
      throw PostgreSQLStoreError.unstorable(
        entity: layout.entityName, property: "objectID", reason: "the entity is not one of this store's model"
      )
    }
    return layouts[layout.entityNumber - 1]
  }

  /// Returns the key of an object that is stored or part of this save.
  func key(of id: NSManagedObjectID, _ layout: PropertyLayout, _ slot: Int) throws -> Int64 {
    if let key = id.key {
      guard key.space.store === engine.spaces[0].store else {
        throw _unstorable(
          layout, slot, "it points at an object of another store; relationships cannot cross stores")
      }
      return key.reference
    }
    guard let key = _insertedKey(of: id) else {
      throw _unstorable(
        layout, slot, "it points at an object that is neither saved nor part of this save; save it, too")
    }
    return key
  }

  private func _insertedKey(of id: NSManagedObjectID) -> Int64? {
    if _keysByID == nil, let changes = _changes {
      _keysByID = Dictionary(
        zip(changes.inserted.lazy.map { ObjectIdentifier($0.id) }, insertedKeys),
        uniquingKeysWith: { first, _ in first })
    }
    return _keysByID?[ObjectIdentifier(id)]
  }

  /// Returns the key of an object that is stored here or inserted by this save; nil for any other.
  func objectKey(of id: NSManagedObjectID) -> ObjectKey? {
    if let key = id.key { return key.space.store === engine.spaces[0].store ? key : nil }
    return _insertedKey(of: id).map {
      ObjectKey(space: engine.spaces[id.space.layout.entityNumber - 1], reference: $0)
    }
  }

  private func _unstorable(_ layout: PropertyLayout, _ slot: Int, _ reason: String) -> PostgreSQLStoreError {
    .unstorable(entity: layout.entityName, property: layout.slots[slot].name, reason: reason)
  }

  // MARK: Passes

  private func _delete() throws {
    for (number, deletions) in Dictionary(
      grouping: changes.deleted, by: { $0.id.space.layout.entityNumber }
    ).sorted(by: { $0.key < $1.key }) {
      var parameters = PostgreSQLParameters()
      parameters.add(PostgreSQLArray(deletions.compactMap { $0.id.key?.reference }))
      if !deletedRoots.contains(mapping.layout.layout(numbered: number).rootNumber) {
        try connection.runLater(
          "DELETE FROM \(mapping.table(of: number).name) WHERE \"id\" = ANY($1::int8[])", parameters)
      }
      for sql in engine.plans.cleanups[number - 1] { try connection.runLater(sql, parameters) }
    }
  }

  private func _update() throws {
    struct Kind: Hashable {
      let entity: Int
      let slots: SlotSet
    }
    var order: [Kind] = []
    var groups: [Kind: [ChangeSet.Update]] = [:]
    for update in changes.updated {
      let kind = Kind(entity: update.id.space.layout.entityNumber, slots: update.changed)
      if groups[kind] == nil { order.append(kind) }
      groups[kind, default: []].append(update)
    }
    for kind in order {
      let updates = groups[kind]!
      let layout = mapping.layout.layout(numbered: kind.entity)
      let plan = engine.plans.update(kind.slots, of: kind.entity)
      var parameters = PostgreSQLParameters()
      parameters.add(PostgreSQLArray(updates.map { $0.id.key!.reference }))
      let versions = updates.map(_versions)
      var statement = plan.statement(updates.count)
      if updates.count > 1, let step = plan.step, versions.allSatisfy({ $0 == versions[0] }) {
        statement = step
        parameters.add(versions[0].before)
        parameters.add(versions[0].after)
      } else {
        parameters.add(PostgreSQLArray(versions.map(\.before)))
        parameters.add(PostgreSQLArray(versions.map(\.after)))
      }
      for column in plan.columns {
        parameters.add(try array(column, updates.lazy.map(\.row), count: updates.count, layout))
      }
      if updates.count < Self._fewestCountedHere {
        parameters.add(Int64(updates.count))
        try connection.runLater(statement.countedSQL, parameters)
        continue
      }
      let sql = statement.sql
      let written = try connection.run(sql, parameters).affectedCount
      // All rows are locked in their expected version.
      guard written == updates.count else {
        throw PostgreSQLStoreError.server(
          PostgreSQLError(
            state: nil, message: "\(written) of \(updates.count) locked rows were written", sql: sql))
      }
    }
  }

  /// Minimum number of updates whose written rows the program counts, at the price of a round trip: on the server each row costs
  /// a microsecond.
  private static let _fewestCountedHere = 256

  private func _insert() throws {
    for (number, indices) in Dictionary(
      grouping: changes.inserted.indices, by: { changes.inserted[$0].id.space.layout.entityNumber }
    ).sorted(by: { $0.key < $1.key }) {
      try insert(
        indices.lazy.map { (self.insertedKeys[$0], self.changes.inserted[$0].row) }, count: indices.count,
        entity: number)
    }
  }

  /// Minimum number of rows inserted by COPY, which costs another round trip.
  private static let _fewestCopied = 50

  /// Inserts rows of one entity under the given keys.
  func insert(_ rows: some Sequence<(key: Int64, row: Row)>, count: Int, entity number: Int) throws {
    let layout = mapping.layout.layout(numbered: number)
    let plan = engine.plans.inserts[number - 1]
    let now = Date().timeIntervalSinceReferenceDate
    let stored = Int64(mapping.numbers.stored(for: number))
    guard count >= Self._fewestCopied, engine.capabilities.copies else {
      var parameters = PostgreSQLParameters()
      parameters.add(PostgreSQLArray(rows.map(\.key)))
      parameters.add(PostgreSQLArray(rows.map { _stored($0.row.version) }))
      for column in plan.columns {
        parameters.add(try array(column, rows.lazy.map(\.row), count: count, layout))
      }
      try connection.runLater(plan.sql(count), parameters)
      return
    }
    try connection.copy(engine.plans.copies[number - 1], columnCount: plan.columns.count + 3) { copy in
      for (key, row) in rows {
        copy.beginRow()
        copy.type = .int2Array
        copy.add(stored)
        copy.type = .int8Array
        copy.add(key)
        copy.add(_stored(row.version))
        for column in plan.columns {
          copy.type = column.type
          try add(column, row, layout, at: now, to: &copy)
        }
      }
    }
  }

  // MARK: Values

  /// Encodes the values of one column of many rows.
  func array(
    _ column: PostgreSQLWriteColumn, _ rows: some Sequence<Row>, count: Int, _ layout: PropertyLayout
  ) throws -> PostgreSQLArray {
    var array = PostgreSQLArray(column.type, capacity: count)
    let now = Date().timeIntervalSinceReferenceDate
    for row in rows { try add(column, row, layout, at: now, to: &array) }
    return array
  }

  /// Adds the value of one column of a row.
  ///
  /// - Parameter now: The date for attributes that derive from the time of the save.
  func add<Sink: PostgreSQLValueSink>(
    _ column: PostgreSQLWriteColumn, _ row: Row, _ layout: PropertyLayout, at now: Double, to sink: inout Sink
  ) throws {
    guard let slot = column.cell.slot else { return sink.add(now) }
    let value = slot < row.count ? row[slot] : .null
    switch column.cell {
    case .attribute: try _add(value, layout, slot, to: &sink)
    case .element(_, let path):
      var value = value
      for step in path {
        guard case .composite(let box) = value, step < box.values.count else {
          value = .null
          break
        }
        value = box.values[step]
      }
      try _add(value, layout, slot, to: &sink)
    case .key:
      guard let id = try _target(value, layout, slot) else { return sink.addNull() }
      sink.add(id.key)
    case .entity:
      guard let id = try _target(value, layout, slot) else { return sink.addNull() }
      sink.add(Int64(mapping.numbers.stored(for: id.entity)))
    case .derived(_, let function):
      guard let function, case .string(let text) = value else {
        return try _add(value, layout, slot, to: &sink)
      }
      try _add(.string(function(text)), layout, slot, to: &sink)
    case .moment: break
    }
  }

  private func _target(
    _ value: Value, _ layout: PropertyLayout, _ slot: Int
  ) throws -> (key: Int64, entity: Int)? {
    switch value {
    case .null: return nil
    case .reference(let reference):
      guard reference.space.store === engine.spaces[0].store else {
        throw _unstorable(
          layout, slot, "it points at an object of another store; relationships cannot cross stores")
      }
      return (reference.reference, reference.space.layout.entityNumber)
    case .pending(let id): return (try key(of: id, layout, slot), id.canonical.space.layout.entityNumber)
    default: throw _unstorable(layout, slot, "a to-one relationship holds a value that is no object")
    }
  }

  private func _add<Sink: PostgreSQLValueSink>(
    _ value: Value, _ layout: PropertyLayout, _ slot: Int, to sink: inout Sink
  ) throws {
    switch value {
    case .null: sink.addNull()
    case .int(let number):
      let fits =
        switch sink.type {
        case .int2Array: Int16(exactly: number) != nil
        case .int4Array: Int32(exactly: number) != nil
        default: true
        }
      guard fits else { throw _unstorable(layout, slot, "\(number) is out of the attribute's range") }
      sink.add(number)
    case .double(let number): sink.add(number)
    case .string(let text):
      guard !Self._hasZero(text) else {
        throw _unstorable(
          layout, slot, "the text holds a zero byte, which PostgreSQL has in no text; take it out")
      }
      sink.add(text)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { sink.add(bytes: $0) }
    case .data(let data): data.withUnsafeBytes { sink.add(bytes: $0) }
    case .decimal(let box): sink.add(numeric: box.decimal.isNaN ? "NaN" : "\(box.decimal)")
    case .transformable(let box):
      guard let data = box.data else {
        throw _unstorable(layout, slot, "the transformable value was not encoded before the save")
      }
      data.withUnsafeBytes { sink.add(bytes: $0) }
    case .composite:
      throw _unstorable(layout, slot, "an attribute that is no composite holds several elements")
    case .reference, .pending, .toMany: throw _unstorable(layout, slot, "an attribute holds an object")
    }
  }

  private static func _hasZero(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    } ?? text.utf8.contains(0)
  }
}
