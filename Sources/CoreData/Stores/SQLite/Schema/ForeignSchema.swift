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

  /// Reads them from the database.
  ///
  /// Triggers of derived attributes and indexes of R-trees are Core Data's own. The former never recurse.
  package init(_ connection: Connection) throws {
    var items: [Item] = []
    try connection.query(
      """
      SELECT type, name, tbl_name FROM sqlite_master WHERE type = 'view' \
      OR type = 'trigger' AND (name NOT LIKE 'Z!_DA!_%' ESCAPE '!' OR sql LIKE '%WITH%') \
      OR type = 'table' AND sql LIKE 'CREATE VIRTUAL %' AND sql NOT LIKE '%USING%rtree%' ORDER BY rowid
      """
    ) { row in
      let kind: Item.Kind =
        switch row.string(0) {
        case "view": .view
        case "trigger": .trigger
        default: .virtualTable
        }
      items.append(Item(kind: kind, name: row.string(1), table: row.string(2)))
    }
    self.items = items
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
