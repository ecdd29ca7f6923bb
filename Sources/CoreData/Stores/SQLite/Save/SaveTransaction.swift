import CoreDataModelSchema
import CoreDataSQLiteBinding

/// One save, as a sequence of passes inside a transaction: keys, locks, deletions, updates, insertions,
/// to-many relationships, delete rules.
///
/// Collects all rows changed by others instead of throwing at the first, so that a merge policy sees them
/// all. A save that is not careful may give up early instead; the engine then repeats it carefully.
final class SaveTransaction {
  let engine: SQLiteStoreEngine
  let connection: Connection
  let changes: ChangeSet
  /// Whether rows of the save may exchange values of a uniqueness constraint, which requires a special order,
  /// and rows are deleted one by one, which identifies those that others have changed.
  let isCareful: Bool
  /// Primary keys of the inserted objects.
  @exclusivity(unchecked) private(set) var insertedKeys: [Int64] = []
  @exclusivity(unchecked) private var _keysByID: [ObjectIdentifier: Int64]?
  @exclusivity(unchecked) private(set) var conflicts: [VersionConflict] = []
  @exclusivity(unchecked) var violations: [BrokenRow] = []
  /// External data files written by this save, to be removed if it fails.
  @exclusivity(unchecked) var writtenFiles: [String] = []
  /// External data files that are no longer referenced once this save is committed.
  @exclusivity(unchecked) var replacedFiles: [String] = []

  /// The to-ones that were cleared because they pointed at deleted rows, and the rows that rules cascaded to.
  @exclusivity(unchecked) var cutSlots: [ObjectKey: SlotSet] = [:]
  @exclusivity(unchecked) var cascaded: [ObjectKey] = []

  /// A row rejected by a unique index.
  struct BrokenRow {
    let id: NSManagedObjectID
    let entityNumber: Int
    let key: Int64
    let row: Row
    let error: SQLiteError
  }

  init(_ changes: ChangeSet, engine: SQLiteStoreEngine, connection: Connection, isCareful: Bool) {
    self.changes = changes
    self.engine = engine
    self.connection = connection
    self.isCareful = isCareful
  }

  var mapping: StoreMapping { engine.mapping }
  var plans: WritePlans { engine.writePlans }
  var links: RowLinks { RowLinks(engine: engine, connection: connection) }

  /// Writes everything, without committing.
  ///
  /// - Throws: `StoreConflictError`, `StoreConstraintError`, `SQLiteStoreError`; if not careful, a
  ///   unique violation as `SQLiteError`, and `OutdatedDeletion`.
  func run(recordingIn entry: HistoryEntry?) throws {
    try _allocateKeys()
    try _checkLocks()
    try deleteRows(recordingIn: entry)
    if isCareful { try clearExchangedValues() }
    try delete()
    try _update()
    try _insert()
    if !conflicts.isEmpty { throw StoreConflictError(conflicts: conflicts) }
    if !violations.isEmpty { throw try constraintError() }
    try writeToManys()
    try followRules(recordingIn: entry)
  }

  /// Links temporary IDs to their permanent ones; call right before the commit.
  func linkIDs() {
    changes.inserted.withUnsafeBufferPointer { inserted in
      for index in inserted.indices where !inserted[index].id.isPermanent {
        let space = engine.spaces[inserted[index].id.space.layout.entityNumber - 1]
        let permanent = NSManagedObjectID(ObjectKey(space: space, reference: insertedKeys[index]))
        inserted[index].id.link(to: permanent)
      }
    }
  }

  // MARK: Keys

  private func _allocateKeys() throws {
    guard !changes.inserted.isEmpty else { return }
    insertedKeys = Array(repeating: 0, count: changes.inserted.count)
    // By root entity number, since entities of a root share a table.
    let size = mapping.layout.layouts.count + 1
    var counts = [Int](repeating: 0, count: size)
    var highestGiven = [Int64](repeating: 0, count: size)
    // Neighbouring objects are usually of one entity: process runs of one table each.
    var runs: [(root: Int, end: Int)] = []
    var space: ObjectIDSpace?
    var root = 0
    for index in changes.inserted.indices {
      let id = changes.inserted[index].id
      if id.space !== space {
        space = id.space
        let known = root
        root = try layout(of: id).rootNumber
        if root != known, index > 0 { runs.append((known, index)) }
      }
      if id.isPermanent {
        let key = id.identity.reference
        insertedKeys[index] = key
        highestGiven[root] = max(highestGiven[root], key)
      } else {
        counts[root] += 1
      }
    }
    runs.append((root, insertedKeys.count))
    var next = [Int64](repeating: 0, count: size)
    for root in counts.indices where counts[root] > 0 || highestGiven[root] > 0 {
      next[root] = try engine.allocate(
        counts[root], ofRoot: root, atLeast: highestGiven[root], on: connection)
    }
    var index = 0
    for run in runs {
      while index < run.end {
        if insertedKeys[index] == 0 {
          insertedKeys[index] = next[run.root]
          next[run.root] += 1
        }
        index += 1
      }
    }
  }

  /// The keys of the inserted objects, with their entities.
  var insertedObjectKeys: Set<ObjectKey> {
    Set(
      zip(changes.inserted, insertedKeys).map { insertion, key in
        ObjectKey(space: engine.spaces[insertion.id.space.layout.entityNumber - 1], reference: key)
      })
  }

  /// Returns the layout of an object, which must belong to this store's model.
  func layout(of id: NSManagedObjectID) throws -> PropertyLayout {
    let layout = id.space.layout
    let layouts = mapping.layout.layouts
    guard layout.entityNumber <= layouts.count,
      layouts[layout.entityNumber - 1] === layout
        || layouts[layout.entityNumber - 1].entityName == layout.entityName
    else {
      throw SQLiteStoreError.unstorable(
        entity: layout.entityName, property: "objectID", reason: "the entity is not one of this store's model"
      )
    }
    return layouts[layout.entityNumber - 1]
  }

  /// Returns the key of an object that is stored or part of this save.
  func key(of id: NSManagedObjectID, entity: Int, slot: Int) throws -> Int64 {
    if let key = id.key {
      guard key.space.store === engine.spaces[0].store else { throw _foreign(entity, slot) }
      return key.reference
    }
    if _keysByID == nil {
      _keysByID = Dictionary(
        zip(changes.inserted.lazy.map { ObjectIdentifier($0.id) }, insertedKeys),
        uniquingKeysWith: { first, _ in first })
    }
    guard let key = _keysByID?[ObjectIdentifier(id)] else {
      throw SQLiteStoreError.danglingReference(
        entity: engine.entityName(entity), property: _name(slot, entity))
    }
    return key
  }

  /// Returns the key of a stored reference.
  func key(of reference: ObjectKey, entity: Int, slot: Int) throws -> Int64 {
    guard reference.space.store === engine.spaces[0].store else { throw _foreign(entity, slot) }
    return reference.reference
  }

  private func _foreign(_ entity: Int, _ slot: Int) -> SQLiteStoreError {
    .foreignStore(entity: engine.entityName(entity), property: _name(slot, entity))
  }

  private func _name(_ slot: Int, _ entity: Int) -> String {
    mapping.layout.layout(numbered: entity).slots[slot].name
  }

  // MARK: Passes

  private func _checkLocks() throws {
    for lock in changes.locked {
      let number = try layout(of: lock.id).entityNumber
      let key = try key(of: lock.id, entity: number, slot: 0)
      let version = try connection.withStatement(plans.entity(number).version) { statement -> Int64? in
        statement.bind(key, at: 1)
        return try statement.step() ? statement.int64(0) : nil
      }
      if version != lock.base.version { try addConflict(lock.id, lock.base) }
    }
  }

  private func _update() throws {
    for update in changes.updated {
      let number = try layout(of: update.id).entityNumber
      let plan = plans.update(update.changed, of: number)
      let key = try key(of: update.id, entity: number, slot: 0)
      try recordFiles(plan.files, key)
      let statement = try connection.lend(plan.sql)
      defer { connection.giveBack(statement) }
      let index = try bind(update.row, plan.cells, entity: number, to: statement, from: 1)
      statement.bind(update.row.version, at: index)
      statement.bind(key, at: index + 1)
      statement.bind(update.base.version, at: index + 2)
      let isBroken = try _gatheringViolations(update.id, number, key, update.row) { try statement.run() }
      if !isBroken, connection.changes == 0 { try addConflict(update.id, update.base) }
    }
  }

  /// Records the external data files that a row references, before it is changed.
  func recordFiles(_ query: SQLText?, _ key: Int64) throws {
    guard let query else { return }
    replacedFiles += try links.externalFiles(query, key)
  }

  private func _insert() throws {
    var entity = 0
    var statement: Statement?
    defer { if let statement { connection.giveBack(statement) } }
    var cells: [WriteCell] = []
    var stored: Int64 = 0
    // In place: a copy of an insertion would retain its ID and its row.
    try changes.inserted.withUnsafeBufferPointer { inserted in
      for index in inserted.indices {
        let number = inserted[index].id.space.layout.entityNumber
        if number != entity {
          if let statement { connection.giveBack(statement) }
          statement = nil
          let plan = plans.entity(number).insert
          statement = try connection.lend(plan.sql)
          cells = plan.cells
          entity = number
          stored = Int64(mapping.numbers.stored(for: number))
        }
        guard let statement else { continue }
        statement.bind(insertedKeys[index], at: 1)
        statement.bind(stored, at: 2)
        statement.bind(inserted[index].row.version, at: 3)
        _ = try bind(inserted[index].row, cells, entity: number, to: statement, from: 4)
        do {
          _ = try statement.step()
        } catch {
          try _gather(error, inserted[index].id, number, insertedKeys[index], inserted[index].row)
          try _checkAgain(inserted[index])
        }
        statement.reset()
      }
    }
  }

  /// Records a conflict if a rejected insertion has a row: of those that insert a row again which another context has
  /// deleted, only the first inserts it.
  private func _checkAgain(_ insertion: ChangeSet.Insertion) throws {
    guard let key = insertion.id.key, let row = try engine.row(for: key, on: connection) else { return }
    conflicts.append(VersionConflict(id: insertion.id, base: insertion.row, persisted: row))
  }

  /// Runs a statement. In a careful save, records a rejection by a unique index and returns true.
  private func _gatheringViolations(
    _ id: NSManagedObjectID, _ entity: Int, _ key: Int64, _ row: Row, _ run: () throws -> Void
  ) throws -> Bool {
    do {
      try run()
      return false
    } catch {
      try _gather(error, id, entity, key, row)
      return true
    }
  }

  /// Records a rejection by a unique index in a careful save; throws any other error.
  private func _gather(
    _ error: any Error, _ id: NSManagedObjectID, _ entity: Int, _ key: Int64, _ row: Row
  ) throws {
    guard isCareful, let error = error as? SQLiteError, error.isUniqueViolation else { throw error }
    violations.append(BrokenRow(id: id, entityNumber: entity, key: key, row: row, error: error))
  }

  func addConflict(_ id: NSManagedObjectID, _ base: Row) throws {
    let persisted = try id.key.flatMap { try engine.row(for: $0, on: connection) }
    conflicts.append(VersionConflict(id: id, base: base, persisted: persisted))
  }
}
