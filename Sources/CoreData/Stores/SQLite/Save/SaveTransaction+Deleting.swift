import CoreDataModelSchema
import CoreDataSQLiteBinding

/// A row to be deleted was changed or deleted by others since it was read.
struct OutdatedDeletion: Error {}

/// Deletes rows.
extension SaveTransaction {
  /// Deletes the rows that share entity and version, as most do, with one statement; if careful, deletes each
  /// row separately, to record the conflicts.
  ///
  /// - Throws: `OutdatedDeletion` if not careful.
  func delete() throws {
    var keys: [Version: [Int64]] = [:]
    for deletion in changes.deleted {
      let number = try layout(of: deletion.id).entityNumber
      let key = try key(of: deletion.id, entity: number, slot: 0)
      let version = Version(entity: number, version: deletion.base.version)
      guard isCareful else {
        keys[version, default: []].append(key)
        continue
      }
      if try !_delete([key], version) { try addConflict(deletion.id, deletion.base) }
    }
    for (version, keys) in keys where try !_delete(keys, version) { throw OutdatedDeletion() }
  }

  /// Deletes rows that no object was made for, in whatever version they are, with one statement for each entity.
  func deleteRows(recordingIn entry: HistoryEntry?) throws {
    for run in changes.rows {
      let layout = mapping.layout.layout(numbered: run.space.layout.entityNumber)
      if let entry { try _record(run, layout, in: entry) }
      _ = try links.delete([(layout, run.keys)], recordingIn: nil, files: &replacedFiles)
    }
  }

  /// Records the deletion of the rows that still exist.
  private func _record(_ run: KeyRun, _ layout: PropertyLayout, in entry: HistoryEntry) throws {
    let number = layout.entityNumber
    try connection.withStatement(plans.entity(number).delete.existing) { statement in
      statement.bind(ValueArray(run.keys), at: 1)
      while try statement.step() {
        let key = statement.int64(0)
        try entry.willDelete(key, entity: number)
        try entry.recordDeletion(of: key, entity: number)
      }
    }
  }

  /// The entity and version shared by the rows of one statement.
  private struct Version: Hashable {
    let entity: Int
    let version: Int64
  }

  /// Deletes rows and what depends on them. Returns false if some do not exist in this version.
  private func _delete(_ keys: [Int64], _ version: Version) throws -> Bool {
    let plan = plans.entity(version.entity).delete
    for key in keys { try recordFiles(plan.files, key) }
    let array = ValueArray(keys)
    let count = try connection.withStatement(plan.sql) { statement in
      statement.bind(array, at: 1)
      statement.bind(version.version, at: 2)
      try statement.run()
      return connection.changes
    }
    guard count == keys.count else { return false }
    for cleanup in plan.cleanups {
      try connection.withStatement(cleanup) { statement in
        statement.bind(array, at: 1)
        try statement.run()
      }
    }
    return true
  }
}
