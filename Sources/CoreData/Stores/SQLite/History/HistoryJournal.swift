import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Writes a store's history: the statements, prepared once.
final class HistoryJournal: Sendable {
  let tables: HistoryTables
  let layout: HistoryLayout
  let mapping: StoreMapping
  let insertChange: SQLText
  /// Inserts changes for the rows of an entity's table whose keys are in a range; by entity number - 1.
  let insertInsertions: [SQLText]
  let insertTransaction: SQLText
  let findString = SQLText("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?")
  let insertString = SQLText(
    "INSERT INTO ATRANSACTIONSTRING(Z_PK, Z_ENT, ZNAME) VALUES(?, \(HistoryTables.stringEntity), ?)")
  let highest: [Int: SQLText]
  let storeHighest = SQLText("UPDATE Z_PRIMARYKEY SET Z_MAX = ?2 WHERE Z_ENT = ?1")
  /// Reads the preserved values of an object by key; by entity number - 1; nil for entities without any.
  let preserved: [SQLText?]

  /// The writing program as Core Data identifies it: bundle identifier and process name.
  static let bundleID = Bundle.program?.bundleIdentifier ?? ProcessInfo.processInfo.processName
  static let processID = ProcessInfo.processInfo.processName

  init(_ tables: HistoryTables, layout: HistoryLayout, mapping: StoreMapping) {
    self.tables = tables
    self.layout = layout
    self.mapping = mapping
    let tombstones = (0..<tables.tombstoneCount).map { "ZTOMBSTONE\($0)" }
    let columns = ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"] + tombstones
    let marks = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
    insertChange = SQLText(
      """
      INSERT INTO ACHANGE(Z_ENT, Z_PK, \(columns.joined(separator: ", "))) \
      VALUES(\(HistoryTables.changeEntity), \(marks))
      """)
    insertInsertions = mapping.layout.layouts.map { entity in
      let table = mapping.table(of: entity.entityNumber).name
      return SQLText(
        """
        INSERT INTO ACHANGE(Z_ENT, Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) \
        SELECT \(HistoryTables.changeEntity), ?1 + Z_PK, \(HistoryChangeRecord.Kind.insert.rawValue), ?2, Z_PK, ?3 \
        FROM \(table) WHERE Z_PK BETWEEN ?4 AND ?5 ORDER BY Z_PK
        """)
    }
    let texts = HistoryTables.textColumns.map { tables.internsStrings ? $0 + "TS" : $0 }.joined(
      separator: ", ")
    insertTransaction = SQLText(
      """
      INSERT INTO ATRANSACTION(Z_ENT, Z_PK, ZTIMESTAMP, \(texts)) \
      VALUES(\(HistoryTables.transactionEntity), ?, ?, ?, ?, ?, ?)
      """)
    highest = Dictionary(
      uniqueKeysWithValues: [
        (HistoryTables.changeEntity, "ACHANGE"), (HistoryTables.transactionEntity, "ATRANSACTION"),
        (HistoryTables.stringEntity, "ATRANSACTIONSTRING"),
      ].map { number, table in
        (
          number,
          SQLText(
            """
            SELECT MAX(IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)), 0), \
            IFNULL((SELECT MAX(Z_PK) FROM \(table)), 0))
            """)
        )
      })
    preserved = mapping.layout.layouts.map {
      Self._preserved($0, layout, mapping, limit: tables.tombstoneCount)
    }
  }

  private static func _preserved(
    _ entity: PropertyLayout, _ layout: HistoryLayout, _ mapping: StoreMapping, limit: Int
  ) -> SQLText? {
    let number = entity.entityNumber
    let table = mapping.table(of: number)
    let columns = layout.entities[number - 1].preserved.prefix(limit).map { slot -> String in
      guard case .attribute(let index) = mapping.storage(of: slot, in: number) else { return "NULL" }
      let column = table.columns[index]
      // A value in an external file is deleted with the file; a value in the row has a prefix.
      guard column.content == .externalData else { return column.name }
      return "CASE substr(\(column.name), 1, 1) WHEN x'01' THEN substr(\(column.name), 2) END"
    }
    return columns.isEmpty
      ? nil : SQLText("SELECT \(columns.joined(separator: ", ")) FROM \(table.name) WHERE Z_PK = ?")
  }
}

/// Records one transaction in the history, inside the same database transaction.
///
/// A transaction without changes leaves no record.
final class HistoryEntry {
  let journal: HistoryJournal
  private let _connection: Connection
  private let _origin: _Origin
  @exclusivity(unchecked) private var _transaction: Int64?
  @exclusivity(unchecked) private var _change: Int64 = 0
  /// The statement that inserts a change; borrowed from the cache at the first change.
  @exclusivity(unchecked) private var _insert: Statement?
  private var _tombstones: [Deleted: [Binding]] = [:]

  private struct Deleted: Hashable {
    let root: Int
    let key: Int64
  }

  /// What a transaction's row says of it.
  private enum _Origin {
    case ours(ChangeOrigin)
    /// With its own number, time and program.
    case repeated(HistoryTransactionRecord)
  }

  init(_ journal: HistoryJournal, on connection: Connection, by origin: ChangeOrigin?) {
    self.journal = journal
    _connection = connection
    _origin = .ours(origin ?? ChangeOrigin())
  }

  /// Records a transaction that another store has recorded before.
  init(_ journal: HistoryJournal, on connection: Connection, repeating transaction: HistoryTransactionRecord)
  {
    self.journal = journal
    _connection = connection
    _origin = .repeated(transaction)
  }

  deinit { if let _insert { _connection.giveBack(_insert) } }

  /// The number of the transaction; nil until a change is recorded.
  var number: Int64? { _transaction }

  /// Preserves values of an object about to be deleted; call while its row exists.
  func willDelete(_ key: Int64, entity: Int) throws {
    guard let sql = journal.preserved[entity - 1] else { return }
    try _connection.withStatement(sql) { statement in
      statement.bind(key, at: 1)
      guard try statement.step() else { return }
      let root = journal.mapping.layout.layout(numbered: entity).rootNumber
      _tombstones[Deleted(root: root, key: key)] = (0..<statement.columnCount).map {
        statement.value(Int32($0))
      }
    }
  }

  /// Records the transaction even if it has no changes.
  func begin() throws { if _transaction == nil { _ = try _begin() } }

  func recordInsertion(of key: Int64, entity: Int) throws {
    try record(.insert, key, entity, columns: nil, tombstone: [])
  }

  /// Records the insertion of all rows in a range of keys, which must be in their table already, with one
  /// statement.
  func recordInsertions(of keys: ClosedRange<Int64>, entity: Int) throws {
    if keys.count == 1 { return try recordInsertion(of: keys.lowerBound, entity: entity) }
    let transaction = try _transaction ?? _begin()
    try _connection.withStatement(journal.insertInsertions[entity - 1]) { statement in
      statement.bind(_change + 1 - keys.lowerBound, at: 1)
      statement.bind(Int64(journal.mapping.numbers.stored(for: entity)), at: 2)
      statement.bind(transaction, at: 3)
      statement.bind(keys.lowerBound, at: 4)
      statement.bind(keys.upperBound, at: 5)
      try statement.run()
    }
    _change += Int64(keys.count)
  }

  /// Records an update, unless history records none of its changes.
  func recordUpdate(of key: Int64, entity: Int, changed: SlotSet) throws {
    guard let columns = journal.layout.entities[entity - 1].columns(for: changed) else { return }
    try record(.update, key, entity, columns: columns, tombstone: [])
  }

  func recordDeletion(of key: Int64, entity: Int) throws {
    let root = journal.mapping.layout.layout(numbered: entity).rootNumber
    let tombstone = _tombstones.removeValue(forKey: Deleted(root: root, key: key))
    try record(.delete, key, entity, columns: nil, tombstone: tombstone ?? [])
  }

  /// - Parameters:
  ///   - columns: ZCOLUMNS of an update.
  ///   - tombstone: Preserved values of a deleted object, in the order of their columns.
  func record(
    _ kind: HistoryChangeRecord.Kind, _ key: Int64, _ entity: Int, columns: [UInt8]?, tombstone: [Binding]
  ) throws {
    let transaction = try _transaction ?? _begin()
    _change += 1
    let statement = try _insert ?? _connection.lend(journal.insertChange)
    _insert = statement
    defer { statement.reset() }
    statement.bind(_change, at: 1)
    statement.bind(Int64(kind.rawValue), at: 2)
    statement.bind(Int64(journal.mapping.numbers.stored(for: entity)), at: 3)
    statement.bind(key, at: 4)
    statement.bind(transaction, at: 5)
    if let columns {
      columns.withUnsafeBytes { statement.bind(blob: $0, at: 6) }
    } else {
      statement.bindNull(at: 6)
    }
    for number in 0..<journal.tables.tombstoneCount {
      if number < tombstone.count {
        statement.bind(tombstone[number], at: Int32(7 + number))
      } else {
        statement.bindNull(at: Int32(7 + number))
      }
    }
    try statement.run()
  }

  private func _begin() throws -> Int64 {
    let (number, time, texts) = try _header()
    _change = try _highest(HistoryTables.changeEntity)
    let values = try texts.map { text -> Binding in
      guard let text else { return .null }
      return journal.tables.internsStrings ? .int(try _interned(text)) : .text(text)
    }
    try _connection.withStatement(journal.insertTransaction) { statement in
      statement.bind(number, at: 1)
      statement.bind(time, at: 2)
      for (index, value) in values.enumerated() { statement.bind(value, at: Int32(3 + index)) }
      try statement.run()
    }
    _transaction = number
    return number
  }

  /// Returns number, time and texts of the transaction's row.
  private func _header() throws -> (Int64, Double, [String?]) {
    switch _origin {
    case .ours(let origin):
      (
        try _highest(HistoryTables.transactionEntity) + 1, Date().timeIntervalSinceReferenceDate,
        [origin.author, HistoryJournal.bundleID, origin.contextName, HistoryJournal.processID]
      )
    case .repeated(let record):
      (
        record.number, record.timestamp,
        [record.author, record.bundleID, record.contextName, record.processID]
      )
    }
  }

  private func _highest(_ entity: Int) throws -> Int64 {
    try _connection.withStatement(journal.highest[entity]!) { statement in
      try statement.step() ? max(0, statement.int64(0)) : 0
    }
  }

  private func _interned(_ text: String) throws -> Int64 {
    let known = try _connection.withStatement(journal.findString) { statement -> Int64? in
      statement.bind(text, at: 1)
      return try statement.step() ? statement.int64(0) : nil
    }
    if let known { return known }
    let number = try _highest(HistoryTables.stringEntity) + 1
    try _connection.withStatement(journal.insertString) { statement in
      statement.bind(number, at: 1)
      statement.bind(text, at: 2)
      try statement.run()
    }
    try _store(number, HistoryTables.stringEntity)
    return number
  }

  /// Stores the numbers used; call once after all changes are recorded.
  func finish() throws {
    guard let _transaction else { return }
    try _store(_transaction, HistoryTables.transactionEntity)
    try _store(_change, HistoryTables.changeEntity)
  }

  private func _store(_ highest: Int64, _ entity: Int) throws {
    try _connection.withStatement(journal.storeHighest) { statement in
      statement.bind(Int64(entity), at: 1)
      statement.bind(highest, at: 2)
      try statement.run()
    }
  }
}
