import CoreData
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

// The database as such, metadata, entity numbers and keys.

extension StoreChecker {
  /// Runs SQLite's integrity check.
  ///
  /// - Returns: Whether tables are readable, which damage to indexes alone does not prevent.
  func checkIntegrity() throws -> Bool {
    var isWhole = true
    var lines: [String] = []
    do {
      try connection.query("PRAGMA integrity_check(20)") { row in
        let line = row.string(0)
        if line != "ok" { lines.append(line) }
      }
    } catch let error as SQLiteError where error.isCorrupt || error.isNotADatabase {
      lines.append(error.message)
    }
    for line in lines {
      let isIndex =
        line.hasPrefix("row ") || line.hasPrefix("wrong # of entries in index") || line.contains("UNIQUE")
      if !isIndex { isWhole = false }
      add(
        StoreFinding(
          .integrity, .error, table: "", "SQLite finds: \(line)",
          advice: isIndex ? "rebuild the indexes" : "restore the file from a backup", isMendable: isIndex))
    }
    return isWhole
  }

  /// Reports schema items that Core Data has not created and that may run with it.
  func checkForeignSchema() throws {
    for item in try ForeignSchema(connection).items {
      switch item.kind {
      case .trigger:
        add(
          StoreFinding(
            .schema, .warning, table: item.table,
            "the trigger \(item.name), which Core Data has not made, runs with changes of \(item.table)",
            advice: "look at what it does (SELECT sql FROM sqlite_master); drop it if no program of yours "
              + "made it"))
      case .view, .virtualTable:
        add(
          StoreFinding(
            .schema, .warning, table: item.name,
            "\(item.name) is a \(item.kind.rawValue), which Core Data has not made",
            advice: "drop it if no program of yours made it"))
      }
    }
  }

  func checkMetadata() {
    if !(metadata["NSStoreModelVersionHashes"] is [String: Any]) {
      add(
        StoreFinding(
          .metadata, .warning, table: "Z_METADATA",
          "Z_PLIST holds no version hashes: Core Data cannot tell which model the store belongs to",
          advice: "open the store once with its program, or restore it from a backup"))
    }
    if let rows = try? connection.firstValue("SELECT COUNT(*) FROM Z_METADATA"), rows != .int(1) {
      add(
        StoreFinding(
          .metadata, .warning, table: "Z_METADATA", "there should be one row, and are others",
          advice: "restore the store from a backup"))
    }
  }

  func checkEntityTable(_ anatomy: StoreAnatomy) throws {
    for table in anatomy.tables {
      for entity in table.entities {
        let parent = anatomy.layout.layout(numbered: entity).parentNumber.map(anatomy.storedNumber) ?? 0
        let stored = anatomy.storedNumber(of: entity)
        guard
          case .int(let found)? = try connection.firstValue(
            "SELECT IFNULL(Z_SUPER, 0) FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.int(Int64(stored))]),
          found != Int64(parent)
        else { continue }
        add(
          StoreFinding(
            .entityTable, .error, table: "Z_PRIMARYKEY", rows: [Int64(stored)],
            "\(anatomy.name(of: entity)) has the parent \(found) (Z_SUPER); in the model it is \(parent)",
            advice: "set Z_SUPER", isMendable: true))
      }
      try _checkMaximum(
        of: table.name, stored: anatomy.storedNumber(of: table.root), anatomy.name(of: table.root))
    }
    for (number, name) in [(16_001, "ACHANGE"), (16_002, "ATRANSACTION"), (16_003, "ATRANSACTIONSTRING")]
    where try hasTable(name) {
      try _checkMaximum(of: name, stored: number, "the history")
    }
  }

  private func _checkMaximum(of table: String, stored: Int, _ name: String) throws {
    guard case .int(let highest)? = try connection.firstValue("SELECT MAX(Z_PK) FROM \(table)") else {
      return
    }
    let value = try connection.firstValue(
      "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.int(Int64(stored))])
    var given: Int64 = 0
    if case .int(let number)? = value { given = number }
    guard given < highest else { return }
    add(
      StoreFinding(
        .primaryKeys, .error, table: "Z_PRIMARYKEY", rows: [Int64(stored)],
        "Z_MAX of \(name) is \(given), but \(table) has rows up to \(highest): the next object would get a key that is "
          + "taken",
        advice: "set Z_MAX to \(highest)", isMendable: true))
  }

  func hasTable(_ name: String) throws -> Bool {
    try connection.firstValue("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(name)])
      != nil
  }

  func checkHistory() throws {
    guard try hasTable("ACHANGE"), try hasTable("ATRANSACTION") else { return }
    try find(
      .history, .warning,
      RowCondition(
        table: "ACHANGE", key: "t0.Z_PK",
        "NOT EXISTS (SELECT 1 FROM ATRANSACTION t1 WHERE t1.Z_PK = t0.ZTRANSACTIONID)"),
      advice: "delete the history up to now"
    ) { "\(counted($0, "change")) of a missing transaction" }
  }
}
