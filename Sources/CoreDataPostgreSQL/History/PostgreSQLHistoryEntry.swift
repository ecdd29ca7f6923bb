import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// Records one transaction in the store's history, inside the database transaction that it describes.
///
/// Its number comes from a counter row, which stays locked until the commit. Numbers therefore follow commit
/// order, and a reader that has seen one has seen all before it. The row is locked last, to keep savers from
/// blocking each other longer than necessary.
final class PostgreSQLHistoryEntry {
  private struct Change {
    let kind: HistoryChangeRecord.Kind
    let entity: Int
    let key: Int64
    var properties: [String] = []
    var tombstone: Data?
  }

  /// Identifies the writing program.
  private static let _bundleID = Bundle.program?.bundleIdentifier ?? ProcessInfo.processInfo.processName
  private static let _processID = ProcessInfo.processInfo.processName

  private let _engine: PostgreSQLStoreEngine
  private let _connection: PostgreSQLConnection
  private let _origin: _Origin
  private var _changes: [Change] = []
  /// Recorded first, while the rows can still be read; written last.
  private var _deletions: [Change] = []

  /// What a transaction's row says of it.
  private enum _Origin {
    case ours(ChangeOrigin?)
    /// With its own number, time and program.
    case repeated(HistoryTransactionRecord)
  }

  init(_ engine: PostgreSQLStoreEngine, on connection: PostgreSQLConnection, by origin: ChangeOrigin?) {
    _engine = engine
    _connection = connection
    _origin = .ours(origin)
  }

  /// Records a transaction that another store has recorded before.
  init(
    _ engine: PostgreSQLStoreEngine, on connection: PostgreSQLConnection,
    repeating transaction: HistoryTransactionRecord
  ) throws {
    _engine = engine
    _connection = connection
    _origin = .repeated(transaction)
    for record in transaction.changes ?? [] {
      let layout = record.key.space.layout
      var change = Change(kind: record.kind, entity: layout.entityNumber, key: record.key.reference)
      change.properties = record.slots.map { layout.slots[$0].name }
      if !record.tombstone.isEmpty { change.tombstone = try Self._tombstone(record.tombstone, layout) }
      _changes.append(change)
    }
  }

  func recordInsertion(of key: Int64, entity: Int) {
    _changes.append(Change(kind: .insert, entity: entity, key: key))
  }

  /// Records an update, unless it changes transient properties only.
  func recordUpdate(of key: Int64, entity: Int, changed: SlotSet) {
    let slots = _engine.mapping.layout.layout(numbered: entity).slots
    let names = slots.indices.filter { changed.contains($0) && !slots[$0].isTransient && !slots[$0].isHidden }
    guard !names.isEmpty else { return }
    _changes.append(Change(kind: .update, entity: entity, key: key, properties: names.map { slots[$0].name }))
  }

  /// Records deletions with the values that the model preserves. Call while the rows exist.
  func recordDeletions(of keys: [ObjectKey]) throws {
    var kept: [ObjectKey: Row] = [:]
    let preserving = keys.filter { !Self._preserved($0.space.layout).isEmpty }
    for (key, row) in zip(preserving, try _engine.rows(for: preserving, on: _connection)) { kept[key] = row }
    for key in keys {
      var change = Change(kind: .delete, entity: key.space.layout.entityNumber, key: key.reference)
      if let row = kept[key] {
        let preserved = Self._preserved(key.space.layout).map { ($0, row[$0]) }
        change.tombstone = try Self._tombstone(Dictionary(uniqueKeysWithValues: preserved), key.space.layout)
      }
      _deletions.append(change)
    }
  }

  private static func _preserved(_ layout: PropertyLayout) -> [Int] {
    layout.slots.indices.filter { layout.slots[$0].attribute?.preservesValueInHistoryOnDeletion ?? false }
  }

  private static func _tombstone(_ preserved: [Int: Value], _ layout: PropertyLayout) throws -> Data {
    var values: [String: Any] = [:]
    for (slot, value) in preserved {
      switch value {
      case .int(let number): values[layout.slots[slot].name] = number
      case .double(let number): values[layout.slots[slot].name] = number
      case .string(let text): values[layout.slots[slot].name] = text
      case .data(let data): values[layout.slots[slot].name] = data
      case .uuid(let uuid): values[layout.slots[slot].name] = uuid.uuidString
      case .decimal(let box): values[layout.slots[slot].name] = "\(box.decimal)"
      case .transformable(let box): if let data = box.data { values[layout.slots[slot].name] = data }
      case .null, .reference, .pending, .toMany, .composite: break
      }
    }
    return try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
  }

  private var _isRepeated: Bool { if case .repeated = _origin { true } else { false } }

  /// Number, if it is given, time and texts of the transaction's row.
  private var _header: (Int64?, Double, [String?]) {
    switch _origin {
    case .ours(let origin):
      (
        nil, Date().timeIntervalSinceReferenceDate,
        [origin?.author, origin?.contextName, Self._bundleID, Self._processID]
      )
    case .repeated(let record):
      (
        record.number, record.timestamp,
        [record.author, record.contextName, record.bundleID, record.processID]
      )
    }
  }

  /// Writes the recorded changes, but for the number along with the next statement, or the commit; writes nothing for a transaction
  /// without changes.
  ///
  /// - Returns: The transaction's number.
  func finish() throws -> Int64? {
    _changes += _deletions
    _deletions = []
    guard !_changes.isEmpty || _isRepeated else { return nil }
    let schema = PostgreSQLNames.quoted(_engine.address.schema)
    let (repeated, time, texts) = _header
    var count = PostgreSQLParameters()
    count.add(Int64(_changes.count))
    if let repeated { count.add(repeated) } else { count.add(null: .int8) }
    let found = try _connection.run(
      """
      UPDATE \(schema)."_history_counter" SET "n" = COALESCE($2::int8, "n" + 1), "changes" = "changes" + $1::int8 \
      RETURNING "n", "changes"
      """, count)
    guard found.rowCount == 1 else {
      throw PostgreSQLStoreError.noStore(
        schema: _engine.address.schema, reason: "its table _history_counter has no row")
    }
    let number = found.int64(0, 0)
    var parameters = PostgreSQLParameters()
    parameters.add(number)
    parameters.add(time)
    for text in texts {
      if let text, !text.utf8.contains(0) { parameters.add(text) } else { parameters.add(null: .text) }
    }
    try _connection.runLater(
      """
      INSERT INTO \(schema)."_history" ("number", "time", "author", "context", "bundle", "process") \
      VALUES ($1::int8, $2::float8, $3::text, $4::text, $5::text, $6::text)
      """, parameters)
    var kinds = PostgreSQLArray(.int2Array), entities = PostgreSQLArray(.int2Array)
    var properties = PostgreSQLArray(.textArray), tombstones = PostgreSQLArray(.bytesArray)
    for change in _changes {
      kinds.add(Int64(change.kind.rawValue))
      entities.add(Int64(_engine.mapping.numbers.stored(for: change.entity)))
      if change.kind == .update {
        properties.add(change.properties.joined(separator: ","))
      } else {
        properties.addNull()
      }
      if let tombstone = change.tombstone {
        tombstone.withUnsafeBytes { tombstones.add(bytes: $0) }
      } else {
        tombstones.addNull()
      }
    }
    parameters = PostgreSQLParameters()
    parameters.add(number)
    parameters.add(kinds)
    parameters.add(entities)
    parameters.add(PostgreSQLArray(_changes.map(\.key)))
    parameters.add(properties)
    parameters.add(tombstones)
    parameters.add(found.int64(0, 1) - Int64(_changes.count))
    try _connection.runLater(
      """
      INSERT INTO \(schema)."_history_change" ("transaction", "number", "kind", "entity", "key", "properties", "tombstone") \
      SELECT $1::int8, $7::int8 + n, k, e, i, p, t FROM unnest($2::int2[], $3::int2[], $4::int8[], $5::text[], $6::bytea[]) \
      WITH ORDINALITY AS c(k, e, i, p, t, n)
      """, parameters)
    return number
  }
}
