import CoreDataSQLiteBinding

/// The history tables of a file.
struct HistoryTables: Sendable, Hashable {
  static let changeEntity = 16001
  static let transactionEntity = 16002
  static let stringEntity = 16003

  /// Whether author, bundle, context and process reference rows of ATRANSACTIONSTRING. Files from before 2019
  /// store the texts in ATRANSACTION itself.
  let internsStrings: Bool
  /// Number of columns for values of deleted objects.
  let tombstoneCount: Int

  /// The text columns of ATRANSACTION, without the suffix that they have if texts are interned.
  static let textColumns = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]

  /// Whether the database has a history, current or past.
  static func exist(on connection: Connection) throws -> Bool {
    try connection.firstValue(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'") != nil
  }

  /// Reads the layout of the tables in the file.
  ///
  /// - Throws: `StoreOpenError.incompatible` for tables that Core Data would not create.
  static func read(_ connection: Connection, path: String) throws -> HistoryTables {
    let transactions = try _columns(of: "ATRANSACTION", connection)
    let changes = try _columns(of: "ACHANGE", connection)
    let needed = ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]
    guard needed.allSatisfy(changes.contains), transactions.contains("ZTIMESTAMP") else {
      throw StoreOpenError.incompatible(
        path: path, reason: "its history tables lack columns that Core Data gives them")
    }
    let interns = textColumns.allSatisfy { transactions.contains($0 + "TS") }
    guard interns || textColumns.allSatisfy(transactions.contains) else {
      throw StoreOpenError.incompatible(
        path: path, reason: "ATRANSACTION has no columns for author and process")
    }
    if interns, try !_columns(of: "ATRANSACTIONSTRING", connection).contains("ZNAME") {
      throw StoreOpenError.incompatible(path: path, reason: "the table ATRANSACTIONSTRING is missing")
    }
    var count = 0
    while changes.contains("ZTOMBSTONE\(count)") { count += 1 }
    return HistoryTables(internsStrings: interns, tombstoneCount: count)
  }

  private static func _columns(of table: String, _ connection: Connection) throws -> Set<String> {
    var result: Set<String> = []
    try connection.query("SELECT name FROM pragma_table_info(?)", [.text(table)]) {
      result.insert($0.string(0))
    }
    return result
  }

  /// Creates the tables, or adds the columns that a newer model needs, inside the caller's transaction.
  static func prepare(_ connection: Connection, tombstoneCount: Int, path: String) throws -> HistoryTables {
    guard try exist(on: connection) else {
      for statement in statements(tombstoneCount: tombstoneCount) { try connection.execute(statement) }
      for (number, name) in [
        (changeEntity, "CHANGE"), (transactionEntity, "TRANSACTION"), (stringEntity, "TRANSACTIONSTRING"),
      ] {
        try connection.query(
          "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, 0, 0)",
          [.int(Int64(number)), .text(name)])
      }
      return HistoryTables(internsStrings: true, tombstoneCount: tombstoneCount)
    }
    let present = try read(connection, path: path)
    guard present.tombstoneCount < tombstoneCount else { return present }
    for number in present.tombstoneCount..<tombstoneCount {
      try connection.execute("ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(number) BLOB")
    }
    return HistoryTables(internsStrings: present.internsStrings, tombstoneCount: tombstoneCount)
  }

  /// Returns the statements that create the tables of a new history, with Core Data's wording and order.
  static func statements(tombstoneCount: Int) -> [String] {
    let tombstones = (0..<tombstoneCount).map { ", ZTOMBSTONE\($0) BLOB" }.joined()
    let head = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
    let numbers = textColumns.map { "\($0)TS INTEGER" }.joined(separator: ", ")
    let texts = textColumns.map { "\($0) VARCHAR" }.joined(separator: ", ")
    return [
      "CREATE TABLE ACHANGE ( \(head), ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
        + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB\(tombstones) )",
      "CREATE TABLE ATRANSACTION ( \(head), \(numbers), ZTIMESTAMP FLOAT, \(texts), ZQUERYGEN BLOB )",
      "CREATE TABLE ATRANSACTIONSTRING ( \(head), ZNAME VARCHAR )",
      "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    ]
      + textColumns.map { "CREATE INDEX ATRANSACTION_\($0)TS_INDEX ON ATRANSACTION (\($0)TS)" }
      + [
        "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
        "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
      ]
  }
}
