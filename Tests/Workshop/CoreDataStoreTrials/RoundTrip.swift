import CoreData
import CoreDataSQLiteBinding
import Foundation

/// Opens a store for writing, changes one row, inserts one, deletes one, saves, and compares the file with
/// its previous contents: only the expected cells may have changed.
package struct RoundTrip {
  /// Unexpected changes, and missing ones, in words.
  package private(set) var differences: [String] = []
  package private(set) var inserted = 0
  package private(set) var updated = 0
  package private(set) var deleted = 0

  /// - Parameter url: A copy that may be written to.
  package init(_ url: URL, model: NSManagedObjectModel) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSPersistentHistoryTrackingKey: Self._hasHistory(url)])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
    try context.performAndWait {
      try TrialObjects.ensureRows(in: context, model)
      let before = try _dump(url)
      let expectation = try TrialEdit.perform(in: context, model, store)
      (inserted, updated, deleted) = (expectation.inserted, 1, expectation.deletedRows.count)
      try _compare(before, try _dump(url), expectation)
    }
    try coordinator.remove(store)
    let connection = try Connection(path: url.path, mode: .readOnly)
    if try connection.firstValue("PRAGMA integrity_check") != .text("ok") {
      differences.append("integrity_check")
    }
  }

  private static func _hasHistory(_ url: URL) throws -> Bool {
    try Connection(path: url.path, mode: .readOnly).firstValue(
      "SELECT 1 FROM sqlite_master WHERE name = 'ACHANGE'") != nil
  }

  /// The history's own tables apart: it is meant to grow.
  private func _dump(_ url: URL) throws -> TableDump {
    try TableDump(Connection(path: url.path, mode: .readOnly)) {
      !$0.hasPrefix("ACHANGE") && !$0.hasPrefix("ATRANSACTION")
    }
  }

  private mutating func _compare(_ before: TableDump, _ after: TableDump, _ edit: TrialEdit) throws {
    if before.schema != after.schema { differences.append("the schema changed") }
    if before.tables["Z_METADATA"] != after.tables["Z_METADATA"] { differences.append("Z_METADATA changed") }
    if before.tables["Z_MODELCACHE"] != after.tables["Z_MODELCACHE"] {
      differences.append("Z_MODELCACHE changed")
    }
    for (name, old) in before.tables.sorted(by: { $0.key < $1.key }) {
      let new = after.tables[name] ?? [:]
      if name == "Z_PRIMARYKEY" {
        _compareKeys(old, new, edit)
      } else if name.hasPrefix("Z_") {
        _compareJoins(name, old, new, edit)
      } else {
        _compareRows(name, old, new, edit)
      }
    }
  }

  /// Only the highest key of the inserted object's table grows, by one.
  private mutating func _compareKeys(
    _ old: [String: TableDump.Cells], _ new: [String: TableDump.Cells], _ edit: TrialEdit
  ) {
    for (key, cells) in new {
      // The numbers of the history.
      if case .int(let number)? = cells["Z_ENT"], number >= 16000 { continue }
      guard let before = old[key], before != cells else { continue }
      let root = edit.insertedRoots.first { cells["Z_NAME"] == .text($0.key) }
      guard let root, case .int(let maximum)? = before["Z_MAX"],
        cells["Z_MAX"] == .int(maximum + Int64(root.value))
      else {
        differences.append("Z_PRIMARYKEY row \(key): \(before) became \(cells)")
        continue
      }
    }
    let grown = new.filter { old[$0.key] != $0.value }.count
    if grown < edit.insertedRoots.count {
      differences.append("\(grown) maxima grew, not \(edit.insertedRoots.count)")
    }
  }

  /// Pairs may go with a deleted object.
  private mutating func _compareJoins(
    _ name: String, _ old: [String: TableDump.Cells], _ new: [String: TableDump.Cells], _ edit: TrialEdit
  ) {
    for (key, cells) in old where new[key] != cells {
      let keys = cells.values.compactMap { value in if case .int(let key) = value { key } else { nil } }
      if !keys.contains(where: { key in edit.deletedRows.contains { $0.key == key } }) {
        differences.append("\(name): the pair \(key) changed")
      }
    }
    // A new object may bring some.
    if edit.inserted == 0, new.count > old.count { differences.append("\(name): there are new pairs") }
  }

  private mutating func _compareRows(
    _ name: String, _ old: [String: TableDump.Cells], _ new: [String: TableDump.Cells], _ edit: TrialEdit
  ) {
    let table = name.replacing("\"", with: "")
    let added = new.filter { old[$0.key] == nil }
    let removed = old.filter { new[$0.key] == nil }
    if added.count != (edit.insertedTables[table] ?? 0) {
      differences.append("\(name): \(added.count) new rows")
    }
    for cells in added.values where cells["Z_OPT"] != .int(1) {
      differences.append("\(name): a new row's version is no 1")
    }
    let expected = edit.deletedRows.filter { $0.table == table }.count
    if removed.count != expected {
      differences.append("\(name): \(removed.count) rows gone, not \(expected)")
    }
    for (key, cells) in old {
      guard let after = new[key], after != cells, case .int(let primary)? = cells["Z_PK"] else { continue }
      let row = TrialEdit.RowName(table: table, key: primary)
      let changed = Set(cells.keys.filter { cells[$0] != after[$0] })
      let allowed = edit.allowedColumns(of: row, cells)
      if !changed.isSubset(of: allowed) {
        differences.append("\(name) row \(primary): \(changed.subtracting(allowed).sorted()) changed")
      }
      if case .int(let version)? = cells["Z_OPT"], changed != edit.computedColumns(of: table),
        after["Z_OPT"] != .int(version + 1)
      {
        differences.append("\(name) row \(primary): its version is no one more")
      }
      if row == edit.changedRow, !edit.changedColumns.isSubset(of: changed) {
        differences.append("\(name) row \(primary): not changed")
      }
    }
  }
}
