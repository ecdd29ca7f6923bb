import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Carries a store's history over to another version of its model, inside the migration's transaction.
///
/// The history refers to entities by number and to properties by position (see `HistoryLayout`), both of
/// which another version changes.
struct HistoryMigration {
  private let _connection: Connection
  private let _path: String
  private let _plan: HistoryPlan
  private let _new: StoreMapping
  private let _old: HistoryLayout

  /// Nil for a store without history, or with one of unknown form. Create it while the store still contains
  /// the copy of its old model, which determines positions.
  init?(_ connection: Connection, at path: String, _ plan: MigrationPlan) throws {
    guard try HistoryTables.exist(on: connection) else { return nil }
    do {
      _ = try HistoryTables.read(connection, path: path)
    } catch is StoreOpenError {
      return nil
    }
    _connection = connection
    _path = path
    _plan = HistoryPlan(plan)
    _new = plan.new
    _old = HistoryLayout(plan.old, propertyOrders: ModelCache.propertyOrders(connection, path: path))
  }

  /// Rewrites the changes. Call it once the store contains the copy of its new model.
  func run() throws {
    let kept = _plan.entities.map { String($0.storedNumber.old) }.joined(separator: ", ")
    try _connection.execute("DELETE FROM ACHANGE WHERE ZENTITY NOT IN (\(kept))")
    let new = HistoryLayout(_new, propertyOrders: ModelCache.propertyOrders(_connection, path: _path))
    let moves = _plan.entities.map {
      _Move(
        $0, from: _old.entities[$0.old.entityNumber - 1], to: new.entities[$0.new.entityNumber - 1])
    }
    let changed = moves.filter { !$0.isIdentity }
    guard !changed.isEmpty else { return }
    let tables = try HistoryTables.prepare(
      _connection, tombstoneCount: new.tombstoneCount, path: _path)
    let numbers = changed.map { String($0.entity.storedNumber.old) }.joined(separator: ", ")
    try _translateColumns(changed, where: "ZENTITY IN (\(numbers))")
    defer { try? _connection.execute("DROP TABLE IF EXISTS temp.\(Self._bitmaps)") }
    var settings = [
      "ZENTITY = \(_plan.newNumber(of: "ZENTITY"))",
      "ZENTITYPK = \(_plan.newKey(of: "ZENTITYPK", entity: "ZENTITY"))",
      "ZCOLUMNS = (SELECT b.new FROM temp.\(Self._bitmaps) b WHERE b.entity = ZENTITY AND b.old = ZCOLUMNS)",
    ]
    for column in 0..<tables.tombstoneCount {
      let cases = changed.map { "WHEN \($0.entity.storedNumber.old) THEN \($0.tombstone(column))" }
      settings.append("ZTOMBSTONE\(column) = CASE ZENTITY \(cases.joined(separator: " ")) END")
    }
    try _connection.execute(
      "UPDATE ACHANGE SET \(settings.joined(separator: ", ")) WHERE ZENTITY IN (\(numbers))")
  }

  private static let _bitmaps = "Z_MIGRATED_COLUMNS"

  /// Lists every bitmap of changed properties that occurs, with the one that replaces it.
  private func _translateColumns(_ moves: [_Move], where condition: String) throws {
    let table = "temp.\(Self._bitmaps)"
    try _connection.execute("DROP TABLE IF EXISTS \(table)")
    try _connection.execute(
      "CREATE TEMP TABLE \(Self._bitmaps) (entity INTEGER, old BLOB, new BLOB, PRIMARY KEY (entity, old))")
    let byNumber = Dictionary(moves.map { (Int64($0.entity.storedNumber.old), $0) }) { first, _ in first }
    var found: [(entity: Int64, old: Binding, new: [UInt8])] = []
    try _connection.query(
      "SELECT DISTINCT ZENTITY, ZCOLUMNS FROM ACHANGE WHERE ZCOLUMNS IS NOT NULL AND \(condition)"
    ) { row in
      guard let move = byNumber[row.int64(0)] else { return }
      found.append((row.int64(0), row.value(1), row.withBytes(1) { move.columns($0) }))
    }
    for bitmap in found {
      try _connection.query(
        "INSERT INTO \(table) (entity, old, new) VALUES (?, ?, ?)",
        [.int(bitmap.entity), bitmap.old, .blob(bitmap.new)])
    }
  }

  /// The way of one entity's changes.
  private struct _Move {
    let entity: HistoryPlan.Entity
    private let _old: HistoryLayout.Entity
    private let _new: HistoryLayout.Entity

    init(_ entity: HistoryPlan.Entity, from old: HistoryLayout.Entity, to new: HistoryLayout.Entity) {
      self.entity = entity
      _old = old
      _new = new
    }

    /// Whether the rows stay as they are.
    var isIdentity: Bool {
      entity.storedNumber.old == entity.storedNumber.new && entity.offset == 0
        && _old.slots.map { entity.slots[$0] } == _new.slots
        && _old.preserved.map { entity.slots[$0] } == Array(_new.preserved.prefix(_old.preserved.count))
    }

    /// Returns the bitmap of changed properties for the new version.
    func columns(_ old: UnsafeRawBufferPointer) -> [UInt8] {
      let slots = SlotSet(_old.slots(in: old).compactMap { entity.slots[$0] })
      return _new.columns(for: slots) ?? [UInt8](repeating: 0, count: _new.byteCount)
    }

    /// SQL for the preserved value in a column of the new version.
    func tombstone(_ column: Int) -> String {
      guard column < _new.preserved.count else { return "NULL" }
      let slot = _new.preserved[column]
      let source = _old.preserved.firstIndex { entity.slots[$0] == slot }
      return source.map { "ZTOMBSTONE\($0)" } ?? "NULL"
    }
  }
}
