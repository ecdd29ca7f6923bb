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

  /// Checks R-tree indexes: their nodes, and whether those that triggers maintain have an entry for each row.
  func checkSpatialIndexes() throws {
    let schema = try ForeignSchema(connection)
    guard !schema.spatialTables.isEmpty, try connection.hasModule("rtree") else { return }
    let advice = "rebuild the index"
    for table in schema.spatialTables {
      let index = schema.spatialIndexes.first { $0.name == table }
      let found = try connection.firstValue("SELECT rtreecheck(?)", [.text(table)])
      if case .text(let lines)? = found, lines != "ok" {
        add(
          StoreFinding(
            .integrity, .error, table: table,
            "SQLite finds: \(lines.split(separator: "\n").prefix(3).joined(separator: "; "))",
            advice: index == nil ? "restore the file from a backup" : advice, isMendable: index != nil))
        continue
      }
      guard let index else { continue }
      try find(
        .integrity, .error, RowCondition(table: index.table, key: "t0.Z_PK", index.isMissing), advice: advice,
        isMendable: true
      ) { "\(counted($0, "row")) without an entry in the R-tree index \(table)" }
      if case .int(let count)? = try connection.firstValue(index.strayEntries), count > 0 {
        add(
          StoreFinding(
            .integrity, .error, table: table, count: Int(count),
            "\(counted(Int(count), "entry", plural: "entries")) of missing rows of \(index.table)",
            advice: advice,
            isMendable: true))
      }
    }
  }

  /// Reports a trigger that Core Data has not made, or that cannot run here.
  private func _reportTrigger(_ name: String, _ table: String) throws {
    guard
      case .text(let sql)? = try connection.firstValue(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?", [.text(name)])
    else { return }
    if let function = try ForeignSchema.missingFunction(in: sql, connection) {
      return add(
        StoreFinding(
          .schema, .warning, table: table,
          "the trigger \(name), which a program of Apple's made, calls \(function), which that program alone has: "
            + "objects of \(table) can be read, but not all changes of them be saved here",
          advice: "leave it as it is, and save with the program that made the store"))
    }
    let isOwn = name.hasPrefix("Z_DA_") || name.hasPrefix("Z_RT_")
    add(
      StoreFinding(
        .schema, .warning, table: table,
        isOwn
          ? "the trigger \(name) has the name of one of Core Data's, but not its text; it runs with changes of \(table)"
          : "the trigger \(name), which Core Data has not made, runs with changes of \(table)",
        advice: isOwn
          ? "look at what it does (SELECT sql FROM sqlite_master); leave it if a program of Apple's made it"
          : "look at what it does (SELECT sql FROM sqlite_master); drop it if no program of yours "
            + "made it"))
  }

  /// Reports schema items that Core Data has not created and that may run with it.
  func checkForeignSchema() throws {
    if let anatomy {
      var others: [(name: String, table: String)] = []
      try connection.query(
        "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'Z!_DA!_%' ESCAPE '!' "
          + "AND sql NOT LIKE '%WITH%'"
      ) { row in
        if !anatomy.isDerivedTrigger(row.string(2)) { others.append((row.string(0), row.string(1))) }
      }
      for other in others { try _reportTrigger(other.name, other.table) }
    }
    for item in try ForeignSchema(connection).items {
      switch item.kind {
      case .trigger: try _reportTrigger(item.name, item.table)
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

  func checkEntityTable(_ anatomy: StoreTableLayout) throws {
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
