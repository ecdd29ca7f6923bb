import CoreDataModelSchema
import CoreDataSQLiteBinding

/// A row to be deleted was changed or deleted by others since it was read.
struct OutdatedDeletion: Error {}

/// Deletes rows.
extension SaveTransaction {
  /// Deletes the rows of one entity and version with one statement, since most are of the same.
  ///
  /// - Throws: `OutdatedDeletion` if not careful.
  func delete() throws {
    guard !changes.deleted.isEmpty else { return }
    guard !isCareful else {
      for deletion in changes.deleted { try _delete(deletion) }
      return
    }
    var keys: [Version: [Int64]] = [:]
    for deletion in changes.deleted {
      let number = try layout(of: deletion.id).entityNumber
      let key = try key(of: deletion.id, entity: number, slot: 0)
      keys[Version(entity: number, version: deletion.base.version), default: []].append(key)
    }
    for (version, keys) in keys { try _delete(keys, version) }
  }

  /// What the rows of one statement have in common.
  private struct Version: Hashable {
    let entity: Int
    let version: Int64
  }

  private func _delete(_ keys: [Int64], _ version: Version) throws {
    let plan = plans.deletes[version.entity - 1]
    for key in keys { try recordFiles(plan.files, key) }
    let array = ValueArray(keys)
    let count = try connection.withStatement(plan.many) { statement in
      statement.bind(array, at: 1)
      statement.bind(version.version, at: 2)
      try statement.run()
      return connection.changes
    }
    guard count == keys.count else { throw OutdatedDeletion() }
    for cleanup in plan.cleanups {
      try connection.withStatement(cleanup.many) { statement in
        statement.bind(array, at: 1)
        try statement.run()
      }
    }
  }

  /// Deletes one row, or records a conflict.
  private func _delete(_ deletion: ChangeSet.Deletion) throws {
    let number = try layout(of: deletion.id).entityNumber
    let plan = plans.deletes[number - 1]
    let key = try key(of: deletion.id, entity: number, slot: 0)
    try recordFiles(plan.files, key)
    let isGone = try connection.withStatement(plan.one) { statement in
      statement.bind(key, at: 1)
      statement.bind(deletion.base.version, at: 2)
      try statement.run()
      return connection.changes == 0
    }
    guard !isGone else { return try addConflict(deletion.id, deletion.base) }
    for cleanup in plan.cleanups {
      try connection.withStatement(cleanup.one) { statement in
        statement.bind(key, at: 1)
        try statement.run()
      }
    }
  }
}
