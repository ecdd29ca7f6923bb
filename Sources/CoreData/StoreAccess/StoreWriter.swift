import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Writes rows with keys chosen by the caller to a store file, for imports.
///
/// Not for concurrent use.
package final class StoreWriter {
  package let layout: ModelLayout
  package let anatomy: StoreTableLayout
  /// Whether the store was created.
  package let isNew: Bool
  /// Whether links of a relationship that is its own inverse are written as given, rather than both ways.
  package var keepsOneSided = false
  private let _engine: SQLiteStoreEngine
  private let _coordinator: NSPersistentStoreCoordinator
  private let _store: NSPersistentStore

  /// Opens or creates the store at `path`.
  ///
  /// - Throws: A Cocoa error.
  package init(path: String, model: ModelSchema) throws {
    let url = URL(fileURLWithPath: path)
    let model = try StoreErrors.translating(url: url) { try StoreFileFacts.managedObjectModel(model) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _coordinator = coordinator
    // A store with history tracking also records this writer's changes.
    let keepsHistory = try StoreErrors.translating(url: url) {
      try SQLiteStoreFile(url: url, timeout: 5).keepsHistory()
    }
    _store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSPersistentStoreTimeoutOption: 5.0, NSPersistentHistoryTrackingKey: keepsHistory])
    guard let engine = _store.engine as? SQLiteStoreEngine else {
      throw CocoaError.coreData(NSPersistentStoreInvalidTypeError, "The store at \(path) is no SQLite store.")
    }
    _engine = engine
    isNew = engine.isNew
    layout = engine.mapping.layout
    anatomy = StoreTableLayout(engine.mapping)
  }

  /// Writes new rows, all or none. They may refer to rows that are written later.
  ///
  /// - Throws: A Cocoa error; for a uniqueness constraint one that names the constraint.
  package func insert(_ rows: [StoredRow]) throws {
    let insertions = rows.map { stored in
      let space = _engine.spaces[stored.reference.entity - 1]
      var row = Row(count: space.layout.slots.count, version: 1)
      for (slot, value) in stored.values.enumerated() where value != .null {
        row.set(value.value(_engine.spaces), at: slot)
      }
      let id = NSManagedObjectID(ObjectKey(space: space, reference: stored.reference.key))
      return ChangeSet.Insertion(id: id, row: row)
    }
    do {
      try _engine.commit(ChangeSet(inserted: insertions))
    } catch let error as StoreConstraintError {
      throw CocoaError.coreData(NSManagedObjectConstraintMergeError, _words(error))
    } catch {
      throw StoreErrors.cocoa(error, _store.url)
    }
  }

  private func _words(_ error: StoreConstraintError) -> String {
    let parts = error.violations.prefix(3).map { violation in
      let names = violation.objects.map { "\($0.space.layout.entityName)/p\($0.reference)" }
      return "\(names.joined(separator: ", ")): another object has the same "
        + violation.constraint.joined(separator: ", ")
    }
    return "A uniqueness constraint of the model does not allow this: \(parts.joined(separator: "; "))."
  }

  /// Reserves `count` consecutive keys in an entity's table and returns the first.
  package func reserveKeys(_ count: Int, of entity: Int) throws -> Int64 {
    let keys = try StoreErrors.translating(url: _store.url) { try _engine.reserveKeys([entity: count]) }
    return keys[entity]?.first ?? 1
  }

  /// The members to connect in one to-many relationship of one object.
  package struct Members: Sendable {
    package let owner: StoredReference
    package let slot: Int
    /// In the relationship's order, if it is ordered.
    package let members: [Int64]

    package init(owner: StoredReference, slot: Int, members: [Int64]) {
      self.owner = owner
      self.slot = slot
      self.members = members
    }
  }

  /// A member that already belongs to another owner.
  package struct Contradiction: Error, Sendable {
    package let owner: StoredReference
    package let slot: Int
    package let member: Int64
  }

  /// Connects rows that all exist, in one transaction. Existing connections are left unchanged.
  ///
  /// - Throws: `Contradiction`; a Cocoa error.
  package func connect(_ lists: [Members]) throws {
    do {
      try SQLiteStoreError.translating {
        try _engine.pool.write { connection in
          try connection.transaction { for list in lists { try _connect(list, connection) } }
        }
      }
    } catch let error as Contradiction {
      throw error
    } catch {
      throw StoreErrors.cocoa(error, _store.url)
    }
  }

  private func _connect(_ list: Members, _ connection: Connection) throws {
    guard let place = anatomy.toMany(list.slot, of: list.owner.entity) else { return }
    for (position, member) in list.members.enumerated() {
      let order = StoreVocabulary.firstOrder + Int64(position) * StoreVocabulary.orderStep
      switch place {
      case .columns(let table, let key, let entity, let orderColumn, _):
        try _own(member, list, connection, (table, key, entity, orderColumn), order)
      case .pairs(let table, let owner, let other, let orderColumn, let isReflexive):
        try _pair(list.owner.key, member, connection, (table, owner, other, orderColumn), order)
        guard isReflexive, !keepsOneSided else { continue }
        try _note(
          "DELETE FROM temp.completed WHERE place = ?1 AND owner = ?2 AND member = ?3", table, list.owner.key,
          member, connection)
        try _pair(member, list.owner.key, connection, (table, owner, other, nil), order)
        guard connection.changes > 0 else { continue }
        try _note("INSERT INTO temp.completed VALUES (?1, ?2, ?3)", table, member, list.owner.key, connection)
      }
    }
  }

  // MARK: Links both ways

  /// Returns how many links were given one way only and are now both ways.
  package func completedLinkCount() throws -> Int {
    var count = 0
    try write { connection in
      try _makeNotes(connection)
      if case .int(let found)? = try connection.firstValue("SELECT COUNT(*) FROM temp.completed") {
        count = Int(found)
      }
    }
    return count
  }

  /// Links added to those that were given, until these turn out to be given as well. A table, since there may
  /// be more than fit into memory.
  private func _makeNotes(_ connection: Connection) throws {
    try connection.execute(
      "CREATE TEMP TABLE IF NOT EXISTS completed (place TEXT, owner INTEGER, member INTEGER, "
        + "PRIMARY KEY (place, owner, member)) WITHOUT ROWID")
  }

  private func _note(
    _ sql: String, _ table: String, _ owner: Int64, _ member: Int64, _ connection: Connection
  ) throws {
    if !_hasNotes {
      try _makeNotes(connection)
      _hasNotes = true
    }
    try connection.withStatement(_sql(sql) { sql }) { statement in
      statement.bind(table, at: 1)
      statement.bind(owner, at: 2)
      statement.bind(member, at: 3)
      try statement.run()
    }
  }

  private func _own(
    _ member: Int64, _ list: Members, _ connection: Connection,
    _ place: (table: String, key: String, entity: String?, order: String?), _ order: Int64
  ) throws {
    let owner = list.owner.key
    let find = _sql("f \(place.table) \(place.key)") {
      "SELECT \(place.key) FROM \(place.table) WHERE Z_PK = ?"
    }
    let present = try connection.withStatement(find) { statement -> Int64? in
      statement.bind(member, at: 1)
      return try statement.step() && !statement.isNull(0) ? statement.int64(0) : nil
    }
    if let present, present != owner {
      throw Contradiction(owner: list.owner, slot: list.slot, member: member)
    }
    // Nothing to write; a trigger that counts members would count this one twice.
    if present == owner, place.order == nil { return }
    let sql = _sql("o \(place.table) \(place.key) \(present == nil)") {
      var assignments: [String] = []
      if present == nil { assignments.append("\(place.key) = ?1") }
      if present == nil, let entity = place.entity { assignments.append("\(entity) = ?3") }
      if let column = place.order { assignments.append("\(column) = ?4") }
      return "UPDATE \(place.table) SET \(assignments.joined(separator: ", ")) WHERE Z_PK = ?2"
    }
    try connection.withStatement(sql) { statement in
      if present == nil { statement.bind(owner, at: 1) }
      statement.bind(member, at: 2)
      if present == nil, place.entity != nil {
        statement.bind(Int64(anatomy.storedNumber(of: list.owner.entity)), at: 3)
      }
      if place.order != nil { statement.bind(order, at: 4) }
      try statement.run()
    }
  }

  private func _pair(
    _ owner: Int64, _ member: Int64, _ connection: Connection,
    _ place: (table: String, owner: String, member: String, order: String?), _ order: Int64
  ) throws {
    let sql = _sql("p \(place.table) \(place.owner) \(place.order ?? "")") {
      let keys = "\(place.owner), \(place.member)"
      guard let column = place.order else {
        return "INSERT INTO \(place.table) (\(keys)) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
      }
      return "INSERT INTO \(place.table) (\(keys), \(column)) VALUES (?1, ?2, ?3) "
        + "ON CONFLICT (\(keys)) DO UPDATE SET \(column) = excluded.\(column)"
    }
    try connection.withStatement(sql) { statement in
      statement.bind(owner, at: 1)
      statement.bind(member, at: 2)
      if place.order != nil { statement.bind(order, at: 3) }
      try statement.run()
    }
  }

  /// Runs `body` in a transaction on the writing connection.
  ///
  /// - Throws: A Cocoa error.
  package func write(_ body: (Connection) throws -> Void) throws {
    try StoreErrors.translating(url: _store.url) {
      try SQLiteStoreError.translating {
        try _engine.pool.write { connection in try connection.transaction { try body(connection) } }
      }
    }
  }

  private var _hasNotes = false
  private var _texts: [String: SQLText] = [:]

  private func _sql(_ name: String, _ make: () -> String) -> SQLText {
    if let known = _texts[name] { return known }
    let text = SQLText(make())
    _texts[name] = text
    return text
  }

  /// Ends the write; the file then stands alone, without a log.
  package func close() throws {
    try StoreErrors.translating(url: _store.url) {
      try _engine.pool.write { try $0.checkpoint(.truncate) }
    }
    try _coordinator.remove(_store)
  }
}
