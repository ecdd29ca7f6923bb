import CoreDataSQLiteBinding

/// Views, triggers and virtual tables in a store file that Core Data has not created.
///
/// Their effect is unknown: a view in place of a table may never terminate, and a trigger runs with every
/// save.
package struct ForeignSchema: Sendable {
  /// A view, trigger or virtual table.
  package struct Item: Sendable, Hashable {
    package enum Kind: String, Sendable {
      case view
      case trigger
      case virtualTable = "virtual table"
    }

    package let kind: Kind
    package let name: String
    /// The table that a trigger belongs to; the name itself otherwise.
    package let table: String
  }

  package let items: [Item]
  /// The R-tree indexes that triggers in the file maintain, with Core Data's text.
  package let spatialIndexes: [SpatialIndex]
  /// Names of virtual tables that are R-trees.
  package let spatialTables: [String]

  /// Reads them from the database.
  ///
  /// Triggers of derived attributes, and indexes of R-trees with their triggers, are Core Data's own. The
  /// former never recurse.
  package init(_ connection: Connection) throws {
    var items: [Item] = []
    var spatialTables: [String] = []
    try connection.query(
      """
      SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type = 'view' \
      OR type = 'trigger' AND (name NOT LIKE 'Z!_DA!_%' ESCAPE '!' OR sql LIKE '%WITH%') \
      OR type = 'table' AND sql LIKE 'CREATE VIRTUAL %' ORDER BY rowid
      """
    ) { row in
      let kind: Item.Kind
      switch row.string(0) {
      case "view": kind = .view
      case "trigger": kind = .trigger
      default:
        if Self._isSpatial(row.string(3)) {
          spatialTables.append(row.string(1))
          return
        }
        kind = .virtualTable
      }
      items.append(Item(kind: kind, name: row.string(1), table: row.string(2)))
    }
    self.spatialTables = spatialTables
    spatialIndexes = try SpatialIndex.maintained(spatialTables, on: connection)
    let own = Set(spatialIndexes.flatMap(\.triggers).map(\.name))
    self.items = own.isEmpty ? items : items.filter { $0.kind != .trigger || !own.contains($0.name) }
  }

  private static func _isSpatial(_ sql: String) -> Bool {
    let words = sql.uppercased().split { $0 == "(" || $0.isWhitespace }
    guard let using = words.firstIndex(of: "USING"), using + 1 < words.count else { return false }
    return words[using + 1].hasPrefix("RTREE")
  }

  /// Whether the file has virtual tables; cheaper than reading all.
  static func hasVirtualTables(_ connection: Connection) throws -> Bool {
    try connection.firstValue("SELECT 1 FROM sqlite_master WHERE rootpage = 0 AND type = 'table' LIMIT 1")
      != nil
  }

  /// Returns the names of triggers that write to R-trees which SQLite cannot open because it lacks the module.
  static func triggersWithoutModule(_ connection: Connection) throws -> [String] {
    guard try hasVirtualTables(connection), try !connection.hasModule(SpatialIndex.module) else { return [] }
    let tables = try ForeignSchema(connection).spatialTables
    var names: [String] = []
    for table in tables {
      try connection.query(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND instr(sql, ?) > 0", [.text(table)]
      ) { names.append($0.string(0)) }
    }
    return names
  }

  // MARK: Functions of other programs

  /// Returns the function of Core Data's that a trigger calls and that is not known here; nil if there is none.
  ///
  /// Apple's own programs have triggers that call functions of theirs.
  package static func missingFunction(in sql: String, _ connection: Connection) throws -> String? {
    let words = sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    for word in Set(words) where word.hasPrefix("NSCoreData") {
      let known = try connection.firstValue(
        "SELECT 1 FROM pragma_function_list WHERE name = ? COLLATE NOCASE", [.text(String(word))])
      if known == nil { return String(word) }
    }
    return nil
  }

  static func reason(_ function: String) -> String {
    "calls \(function), which only the program of Apple's has that made the store: its objects can be read here, "
      + "but not with this change be saved"
  }

  /// Limits the run time of a connection's statements if the database has schema items that may not
  /// terminate; removes the limit otherwise, since plain tables make no statement endless.
  static func bound(_ connection: Connection) throws {
    if try ForeignSchema(connection).items.isEmpty {
      connection.liftStepBound()
    } else {
      connection.boundSteps(byteCount: FileState.part(connection.path)?.size ?? 0)
    }
  }

  /// Prepared once: there is a table for each entity.
  private static let _occupant = SQLText(
    "SELECT type || ' ' || IFNULL(rootpage, 0) FROM sqlite_master "
      + "WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')")

  /// Rejects a view or virtual table in place of a table.
  ///
  /// - Throws: `StoreOpenError.incompatible`.
  static func expectTable(_ name: String, _ connection: Connection, path: String) throws {
    let found = try connection.withStatement(_occupant) { statement -> String? in
      statement.bind(name, at: 1)
      return try statement.step() ? statement.string(0) : nil
    }
    guard let description = found else { return }
    if description.hasPrefix("table"), !description.hasSuffix(" 0") { return }
    throw StoreOpenError.incompatible(
      path: path,
      reason: "\(name) is a \(description.hasPrefix("view") ? "view" : "virtual table") and no table; "
        + "Core Data makes no such file, so restore it from a backup or ask where it comes from")
  }
}
