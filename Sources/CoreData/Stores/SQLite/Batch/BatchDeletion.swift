import CoreDataModelSchema
import CoreDataSQLiteBinding

/// A batch deletion inside a transaction: of the rows found, those that delete rules cascade to, and the
/// references to both.
///
/// Every rule but Cascade clears references to the deleted rows; nullify fails if the reference is mandatory in a
/// remaining row. Deny and counts are validation, which batches skip. All rows of an entity are processed together.
final class BatchDeletion {
  private let _plan: FetchPlan
  private let _engine: SQLiteStoreEngine
  private let _connection: Connection
  private let _entry: HistoryEntry?
  /// External data files of the deleted rows.
  private(set) var files: [String] = []

  private var _mapping: StoreMapping { _engine.mapping }

  init(_ plan: FetchPlan, engine: SQLiteStoreEngine, connection: Connection, entry: HistoryEntry?) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
  }

  func run(needsKeys: Bool) throws -> BatchOutcome {
    if !needsKeys, _entry == nil, let count = try _deleteAtOnce() { return BatchOutcome(count: count) }
    let links = RowLinks(engine: _engine, connection: _connection)
    var rules = DeleteRules(_mapping.layout)
    try _engine.forEachKey(of: _plan, on: _connection) { rules.add($0) }
    try rules.follow(members: links.members)
    try rules.checkMandatoryInverses(members: links.members)
    for link in rules.links([.noAction, .nullify, .cascade, .deny]) {
      if let _entry {
        for key in try links.rows(through: link, sparing: rules) {
          try _entry.recordUpdate(
            of: key.reference, entity: key.space.layout.entityNumber, changed: SlotSet([link.inverse]))
        }
      }
      try links.clear(link)
    }
    let count = try links.delete(rules.deletedKeys, recordingIn: _entry, files: &files)
    if let _entry {
      try rules.forEachDeleted { key in
        try _entry.recordDeletion(of: key.reference, entity: key.space.layout.entityNumber)
      }
    }
    return BatchOutcome(count: count, keys: needsKeys ? rules.deleted : [])
  }

  /// Runs a single DELETE if nothing depends on the rows: no relationship and no file. Returns nil otherwise.
  private func _deleteAtOnce() throws -> Int? {
    let members = _plan.includesSubentities ? _plan.layout.family : [_plan.layout.entityNumber]
    for number in members {
      let layout = _mapping.layout.layout(numbered: number)
      guard layout.toManySlots.isEmpty, layout.toOneSlots.isEmpty,
        _engine.writePlans.entity(number).delete.files == nil
      else { return nil }
    }
    for layout in _mapping.layout.layouts {
      for slot in layout.toOneSlots + layout.toManySlots {
        guard let relationship = layout.slots[slot].relationship else { continue }
        if members.contains(relationship.destination) { return nil }
      }
    }
    var rows = _plan
    rows.content = .identity
    let (query, constants) = try _engine.compiled(rows, .objects)
    let table = _mapping.table(of: _plan.layout.entityNumber)
    // In a shared table, the query also selects the entity.
    let keys = table.hasSubentities ? "SELECT Z_PK FROM (\(query.sql.text))" : query.sql.text
    let statement = try _connection.prepare("DELETE FROM \(table.name) WHERE Z_PK IN (\(keys))")
    QueryBinder(_engine.context).bind(query.parameters, rows, constants, to: statement)
    try statement.run()
    return _connection.changes
  }
}
